//! Tests of accounts that read a site in the place of its own.

use tokio::time::Instant;

use super::*;

const OTHER: Uuid = Uuid::from_u128(1);
const THIRD: Uuid = Uuid::from_u128(2);

/// A bench with two other accounts that may read the site.
async fn bench() -> Bench {
    let bench = Bench::new().await;
    let other = |id, grant: &str| Account { id, ..account(grant) };
    bench.kept.1.lock().unwrap().accounts = vec![other(OTHER, "other"), other(THIRD, "third")];
    bench
}

/// Keeps an account busy for a quarter of an hour.
fn keep_busy(bench: &Bench, account: Uuid) {
    bench.reader.engine().pacer.note_busy(account, Instant::now() - Duration::from_mins(15));
}

impl Bench {
    fn looked_up(&self) -> usize {
        self.kept.1.lock().unwrap().asked
    }
}

#[tokio::test]
async fn an_account_with_free_quota_reads_what_the_own_one_would_wait_for() {
    let bench = bench().await;
    assert!(bench.read(&part(10)).await.is_ok());
    assert_eq!((bench.upstream.refreshed(), bench.looked_up()), (vec!["grant".to_owned()], 0), "nobody waits");

    keep_busy(&bench, Uuid::nil());
    assert!(bench.read(&part(11)).await.is_ok());
    assert_eq!(bench.upstream.refreshed(), ["grant", "other"], "the first of equal ones");
    keep_busy(&bench, OTHER);
    assert!(bench.read(&part(12)).await.is_ok());
    assert_eq!(bench.upstream.refreshed(), ["grant", "other", "third"]);

    let asked = (bench.upstream.queries(), bench.looked_up());
    for cap in 10..13 {
        assert!(bench.read(&part(cap)).await.is_ok());
    }
    assert_eq!(
        (bench.upstream.queries(), bench.looked_up()),
        asked,
        "a reading is cached for the site, and not for an account"
    );

    bench.kept.1.lock().unwrap().accounts.clear();
    assert!(bench.read(&part(13)).await.is_ok(), "without others the own one reads");
    assert_eq!(bench.upstream.with(|script| script.bearers.last().cloned()).as_deref(), Some("token-1"));
}

#[tokio::test]
async fn an_account_that_cannot_read_is_passed_over_and_its_trouble_is_not_the_sites() {
    let error =
        |reason: &str, message: &str| json!({ "error": { "message": message, "errors": [{ "reason": reason }] } });
    let lost = Reply::Fail(403, error("forbidden", "no permission"));
    let used_up = Reply::Fail(403, error("quotaExceeded", "Search Analytics load quota exceeded."));
    for reply in [lost, used_up] {
        let bench = bench().await;
        bench.kept.1.lock().unwrap().accounts.truncate(1);
        keep_busy(&bench, Uuid::nil());
        bench.upstream.reply([reply]);
        assert!(bench.read(&part(10)).await.is_ok());
        assert_eq!(bench.upstream.refreshed(), ["other", "grant"]);
        assert!(bench.read(&part(11)).await.is_ok());
        assert_eq!(bench.upstream.queries(), 3, "it is not asked again at once");
        let engine = bench.reader.engine();
        assert_eq!((engine.refused(Uuid::nil(), &site()), engine.trouble(Uuid::nil())), (None, None));
        assert!(engine.last_outcomes(Uuid::nil()).failure.is_none() && engine.last_outcomes(OTHER).failure.is_some());
        bench.hand.advance(chrono::TimeDelta::hours(1));
        assert!(bench.read(&part(12)).await.is_ok());
        assert_eq!(
            engine.last_outcomes(OTHER).success,
            Some(noon() + chrono::TimeDelta::hours(1)),
            "it is tried later"
        );
    }
}

#[tokio::test]
async fn a_refused_grant_of_another_account_is_noted_and_ends_nothing_of_the_own_one() {
    let scope = json!({ "error": { "errors": [{ "reason": "insufficientPermissions" }] } });
    for reply in [None, Some(Reply::Fail(403, scope))] {
        let bench = bench().await;
        keep_busy(&bench, Uuid::nil());
        match reply {
            Some(reply) => bench.upstream.reply([reply]),
            None => {
                bench.upstream.with(|script| script.tokens.push_back((400, json!({ "error": "invalid_grant" }))));
            }
        }
        assert!(bench.read(&part(10)).await.is_ok());
        assert_eq!(bench.kept.1.lock().unwrap().refused, [OTHER]);
        assert_eq!(bench.upstream.refreshed(), ["other", "grant"]);
    }
}
