//! Records the last requests of each account: outcomes, trouble that has not ended, and refused sites.
//!
//! Kept in the process, because reading must not write to the database. Replicas that share Redis tell each other. An entry that is lost
//! at a restart or unknown to another replica costs one request.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, TimeDelta, Utc};
use common::clock::is_within;
use serde::{Deserialize, Serialize};
use shared::News;
use uuid::Uuid;

use super::{
    error::SearchEngineError,
    outcomes::{Failed, LastOutcomes},
    refusal::RefusedSite,
    trouble::Trouble,
    wire::SiteUrl,
};

/// At this number of accounts, those without a request for [`FORGOTTEN_AFTER`] are dropped. At this number of refused sites of one
/// account, those whose pause ended long ago are dropped.
const MANY: usize = 10_000;

/// The age of records that may be dropped.
const FORGOTTEN_AFTER: TimeDelta = TimeDelta::days(1);

/// Other replicas are told of a success this long after the last one, or at once if it ends trouble.
const TOLD_EVERY: TimeDelta = TimeDelta::minutes(1);

#[derive(Debug, Default)]
struct Record {
    last: LastOutcomes,
    trouble: Option<Trouble>,
    refusals: HashMap<String, RefusedSite>,
    /// The last success that other replicas were told of, or told this one of.
    told: Option<DateTime<Utc>>,
}

/// An event that replicas tell each other of.
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
    /// A site was refused.
    Refused { site: String, refusal: RefusedSite },
    /// A refused site was read, or the search engine lists it.
    Allowed { site: String },
    /// The account was disconnected.
    Forgotten,
}

type All = HashMap<Uuid, Record>;

/// The records of all accounts.
#[derive(Default)]
pub(super) struct Records {
    all: Arc<Mutex<All>>,
    news: Option<News>,
}

impl Records {
    /// Records that are told to other replicas through `news`, and heard of them.
    pub fn sharing(news: Option<News>) -> Self {
        let all: Arc<Mutex<All>> = Arc::default();
        if let Some(news) = &news {
            let heard = Arc::downgrade(&all);
            news.listen(move |event| {
                let Some(all) = heard.upgrade() else { return false };
                // One of another version is skipped.
                if let Ok(event) = serde_json::from_slice(event) {
                    hear(&mut lock(&all), event);
                }
                true
            });
        }
        Self { all, news }
    }

    /// Records the outcome of a request. `of_question` is true for a question about a site.
    pub fn note(&self, account: Uuid, of_question: bool, failure: Option<&SearchEngineError>, now: DateTime<Utc>) {
        let failed = failure.map(Failed::from);
        let mut records = self.lock();
        drop_old(&mut records, now);
        let record = records.entry(account).or_default();
        let had_trouble = record.trouble.is_some();
        record.note(of_question, failed, now);
        let is_news =
            failed.is_some() || had_trouble || record.told.is_none_or(|told| !is_within(now, told, TOLD_EVERY));
        if is_news {
            record.told = record.last.success;
        }
        drop(records);
        if is_news {
            self.tell(account, now, What::Ended { of_question, failed });
        }
    }

    /// Records that an attempt failed that is tried again. It is trouble until a request succeeds.
    pub fn note_trouble(&self, account: Uuid, of_question: bool, failure: &SearchEngineError, now: DateTime<Utc>) {
        let mut records = self.lock();
        let record = records.entry(account).or_default();
        record.trouble = Trouble::after(record.trouble, of_question, Some(failure.into()), now);
    }

    /// Records that a site was refused.
    pub fn refuse(&self, account: Uuid, site: &SiteUrl, now: DateTime<Utc>) -> RefusedSite {
        let mut records = self.lock();
        let refusals = &mut records.entry(account).or_default().refusals;
        if refusals.len() >= MANY {
            refusals.retain(|_, refusal| !refusal.is_over(now));
        }
        let refusal = RefusedSite::after(refusals.get(&site.0).copied(), now);
        refusals.insert(site.0.clone(), refusal);
        drop(records);
        self.tell(account, now, What::Refused { site: site.0.clone(), refusal });
        refusal
    }

    /// Drops the refusal of a site, because it was read or the search engine lists it.
    pub fn allow(&self, account: Uuid, site: &SiteUrl, now: DateTime<Utc>) {
        let was_refused = self.lock().get_mut(&account).and_then(|record| record.refusals.remove(&site.0)).is_some();
        if was_refused {
            self.tell(account, now, What::Allowed { site: site.0.clone() });
        }
    }

    /// Returns the last outcomes of an account.
    pub fn last(&self, account: Uuid) -> LastOutcomes {
        self.lock().get(&account).map(|record| record.last).unwrap_or_default()
    }

    /// Returns the trouble of an account, if it has not ended.
    pub fn trouble(&self, account: Uuid, now: DateTime<Utc>) -> Option<Trouble> {
        self.lock().get(&account)?.trouble.filter(|trouble| !trouble.is_over(now))
    }

    /// Returns the refusal of a site, if it was refused when it was last asked about.
    pub fn refusal(&self, account: Uuid, site: &SiteUrl) -> Option<RefusedSite> {
        self.lock().get(&account)?.refusals.get(&site.0).copied()
    }

    /// Drops everything that is known of an account.
    pub fn forget(&self, account: Uuid, now: DateTime<Utc>) {
        self.lock().remove(&account);
        self.tell(account, now, What::Forgotten);
    }

    fn tell(&self, account: Uuid, at: DateTime<Utc>, what: What) {
        if let Some(news) = &self.news
            && let Ok(event) = serde_json::to_vec(&Event { account, at, what })
        {
            news.tell(&event);
        }
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        lock(&self.all)
    }
}

impl Record {
    fn note(&mut self, of_question: bool, failed: Option<Failed>, now: DateTime<Utc>) {
        self.last.note(failed, now);
        self.trouble = Trouble::after(self.trouble, of_question, failed, now);
    }
}

/// Records an event that a replica tells of. One that is older than what is known, such as this replica's own, changes nothing.
fn hear(all: &mut All, event: Event) {
    let Event { account, at, what } = event;
    drop_old(all, at);
    let record = all.entry(account).or_default();
    match what {
        What::Ended { of_question, failed } if record.last.at().is_none_or(|last| last < at) => {
            record.note(of_question, failed, at);
            record.told = record.last.success;
        }
        What::Ended { .. } => {}
        What::Refused { site, refusal } => {
            let known = record.refusals.entry(site).or_insert(refusal);
            if known.until < refusal.until {
                *known = refusal;
            }
        }
        What::Allowed { site } => {
            if record.refusals.get(&site).is_some_and(|refusal| refusal.at() <= at) {
                record.refusals.remove(&site);
            }
        }
        What::Forgotten => {
            if record.last.at().is_none_or(|last| last <= at) {
                all.remove(&account);
            }
        }
    }
}

/// Drops old records, if there are many.
fn drop_old(all: &mut All, now: DateTime<Utc>) {
    if all.len() >= MANY {
        all.retain(|_, record| {
            let is_recent = record.last.at().is_some_and(|at| now - at < FORGOTTEN_AFTER);
            is_recent || record.trouble.is_some_and(|trouble| !trouble.is_over(now))
        });
    }
}

fn lock(all: &Mutex<All>) -> MutexGuard<'_, All> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{outcomes::FailureKind, trouble::TroubleKind};

    fn site(n: usize) -> SiteUrl {
        SiteUrl(format!("https://{n}.test/"))
    }

    #[test]
    fn accounts_and_sites_have_records_of_their_own() {
        let (records, [one, other]) = (Records::default(), [1, 2].map(Uuid::from_u128));
        let now = DateTime::from_timestamp(1_790_000_000, 0).unwrap();
        records.note(one, true, Some(&SearchEngineError::unavailable("away")), now);
        let first = records.refuse(one, &site(1), now);
        assert_eq!(records.refusal(one, &site(1)), Some(first));
        assert_eq!(records.trouble(one, now).map(|trouble| trouble.kind), Some(TroubleKind::Unreachable));
        assert_eq!((records.trouble(other, now), records.refusal(other, &site(1))), (None, None));
        assert_eq!(records.refusal(one, &site(2)), None);
        let later = first.until;
        records.note(one, true, None, later);
        assert_eq!(records.trouble(one, later), None);
        let failure = Some((now, FailureKind::Unreachable));
        assert_eq!(records.last(one), LastOutcomes { success: Some(later), failure }, "the last failure stays known");
        assert_ne!(records.refuse(one, &site(1), later).wait(later), first.wait(now));
        records.allow(one, &site(1), later);
        assert_eq!(records.refusal(one, &site(1)), None);
        assert_eq!(records.refuse(one, &site(1), later).since, later);
        records.forget(one, later);
        assert_eq!((records.last(one), records.trouble(one, now)), (LastOutcomes::default(), None));
        assert_eq!(records.refusal(one, &site(1)), None);
    }

    /// Lets `all` hear of events at the given seconds.
    fn heard(all: &mut All, events: Vec<(i64, What)>) {
        for (seconds, what) in events {
            hear(all, Event { account: Uuid::nil(), at: at(seconds), what });
        }
    }

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_790_000_000 + seconds, 0).unwrap()
    }

    fn ended(kind: Option<FailureKind>) -> What {
        let failed = kind.map(|kind| Failed { kind, retry_after: std::time::Duration::from_mins(15) });
        What::Ended { of_question: true, failed }
    }

    #[test]
    fn what_is_older_than_what_is_known_changes_nothing() {
        let records = Records::default();
        records.note(Uuid::nil(), true, None, at(10));
        let away = || ended(Some(FailureKind::Unreachable));
        heard(&mut records.lock(), vec![(5, away()), (10, away())]);
        assert_eq!(records.trouble(Uuid::nil(), at(11)), None);
        heard(&mut records.lock(), vec![(11, away())]);
        assert_eq!(records.trouble(Uuid::nil(), at(11)).map(|trouble| trouble.since), Some(at(11)));
        heard(&mut records.lock(), vec![(12, ended(None)), (11, away())]);
        assert_eq!(records.trouble(Uuid::nil(), at(12)), None);
        heard(&mut records.lock(), vec![(11, What::Forgotten)]);
        assert_eq!(records.last(Uuid::nil()).success, Some(at(12)), "it was used after it was forgotten");
        heard(&mut records.lock(), vec![(12, What::Forgotten)]);
        assert_eq!(records.last(Uuid::nil()), LastOutcomes::default());
    }

    #[test]
    fn the_longest_pause_of_a_refused_site_counts_until_it_is_allowed_later() {
        let (records, other) = (Records::default(), Records::default());
        let own = records.refuse(Uuid::nil(), &site(1), at(100));
        other.refuse(Uuid::nil(), &site(1), at(0));
        let longer = other.refuse(Uuid::nil(), &site(1), at(110));
        let name = || site(1).0;
        let refusal = || records.refusal(Uuid::nil(), &site(1));
        heard(&mut records.lock(), vec![(110, What::Refused { site: name(), refusal: longer })]);
        assert_eq!(refusal(), Some(longer));
        heard(&mut records.lock(), vec![(100, What::Refused { site: name(), refusal: own })]);
        assert_eq!(refusal(), Some(longer), "its own news come late");
        heard(&mut records.lock(), vec![(109, What::Allowed { site: name() })]);
        assert_eq!(refusal(), Some(longer));
        heard(&mut records.lock(), vec![(110, What::Allowed { site: name() })]);
        assert_eq!(refusal(), None);
    }

    #[test]
    fn old_records_are_dropped_when_there_are_many() {
        let (records, now) = (Records::default(), DateTime::from_timestamp(1_790_000_000, 0).unwrap());
        let later = now + FORGOTTEN_AFTER;
        for n in 0..MANY {
            records.note(Uuid::from_u128(n as u128), true, None, now);
            records.refuse(Uuid::nil(), &site(n), now);
        }
        records.refuse(Uuid::nil(), &site(MANY), later);
        assert_eq!(records.lock()[&Uuid::nil()].refusals.len(), 1);
        records.note(Uuid::from_u128(MANY as u128), true, None, later);
        assert_eq!(records.lock().len(), 1);
    }
}
