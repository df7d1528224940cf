//! Lists of records, which may take megabytes: few are in memory at once.

use std::{future::Future, sync::LazyLock, time::Duration};

use api::answer::{Answered, Listed, Rendered};
use bytes::Bytes;
use poem_openapi::types::{ParseFromJSON, ToJSON};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

use crate::{compute::beside, digest::opaque_tag, error::Error, store::places::Places};

/// Lists that are in memory at once as rows.
static READING: Semaphore = Semaphore::const_new(8);
/// One long list is written at a time: from its rows to its bytes it takes many times what is sent.
static LONG: Semaphore = Semaphore::const_new(1);
/// A list is long once so many of its bytes are written.
const LONG_BYTES: usize = 64 * 1024;
/// Lists of one person that are made or sent at once.
const MAX_PER_PERSON: usize = 4;
static BY_PERSON: LazyLock<Places<Uuid>> = LazyLock::new(|| Places::new(MAX_PER_PERSON));
/// How long a list waits for its place.
const TIMEOUT: Duration = Duration::from_secs(25);

/// The bytes of a list, which hold their person's place until the last of them is sent.
struct Held {
    bytes: Vec<u8>,
    _place: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads, writes and hashes a list of `person`, in its turn.
pub(super) async fn listed<T>(person: Uuid, list: impl Future<Output = Result<Vec<T>, Error>>) -> Answered<Listed<T>>
where
    T: ToJSON + ParseFromJSON + Send + Sync + 'static,
{
    let overloaded = |_| Error::Overloaded("too many long lists are being sent".to_owned());
    let place = tokio::time::timeout(TIMEOUT, BY_PERSON.of(person).acquire_owned()).await.map_err(overloaded)?;
    let place = place.map_err(Error::internal)?;
    let _reading =
        tokio::time::timeout(TIMEOUT, READING.acquire()).await.map_err(overloaded)?.map_err(Error::internal)?;
    let mut written = Written::default();
    let mut records = list.await?.into_iter();
    written.write(&mut records, LONG_BYTES);
    if records.len() == 0 {
        return Ok(written.finish(place));
    }
    let _turn = tokio::time::timeout(TIMEOUT, LONG.acquire()).await.map_err(overloaded)?.map_err(Error::internal)?;
    let rendered = beside(move || {
        written.write(&mut records, usize::MAX);
        written.finish(place)
    });
    Ok(rendered.await?)
}

/// `{ "data": [ … ] }`, written record by record, each of which goes as soon as it is written.
#[derive(Default)]
struct Written(Vec<u8>);

impl Written {
    /// Writes records until `max_bytes` are written.
    fn write<T: ToJSON>(&mut self, records: &mut impl Iterator<Item = T>, max_bytes: usize) {
        while self.0.len() < max_bytes {
            let Some(record) = records.next() else { return };
            self.0.extend_from_slice(if self.0.is_empty() { b"{\"data\":[" } else { b"," });
            self.0.extend_from_slice(record.to_json_string().as_bytes());
        }
    }

    fn finish<T: ToJSON + ParseFromJSON + Send + Sync>(mut self, place: OwnedSemaphorePermit) -> Listed<T> {
        self.0.extend_from_slice(if self.0.is_empty() { b"{\"data\":[]}" } else { b"]}" });
        let digest = opaque_tag(&self.0);
        Rendered::new(Bytes::from_owner(Held { bytes: self.0, _place: place })).with_strong_digest(&digest)
    }
}
