//! Lists of records. A list may take megabytes, so few are in memory at once.

use std::{future::Future, sync::Arc, time::Duration};

use api::{
    answer::{Answered, List, ListMeta, Listed, Rendered},
    params::Paging,
};
use common::{compute::beside, digest::opaque_tag};
use poem_openapi::types::{ParseFromJSON, ToJSON};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::error::Error;

/// The size in bytes from which a list counts as long.
const LONG_BYTES: usize = 64 * 1024;
/// The maximum number of lists whose rows are in memory at once.
const MAX_LISTS: usize = 4;
/// The longest wait for a place among them.
const TIMEOUT: Duration = Duration::from_secs(25);

/// The places of lists. What one caller may ask at once, and the bytes that wait to be sent, are limited for all answers
/// ([`rate_limit`](crate::http::rate_limit)).
pub struct Lists(Arc<Semaphore>);

impl Default for Lists {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_LISTS)))
    }
}

impl Lists {
    /// Reads a list, and returns a page of it.
    pub async fn records<T>(
        &self,
        paging: &Paging,
        list: impl Future<Output = Result<Vec<T>, Error>>,
    ) -> Answered<List<T>>
    where
        T: ToJSON + ParseFromJSON + Send + Sync,
    {
        let _place = self.place().await?;
        let (data, meta) = paging.page(list.await?);
        Ok(List { data, meta })
    }

    /// Waits for a place.
    async fn place(&self) -> Result<OwnedSemaphorePermit, Error> {
        let overloaded = |_| Error::Overloaded("too many lists are being read".to_owned());
        timeout(TIMEOUT, self.0.clone().acquire_owned()).await.map_err(overloaded)?.map_err(Error::internal)
    }

    /// Reads a list, and renders and hashes a page of it.
    pub(super) async fn answer<T>(
        &self,
        paging: &Paging,
        list: impl Future<Output = Result<Vec<T>, Error>>,
    ) -> Answered<Listed<T>>
    where
        T: ToJSON + ParseFromJSON + Send + Sync + 'static,
    {
        let place = self.place().await?;
        let records = list.await?;
        let (meta, page) = (paging.meta(records.len()), paging.range(records.len()));
        let mut records = records.into_iter().skip(page.start).take(page.len());
        let mut written = Written::default();
        written.write(&mut records, LONG_BYTES);
        if records.len() == 0 {
            return Ok(written.finish(&meta));
        }
        let rendered = beside(move || {
            // Held until the rows are written, even if the caller no longer waits.
            let _place = place;
            written.write(&mut records, usize::MAX);
            written.finish(&meta)
        });
        Ok(rendered.await.map_err(Error::from)?)
    }
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

    fn finish<T: ToJSON + ParseFromJSON + Send + Sync>(mut self, meta: &ListMeta) -> Listed<T> {
        let open: &[u8] = if self.0.is_empty() { b"{\"data\":[" } else { b"" };
        self.0.extend_from_slice(open);
        self.0.extend_from_slice(format!("],\"meta\":{}}}", meta.to_json_string()).as_bytes());
        let digest = opaque_tag(&self.0);
        Rendered::new(self.0.into()).with_strong_digest(&digest)
    }
}
