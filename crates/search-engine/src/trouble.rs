//! Trouble of an account with the search engine, until a request succeeds.

use chrono::{DateTime, TimeDelta, Utc};
use common::clock::Moment;

use super::outcomes::{Failed, FailureKind};

/// Trouble that nobody has met for this long is over.
const FORGOTTEN_AFTER: TimeDelta = TimeDelta::hours(1);

/// The reason why the search engine gives no data, although the grant is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TroubleKind {
    /// The quota of the site or of the account is used up.
    Quota,
    /// No answer in time.
    Unreachable,
    /// The search engine refuses this deployment.
    Misconfigured,
}

/// Trouble that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trouble {
    /// The reason.
    pub kind: TroubleKind,
    /// The time of the first failure.
    pub since: DateTime<Utc>,
    /// True if a question about a site met it. Reading the list of sites does not end a quota of questions.
    of_question: bool,
    /// The time at which it is over, if nothing fails again.
    end: Moment,
}

impl Trouble {
    /// Returns the trouble after a request. `of_question` is true for a question about a site.
    pub(super) fn after(last: Option<Self>, of_question: bool, failed: Option<Failed>, now: Moment) -> Option<Self> {
        let Some(Failed { kind, retry_after }) = failed else {
            return last.filter(|last| last.kind == TroubleKind::Quota && last.of_question && !of_question);
        };
        let (kind, lasts) = match kind {
            FailureKind::Quota => (TroubleKind::Quota, TimeDelta::from_std(retry_after).unwrap_or(FORGOTTEN_AFTER)),
            FailureKind::Unreachable => (TroubleKind::Unreachable, FORGOTTEN_AFTER),
            FailureKind::Misconfigured => (TroubleKind::Misconfigured, FORGOTTEN_AFTER),
            _ => return last,
        };
        let since = last.filter(|last| last.kind == kind && !last.is_over(now)).map_or(now.wall(), |last| last.since);
        Some(Self { kind, since, of_question, end: now + lasts })
    }

    /// Returns it as it is stated, unless it is over. It may have begun before the clock was set back.
    pub(super) fn stated(self, now: Moment) -> Option<Self> {
        (!self.is_over(now)).then(|| Self { since: self.since.min(now.wall()), ..self })
    }

    pub(super) fn is_over(&self, now: Moment) -> bool {
        self.end.is_over(now)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_success_ends_trouble_and_a_list_of_sites_does_not_end_a_quota_of_questions() {
        let quota = Failed { kind: FailureKind::Quota, retry_after: Duration::from_mins(15) };
        let away = Failed { kind: FailureKind::Unreachable, retry_after: Duration::from_secs(5) };
        let now = Moment::starting_at(DateTime::from_timestamp(1_790_000_000, 0).unwrap());
        let later = now + TimeDelta::minutes(1);

        let trouble = Trouble::after(None, true, Some(quota), now);
        assert_eq!(Trouble::after(trouble, false, None, now), trouble, "a list of sites");
        assert_eq!(trouble.map(|trouble| trouble.kind), Some(TroubleKind::Quota));
        assert!(
            trouble.is_some_and(|trouble| !trouble.is_over(later) && trouble.is_over(now + TimeDelta::minutes(15)))
        );
        assert_eq!(Trouble::after(trouble, true, None, now), None);

        let trouble = Trouble::after(None, true, Some(away), now);
        let again = Trouble::after(trouble, false, Some(away), later);
        assert_eq!(again.map(|trouble| trouble.since), Some(now.wall()), "since the first failure");
        assert_eq!(Trouble::after(again, false, None, later), None);
    }
}
