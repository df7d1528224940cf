//! Records the last requests of each account: outcomes, trouble that has not ended, and refused sites.
//!
//! Kept in the process, because reading must not write to the database. Replicas that share Redis publish them to each other. An entry that is lost
//! at a restart or unknown to another replica costs one request.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, TimeDelta, Utc};
use common::clock::{Clock, Moment};
use replicas::Notices;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    error::SearchEngineError,
    outcomes::{Failed, LastOutcomes},
    refusal::{Refusals, RefusedSite},
    trouble::Trouble,
    wire::SiteUrl,
};

/// At this number of accounts, those without a request for [`FORGOTTEN_AFTER`] are dropped. At this number of refused sites of one
/// account, those whose pause ended long ago are dropped.
const MANY: usize = 10_000;

/// The age of records that may be dropped.
const FORGOTTEN_AFTER: TimeDelta = TimeDelta::days(1);

/// A success is published this long after the last one, or at once if it ends trouble.
const PUBLISHED_EVERY: TimeDelta = TimeDelta::minutes(1);

#[derive(Debug, Default)]
struct Record {
    last: LastOutcomes,
    /// The time of the last request.
    at: Option<Moment>,
    trouble: Option<Trouble>,
    refusals: HashMap<String, Refusals>,
    /// The time of the last success that this replica or another published.
    published: Option<Moment>,
}

/// An event that replicas publish to each other.
#[derive(Debug, Serialize, Deserialize)]
struct Event {
    account: Uuid,
    at: DateTime<Utc>,
    what: What,
}

#[derive(Debug, Serialize, Deserialize)]
enum What {
    /// A request ended. `of_question` is true for a question about a site.
    Ended { of_question: bool, failed: Option<Failed> },
    /// A site was refused. It is not asked about for the time of the pause.
    Refused { site: String, since: DateTime<Utc>, pause: TimeDelta },
    /// A refused site was read, or the search engine lists it.
    Allowed { site: String },
    /// The account was disconnected.
    Forgotten,
}

type All = HashMap<Uuid, Record>;

/// The records of all accounts.
pub(super) struct Records {
    all: Arc<Mutex<All>>,
    clock: Clock,
    notices: Option<Notices>,
}

impl Records {
    /// Records that replicas publish to each other through `notices`.
    pub fn sharing(notices: Option<Notices>, clock: Clock) -> Self {
        let all: Arc<Mutex<All>> = Arc::default();
        if let Some(notices) = &notices {
            let (kept, clock) = (Arc::downgrade(&all), clock.clone());
            notices.subscribe(move |event| {
                let Some(all) = kept.upgrade() else { return false };
                // One of another version is skipped.
                if let Ok(event) = serde_json::from_slice(event) {
                    let mut all = lock(&all);
                    apply(&mut all, event, clock.moment());
                }
                true
            });
        }
        Self { all, clock, notices }
    }

    /// Records the outcome of a request. `of_question` is true for a question about a site.
    pub fn note(&self, account: Uuid, of_question: bool, failure: Option<&SearchEngineError>) {
        let failed = failure.map(Failed::from);
        let (mut records, now) = self.lock();
        drop_old(&mut records, now);
        let record = records.entry(account).or_default();
        let had_trouble = record.trouble.is_some();
        record.note(of_question, failed, now);
        let is_news =
            failed.is_some() || had_trouble || record.published.is_none_or(|last| now.since(last) >= PUBLISHED_EVERY);
        if is_news && failed.is_none() {
            record.published = Some(now);
        }
        drop(records);
        if is_news {
            self.publish(account, now, What::Ended { of_question, failed });
        }
    }

    /// Records that an attempt failed that is tried again. It is trouble until a request succeeds.
    pub fn note_trouble(&self, account: Uuid, of_question: bool, failure: &SearchEngineError) {
        let (mut records, now) = self.lock();
        let record = records.entry(account).or_default();
        record.trouble = Trouble::after(record.trouble, of_question, Some(failure.into()), now);
    }

    /// Records that a site was refused.
    pub fn refuse(&self, account: Uuid, site: &SiteUrl) -> RefusedSite {
        let (mut records, now) = self.lock();
        let refusals = &mut records.entry(account).or_default().refusals;
        if refusals.len() >= MANY {
            refusals.retain(|_, refusal| !refusal.is_over(now));
        }
        let refusal = Refusals::after(refusals.get(&site.0).copied(), now);
        refusals.insert(site.0.clone(), refusal);
        drop(records);
        let Refusals { since, last, pause } = refusal;
        self.publish(account, last, What::Refused { site: site.0.clone(), since, pause });
        refusal.stated(now)
    }

    /// Drops the refusal of a site, because it was read or the search engine lists it.
    pub fn allow(&self, account: Uuid, site: &SiteUrl) {
        let (mut records, now) = self.lock();
        let was_refused = records.get_mut(&account).and_then(|record| record.refusals.remove(&site.0)).is_some();
        drop(records);
        if was_refused {
            self.publish(account, now, What::Allowed { site: site.0.clone() });
        }
    }

    /// Returns the last outcomes of an account.
    pub fn last(&self, account: Uuid) -> LastOutcomes {
        let (records, now) = self.lock();
        records.get(&account).map(|record| record.last.stated(now.wall())).unwrap_or_default()
    }

    /// Returns the trouble of an account, if it has not ended.
    pub fn trouble(&self, account: Uuid) -> Option<Trouble> {
        let (records, now) = self.lock();
        records.get(&account)?.trouble?.stated(now)
    }

    /// Returns the refusal of a site, if it was refused when it was last asked about.
    pub fn refusal(&self, account: Uuid, site: &SiteUrl) -> Option<RefusedSite> {
        let (records, now) = self.lock();
        Some(records.get(&account)?.refusals.get(&site.0)?.stated(now))
    }

    /// Drops everything that is known of an account.
    pub fn forget(&self, account: Uuid) {
        let (mut records, now) = self.lock();
        records.remove(&account);
        drop(records);
        self.publish(account, now, What::Forgotten);
    }

    fn publish(&self, account: Uuid, at: Moment, what: What) {
        if let Some(notices) = &self.notices
            && let Ok(event) = serde_json::to_vec(&Event { account, at: at.wall(), what })
        {
            notices.publish(&event);
        }
    }

    /// Locks the records, and reads the clock after that.
    fn lock(&self) -> (MutexGuard<'_, All>, Moment) {
        (lock(&self.all), self.clock.moment())
    }
}

impl Record {
    fn note(&mut self, of_question: bool, failed: Option<Failed>, now: Moment) {
        self.last.note(failed, now.wall());
        self.at = Some(now);
        self.trouble = Trouble::after(self.trouble, of_question, failed, now);
    }
}

/// Applies an event of a replica. One that is not newer than the record, such as this replica's own, changes nothing. One of the future
/// changes nothing yet (docs/design/replicas.md).
fn apply(all: &mut All, event: Event, now: Moment) {
    let Event { account, at, what } = event;
    if now.wall() < at {
        return;
    }
    drop_old(all, now);
    let record = all.entry(account).or_default();
    let at = now.back_at(at);
    let is_after = |known: Moment| known.wall() != at.wall() && now.since(at) < now.since(known);
    let is_before = |known: Moment| now.since(known) < now.since(at);
    match what {
        What::Ended { of_question, failed } => {
            if record.at.is_none_or(is_after) {
                record.note(of_question, failed, at);
                if failed.is_none() {
                    record.published = Some(at);
                }
            }
        }
        What::Refused { site, since, pause } => {
            let refusal = Refusals { since, last: at, pause };
            let known = record.refusals.entry(site).or_insert(refusal);
            if known.last.wall() != at.wall() && known.wait(now) < refusal.wait(now) {
                *known = refusal;
            }
        }
        What::Allowed { site } => {
            if record.refusals.get(&site).is_some_and(|refusal| !is_before(refusal.last)) {
                record.refusals.remove(&site);
            }
        }
        What::Forgotten => {
            if record.at.is_none_or(|known| !is_before(known)) {
                all.remove(&account);
            }
        }
    }
}

/// Drops old records, if there are many.
fn drop_old(all: &mut All, now: Moment) {
    if all.len() >= MANY {
        all.retain(|_, record| {
            let is_recent = record.at.is_some_and(|at| now.since(at) < FORGOTTEN_AFTER);
            is_recent || record.trouble.is_some_and(|trouble| !trouble.is_over(now))
        });
    }
}

fn lock(all: &Mutex<All>) -> MutexGuard<'_, All> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
