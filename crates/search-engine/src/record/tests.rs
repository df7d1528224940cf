//! Tests of the record of what happened.

use std::time::Duration;

use common::clock::Hand;

use super::*;
use crate::{outcomes::FailureKind, trouble::TroubleKind};

fn site(n: usize) -> SiteUrl {
    SiteUrl(format!("https://{n}.test/"))
}

/// Records at second 0.
fn records() -> (Records, Hand) {
    let (clock, hand) = Clock::manual(at(0));
    (Records::sharing(None, clock), hand)
}

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_790_000_000 + seconds, 0).unwrap()
}

fn seconds(seconds: i64) -> TimeDelta {
    TimeDelta::seconds(seconds)
}

#[test]
fn accounts_and_sites_have_records_of_their_own() {
    let ((records, hand), [one, other]) = (records(), [1, 2].map(Uuid::from_u128));
    records.note(one, true, Some(&SearchEngineError::unavailable("away")));
    let first = records.refuse(one, &site(1));
    assert_eq!(first, RefusedSite { since: at(0), wait: Some(Duration::from_mins(1)) });
    assert_eq!(records.refusal(one, &site(1)), Some(first));
    assert_eq!(records.trouble(one).map(|trouble| trouble.kind), Some(TroubleKind::Unreachable));
    assert_eq!((records.trouble(other), records.refusal(other, &site(1))), (None, None));
    assert_eq!(records.refusal(one, &site(2)), None);
    hand.advance(seconds(60));
    records.note(one, true, None);
    assert_eq!(records.trouble(one), None);
    let failure = Some((at(0), FailureKind::Unreachable));
    assert_eq!(records.last(one), LastOutcomes { success: Some(at(60)), failure }, "the last failure stays known");
    assert_eq!(records.refuse(one, &site(1)).wait, Some(Duration::from_mins(2)));
    records.allow(one, &site(1));
    assert_eq!(records.refusal(one, &site(1)), None);
    assert_eq!(records.refuse(one, &site(1)).since, at(60));
    records.forget(one);
    assert_eq!((records.last(one), records.trouble(one)), (LastOutcomes::default(), None));
    assert_eq!(records.refusal(one, &site(1)), None);
}

#[test]
fn a_clock_that_is_set_neither_lengthens_a_pause_nor_voids_it() {
    // Seconds: those that pass before a jump, the jump, those that pass after it, and what is left of a pause of a minute.
    for (before, jump, after, left) in [
        (0, -2, 0, 60),
        (30, -2, 0, 30),
        (30, -7_200, 29, 1),
        (30, -7_200, 30, 0),
        (0, -86_400, 60, 0),
        (30, 20, 0, 10),
        (30, 20, 10, 0),
        (30, 7_200, 0, 0),
    ] {
        let (records, hand) = records();
        let account = Uuid::nil();
        hand.advance(seconds(7_200));
        records.note(account, true, Some(&SearchEngineError::unavailable("away")));
        records.refuse(account, &site(1));
        hand.advance(seconds(before));
        hand.set(seconds(jump));
        hand.advance(seconds(after));
        let case = format!("{before} {jump} {after}");
        // Its own events come back.
        receive(&records, vec![(7_200, away()), (7_200, refused(7_200, 60))]);
        let refused = records.refusal(account, &site(1)).unwrap();
        assert_eq!(refused.wait, (left > 0).then(|| Duration::from_secs(left)), "{case}");
        let now = at(7_200 + before + jump + after);
        assert!(refused.since <= now && records.last(account).failure.unwrap().0 <= now, "{case}");
        if let Some(trouble) = records.trouble(account) {
            assert!(trouble.since <= now, "{case}");
        }
        // Trouble that nobody meets again ends after an hour.
        hand.advance(seconds(3_600));
        assert_eq!(records.trouble(account), None, "{case}");
    }
}

/// Applies events at the given seconds.
fn receive(records: &Records, events: Vec<(i64, What)>) {
    let (mut all, now) = records.lock();
    for (seconds, what) in events {
        apply(&mut all, Event { account: Uuid::nil(), at: at(seconds), what }, now);
    }
}

fn ended(kind: Option<FailureKind>) -> What {
    let failed = kind.map(|kind| Failed { kind, retry_after: Duration::from_mins(15) });
    What::Ended { of_question: true, failed }
}

fn away() -> What {
    ended(Some(FailureKind::Unreachable))
}

fn refused(since: i64, pause: i64) -> What {
    What::Refused { site: site(1).0, since: at(since), pause: seconds(pause) }
}

fn allowed() -> What {
    What::Allowed { site: site(1).0 }
}

#[test]
fn what_is_older_than_what_is_known_changes_nothing() {
    let (records, hand) = records();
    hand.advance(seconds(10));
    records.note(Uuid::nil(), true, None);
    hand.advance(seconds(10));
    let since = || records.trouble(Uuid::nil()).map(|trouble| trouble.since);
    receive(&records, vec![(5, away()), (10, away())]);
    assert_eq!(since(), None);
    receive(&records, vec![(11, away())]);
    assert_eq!(since(), Some(at(11)));
    receive(&records, vec![(12, ended(None)), (11, away())]);
    assert_eq!(since(), None);
    receive(&records, vec![(11, What::Forgotten)]);
    assert_eq!(records.last(Uuid::nil()).success, Some(at(12)), "it was used after it was forgotten");
    receive(&records, vec![(12, What::Forgotten)]);
    assert_eq!(records.last(Uuid::nil()), LastOutcomes::default());
}

#[test]
fn news_count_after_the_clock_was_set_back_and_those_from_before_it_do_not() {
    let (records, hand) = records();
    hand.advance(seconds(7_200));
    records.note(Uuid::nil(), true, None);
    hand.set(seconds(-7_200));
    hand.advance(seconds(10));
    receive(&records, vec![(7_200, away()), (7_201, refused(7_201, 60))]);
    assert_eq!((records.trouble(Uuid::nil()), records.refusal(Uuid::nil(), &site(1))), (None, None));
    receive(&records, vec![(9, away()), (9, refused(9, 60))]);
    assert_eq!(records.trouble(Uuid::nil()).map(|trouble| trouble.since), Some(at(9)));
    let wait = records.refusal(Uuid::nil(), &site(1)).and_then(|refused| refused.wait);
    assert_eq!(wait, Some(Duration::from_secs(59)));
}

#[test]
fn the_longest_pause_of_a_refused_site_counts_until_it_is_allowed_later() {
    let (records, hand) = records();
    hand.advance(seconds(100));
    records.refuse(Uuid::nil(), &site(1));
    hand.advance(seconds(20));
    let wait = || records.refusal(Uuid::nil(), &site(1)).and_then(|refused| refused.wait);
    receive(&records, vec![(110, refused(0, 120))]);
    assert_eq!(wait(), Some(Duration::from_secs(110)));
    receive(&records, vec![(100, refused(100, 60))]);
    assert_eq!(wait(), Some(Duration::from_secs(110)), "its own notices come late");
    receive(&records, vec![(109, allowed())]);
    assert_eq!(wait(), Some(Duration::from_secs(110)));
    receive(&records, vec![(110, allowed())]);
    assert_eq!(records.refusal(Uuid::nil(), &site(1)), None);
}

#[test]
fn old_records_are_dropped_when_there_are_many() {
    let (records, hand) = records();
    for n in 0..MANY {
        records.note(Uuid::from_u128(n as u128), true, None);
        records.refuse(Uuid::nil(), &site(n));
    }
    hand.advance(FORGOTTEN_AFTER);
    records.refuse(Uuid::nil(), &site(MANY));
    assert_eq!(records.lock().0[&Uuid::nil()].refusals.len(), 1);
    records.note(Uuid::from_u128(MANY as u128), true, None);
    assert_eq!(records.lock().0.len(), 1);
}
