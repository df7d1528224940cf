//! Reads ahead what people opened lately, when a day of a property has become final: the first one who opens it then need not wait.
//!
//! Only readings are kept, where all readings are. The database knows which kind of page was opened of which property, and on which day last.

pub mod opened;
mod questions;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use api::models::Role;
use chrono::{NaiveDate, TimeDelta};
use common::clock::Moment;
use futures_util::{StreamExt as _, stream};
use search_engine::headline_span;
use telemetry::events::EventMeter;
use uuid::Uuid;

use self::opened::PageKind;
use crate::{
    config::Config,
    error::Error,
    services::{
        access::{
            PropertyAccess,
            facts::{self, Plans},
        },
        analyses::search_data::SearchData,
    },
};

/// The properties that are read at once. The pace limits their requests.
const AT_ONCE: usize = 16;

/// The time between two looks for a further final day of a property.
const LOOK_EVERY: TimeDelta = TimeDelta::minutes(15);

/// Reads pages ahead.
#[derive(Clone)]
pub struct Warmer {
    search: SearchData,
    config: Arc<Config>,
    events: EventMeter,
    warmed: Arc<Mutex<HashMap<Uuid, Warmed>>>,
}

/// A property whose pages were read ahead.
#[derive(Clone, Copy)]
struct Warmed {
    last_final: NaiveDate,
    /// The search engine's day of the reading. At most one day becomes final a day.
    on: NaiveDate,
    /// When a further final day was looked for last.
    looked_at: Moment,
}

impl Warmer {
    /// Reads with `search`, beside what people read. Starts nothing.
    #[must_use]
    pub fn new(search: &SearchData, config: Arc<Config>, events: EventMeter) -> Self {
        Self { search: search.ahead(), config, events, warmed: Arc::default() }
    }

    /// Reads the pages of each property once that has a new final day, and was opened in the last seven days.
    ///
    /// # Errors
    /// The database cannot say what was opened.
    pub async fn pass(&self) -> Result<(), Error> {
        let opened = opened::lately(&self.search.db, self.search.clock.now()).await?;
        let today = self.search.clock.pacific_today();
        self.lock().retain(|id, _| opened.binary_search_by_key(id, |(property, _)| *property).is_ok());
        stream::iter(opened)
            .for_each_concurrent(AT_ONCE, async |(property, pages)| {
                if let Err(error) = self.property(property, &pages, today).await {
                    tracing::debug!(%property, %error, "a property could not be read ahead");
                }
            })
            .await;
        Ok(())
    }

    async fn property(&self, id: Uuid, pages: &[PageKind], today: NaiveDate) -> Result<(), Error> {
        let (search, now) = (&self.search, self.search.clock.moment());
        let known = self.lock().get(&id).copied();
        if known.is_some_and(|known| known.on == today || now.since(known.looked_at) < LOOK_EVERY) {
            return Ok(());
        }
        let facts = facts::of_property(&search.db, Plans::of(&self.config), id).await?.map(Arc::new);
        let Some(facts) = facts else { return Ok(()) };
        // As its owner reads it, if the plan opens it.
        let access = PropertyAccess::of(&self.config, &facts.owner, Some(&facts), Role::Viewer, search.clock.now())?;
        let site = search.site(&access)?;
        let days = search.recent(&site, headline_span(0)).read().await;
        let days = days.map_err(|error| Error::internal(error.to_string()))?;
        let last_final = days.freshness.last_final_date;
        if let Some(known) = known.filter(|known| known.last_final >= last_final) {
            self.lock().insert(id, Warmed { looked_at: now, ..known });
            return Ok(());
        }
        for page in pages {
            let read = questions::read(search, &access, *page, last_final).await;
            self.events.note_warmed(read.is_ok());
            read?;
        }
        self.lock().insert(id, Warmed { last_final, on: today, looked_at: now });
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Warmed>> {
        self.warmed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
