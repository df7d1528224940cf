//! Lists of records, which may take megabytes: few are in memory at once.

use std::{future::Future, sync::LazyLock, time::Duration};

use api::answer::{Answered, Listed, Rendered};
use bytes::Bytes;
use poem_openapi::types::{ParseFromJSON, ToJSON};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

use crate::{compute::beside, digest::opaque_tag, error::Error, store::places::Places};

/// One list is made at a time: from its rows to its bytes a list takes many times what is sent.
static MAKING: Semaphore = Semaphore::const_new(1);
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
    let turn = async {
        let place = BY_PERSON.of(person).acquire_owned().await?;
        Ok::<_, tokio::sync::AcquireError>((place, MAKING.acquire().await?))
    };
    let waited = tokio::time::timeout(TIMEOUT, turn).await;
    let waited = waited.map_err(|_| Error::Overloaded("too many long lists are being sent".to_owned()))?;
    let (place, _making) = waited.map_err(Error::internal)?;
    let data = list.await?;
    let rendered = beside(move || {
        let bytes = written(data);
        let digest = opaque_tag(&bytes);
        Rendered::new(Bytes::from_owner(Held { bytes, _place: place })).with_strong_digest(&digest)
    });
    Ok(rendered.await?)
}

/// `{ "data": [ … ] }`, written record by record, each of which goes as soon as it is written.
fn written<T: ToJSON>(data: Vec<T>) -> Vec<u8> {
    let mut bytes = b"{\"data\":[".to_vec();
    for (place, record) in data.into_iter().enumerate() {
        if place > 0 {
            bytes.push(b',');
        }
        bytes.extend_from_slice(record.to_json_string().as_bytes());
    }
    bytes.extend_from_slice(b"]}");
    bytes
}
