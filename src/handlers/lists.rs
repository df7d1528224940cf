//! Lists of records. A list may take megabytes, so few are in memory at once.

use std::{future::Future, time::Duration};

use api::{
    answer::{Answered, List, ListMeta, Listed, Rendered},
    params::Paging,
};
use bytes::Bytes;
use common::{compute::beside, digest::opaque_tag, places::Places};
use poem_openapi::types::{ParseFromJSON, ToJSON};
use tokio::{
    sync::{AcquireError, OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};
use uuid::Uuid;

use crate::error::Error;

/// The size in bytes from which a list counts as long.
const LONG_BYTES: usize = 64 * 1024;
/// The maximum number of lists of one person that are made or sent at once.
const MAX_PER_PERSON: usize = 4;
/// The time limit for a list to pass all of these limits.
const TIMEOUT: Duration = Duration::from_secs(25);

/// The limits on lists of a service.
pub struct Lists {
    /// Limits the lists whose rows are in memory at once.
    reading: Semaphore,
    /// Limits long lists to one at a time, because rendering one takes many times the memory of its bytes.
    long: Semaphore,
    by_person: Places<Uuid>,
}

impl Default for Lists {
    fn default() -> Self {
        Self { reading: Semaphore::new(8), long: Semaphore::new(1), by_person: Places::new(MAX_PER_PERSON) }
    }
}

/// The bytes of a list. They hold the person's place until the last of them is sent.
struct Held {
    bytes: Vec<u8>,
    _place: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Lists {
    /// Reads a list of `person`, and returns a page of it.
    pub async fn records<T>(
        &self,
        person: Uuid,
        paging: &Paging,
        list: impl Future<Output = Result<Vec<T>, Error>>,
    ) -> Answered<List<T>>
    where
        T: ToJSON + ParseFromJSON + Send + Sync,
    {
        let deadline = Instant::now() + TIMEOUT;
        let _place = self.place(person, deadline).await?;
        let _reading = turn(deadline, self.reading.acquire()).await?;
        let (data, meta) = paging.page(list.await?);
        Ok(List { data, meta })
    }

    /// Waits for one of a person's places.
    async fn place(&self, person: Uuid, deadline: Instant) -> Result<OwnedSemaphorePermit, Error> {
        turn(deadline, self.by_person.of(person).acquire_owned()).await
    }

    /// Reads a list of `person`, and renders and hashes a page of it, within the limits above.
    pub(super) async fn answer<T>(
        &self,
        person: Uuid,
        paging: &Paging,
        list: impl Future<Output = Result<Vec<T>, Error>>,
    ) -> Answered<Listed<T>>
    where
        T: ToJSON + ParseFromJSON + Send + Sync + 'static,
    {
        let deadline = Instant::now() + TIMEOUT;
        let place = self.place(person, deadline).await?;
        let _reading = turn(deadline, self.reading.acquire()).await?;
        let records = list.await?;
        let (meta, page) = (paging.meta(records.len()), paging.range(records.len()));
        let mut records = records.into_iter().skip(page.start).take(page.len());
        let mut written = Written::default();
        written.write(&mut records, LONG_BYTES);
        if records.len() == 0 {
            return Ok(written.finish(&meta, place));
        }
        let _turn = turn(deadline, self.long.acquire()).await?;
        let rendered = beside(move || {
            written.write(&mut records, usize::MAX);
            written.finish(&meta, place)
        });
        Ok(rendered.await.map_err(Error::from)?)
    }
}

/// Waits for a permit until `deadline`.
async fn turn<P>(deadline: Instant, permit: impl Future<Output = Result<P, AcquireError>>) -> Result<P, Error> {
    let overloaded = |_| Error::Overloaded("too many long lists are being sent".to_owned());
    timeout_at(deadline, permit).await.map_err(overloaded)?.map_err(Error::internal)
}

/// Renders `{ "data": [ … ], "meta": … }` record by record, and drops each record once it is written.
#[derive(Default)]
struct Written(Vec<u8>);

impl Written {
    /// Writes records until `max_bytes` are reached.
    fn write<T: ToJSON>(&mut self, records: &mut impl Iterator<Item = T>, max_bytes: usize) {
        while self.0.len() < max_bytes {
            let Some(record) = records.next() else { return };
            self.0.extend_from_slice(if self.0.is_empty() { b"{\"data\":[" } else { b"," });
            self.0.extend_from_slice(record.to_json_string().as_bytes());
        }
    }

    fn finish<T: ToJSON + ParseFromJSON + Send + Sync>(
        mut self,
        meta: &ListMeta,
        place: OwnedSemaphorePermit,
    ) -> Listed<T> {
        let open: &[u8] = if self.0.is_empty() { b"{\"data\":[" } else { b"" };
        self.0.extend_from_slice(open);
        self.0.extend_from_slice(format!("],\"meta\":{}}}", meta.to_json_string()).as_bytes());
        let digest = opaque_tag(&self.0);
        Rendered::new(Bytes::from_owner(Held { bytes: self.0, _place: place })).with_strong_digest(&digest)
    }
}
