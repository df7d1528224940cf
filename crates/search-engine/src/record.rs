//! Records the last requests of each account: outcomes, trouble that has not ended, and refused sites.
//!
//! Kept in the process, because reading must not write to the database. An entry that is lost at a restart or unknown to
//! another replica costs one request.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use super::{error::SearchEngineError, outcomes::LastOutcomes, refusal::RefusedSite, trouble::Trouble, wire::SiteUrl};

/// At this number of accounts, those without a request for [`FORGOTTEN_AFTER`] are dropped. At this number of refused sites of one
/// account, those whose pause ended long ago are dropped.
const MANY: usize = 10_000;

/// The age of records that may be dropped.
const FORGOTTEN_AFTER: TimeDelta = TimeDelta::days(1);

#[derive(Debug, Default)]
struct Record {
    last: LastOutcomes,
    trouble: Option<Trouble>,
    refusals: HashMap<String, RefusedSite>,
}

/// The records of all accounts.
#[derive(Debug, Default)]
pub(super) struct Records(Mutex<HashMap<Uuid, Record>>);

impl Records {
    /// Records the outcome of a request. `of_question` is true for a question about a site.
    pub fn note(&self, account: Uuid, of_question: bool, failure: Option<&SearchEngineError>, now: DateTime<Utc>) {
        let mut records = self.lock();
        if records.len() >= MANY {
            records.retain(|_, record| {
                let is_recent = record.last.at().is_some_and(|at| now - at < FORGOTTEN_AFTER);
                is_recent || record.trouble.is_some_and(|trouble| !trouble.is_over(now))
            });
        }
        let record = records.entry(account).or_default();
        record.last.note(failure, now);
        record.trouble = Trouble::after(record.trouble, of_question, failure, now);
    }

    /// Records that an attempt failed that is tried again. It is trouble until a request succeeds.
    pub fn note_trouble(&self, account: Uuid, of_question: bool, failure: &SearchEngineError, now: DateTime<Utc>) {
        let mut records = self.lock();
        let record = records.entry(account).or_default();
        record.trouble = Trouble::after(record.trouble, of_question, Some(failure), now);
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
        refusal
    }

    /// Drops the refusal of a site, because it was read or the search engine lists it.
    pub fn allow(&self, account: Uuid, site: &SiteUrl) {
        if let Some(record) = self.lock().get_mut(&account) {
            record.refusals.remove(&site.0);
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
    pub fn forget(&self, account: Uuid) {
        self.lock().remove(&account);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Record>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
        records.allow(one, &site(1));
        assert_eq!(records.refusal(one, &site(1)), None);
        assert_eq!(records.refuse(one, &site(1), later).since, later);
        records.forget(one);
        assert_eq!((records.last(one), records.trouble(one, now)), (LastOutcomes::default(), None));
        assert_eq!(records.refusal(one, &site(1)), None);
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
