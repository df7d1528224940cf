//! Each script does what the model does.

use std::{sync::Arc, time::Duration};

use rand::{Rng as _, SeedableRng as _, rngs::SmallRng, seq::IteratorRandom as _};

use super::{model::Server, secrets, url};
use crate::{
    link::{Link, OF_COUNTERS},
    names::Names,
    scripts::{ADAPT, CLAIM, ENTER, LEAVE, LIMIT, SWAP},
};

/// The server, and names that no other test has.
fn server() -> Option<(Arc<Link>, Names)> {
    Some((Arc::new(Link::new(&url()?, OF_COUNTERS).unwrap()), Names::of(&secrets())))
}

#[tokio::test]
async fn claims_are_taken_and_swapped_as_in_the_model() {
    let Some((link, names)) = server() else { return };
    let (mut model, mut random) = (Server::default(), SmallRng::seed_from_u64(1));
    let places = ["a", "b"].map(|place| names.reading("scope", place));
    let values = ["C0one:1", "C1two:1", "C1two:2", "Vvalue", "F"];
    for step in 0..500 {
        let place = &places[random.random_range(0..places.len())];
        let [one, other] = [0, 1].map(|_| values[random.random_range(0..values.len())]);
        let flag = random.random_bool(0.5);
        if random.random_bool(0.5) {
            let mut script = CLAIM.key(place);
            script.arg(one).arg(60_000).arg(u8::from(flag));
            let held: String = link.script(&script).await.unwrap();
            assert_eq!(held, model.claim(place, one, 60_000, flag, 0), "{step}");
        } else {
            let new = if random.random_bool(0.3) { "" } else { other };
            let mut script = SWAP.key(place);
            script.arg(one).arg(u8::from(flag)).arg(new).arg(60_000);
            let swapped: bool = link.script(&script).await.unwrap();
            assert_eq!(swapped, model.swap(place, one, flag, new, 60_000, 0), "{step}");
        }
    }
}

#[tokio::test]
async fn requests_are_counted_as_in_the_model() {
    let Some((link, names)) = server() else { return };
    let (mut model, mut random) = (Server::default(), SmallRng::seed_from_u64(2));
    let callers = ["a", "b", "c"].map(|caller| names.limit(caller));
    let (mut allowed, mut refused) = (0, 0);
    for _ in 0..600 {
        let caller = &callers[random.random_range(0..callers.len())];
        // A caller's rate may change.
        let (interval, burst) = [(1_000, 5), (300, 3), (4_000, 2)][random.random_range(0..3)];
        let mut script = LIMIT.key(caller);
        script.arg(interval).arg(interval * burst);
        let (ok, full_at, now, wait): (bool, i64, i64, i64) = link.script(&script).await.unwrap();
        let expected = model.limit(caller, f64::from(interval), f64::from(interval * burst), now as f64);
        assert_eq!((ok, full_at as f64, wait as f64), expected);
        if ok { allowed += 1 } else { refused += 1 }
    }
    assert!(allowed > 20 && refused > 20, "{allowed} {refused}");
}

#[tokio::test]
async fn requests_pass_gates_as_in_the_model() {
    let Some((link, names)) = server() else { return };
    let (mut model, mut random) = (Server::default(), SmallRng::seed_from_u64(3));
    let mut random_again = SmallRng::seed_from_u64(4);
    let [all, shared, flight] = ["all", "shared", "flight"].map(|name| names.gate("site", name));
    let (most, ahead) = ([(6.0, 2_000.0, 0.5), (3.0, 1_000.0, 0.5)], 1_000.0);
    let (mut passed, mut left, mut verdicts) = (Vec::<(String, f64, i64)>::new(), Vec::<String>::new(), [0; 3]);
    // Longer than the test, however slow it is.
    let long = 600_000_000.0;
    for number in 0..600 {
        match random.random_range(0..10) {
            0..7 => {
                // Some requests in flight are forgotten at once.
                let lasts = if random.random_bool(0.5) { 30_000.0 } else { long };
                let again =
                    passed.iter().filter(|(_, lasts, _)| *lasts == long).map(|(request, ..)| request).chain(&left);
                let again = again.choose(&mut random).filter(|_| random_again.random_bool(0.2)).cloned();
                let (is_new, lasts) = (again.is_none(), if again.is_some() { long } else { lasts });
                let request = again.unwrap_or_else(|| format!("request {number}"));
                let mut script = ENTER.prepare_invoke();
                script
                    .key(names.gate("site", &request))
                    .key(&all)
                    .key(&shared)
                    .key(&flight)
                    .arg(ahead)
                    .arg(&request)
                    .arg(lasts)
                    .arg(2);
                for (burst, rate, share) in most {
                    script.arg(burst).arg(rate).arg(share);
                }
                let (verdict, wait, now): (i8, i64, i64) = link.script(script.arg(4)).await.unwrap();
                let [(b0, r0, s0), (b1, r1, s1)] = most;
                let buckets = [(&*all, b0, r0, s0), (&*shared, b1, r1, s1)];
                let expected = model.enter(&request, &buckets, &[(&flight, 4)], ahead, lasts, now as f64);
                assert_eq!(verdict, expected.0, "{number}");
                assert!((wait as f64 - expected.1).abs() <= 1.0, "{number}: {wait} {expected:?}");
                verdicts[usize::try_from(verdict + 1).unwrap()] += 1;
                if verdict == 1 && is_new {
                    passed.push((request, lasts, now + wait));
                } else if !is_new {
                    assert_eq!(verdict == 1, !left.contains(&request), "{number}");
                }
            }
            7 if !passed.is_empty() => {
                let (request, lasts, _) = passed.swap_remove(random.random_range(0..passed.len()));
                let gives_back = lasts == long && random.random_bool(0.6);
                let mut script = LEAVE.prepare_invoke();
                script.key(names.gate("site", &request));
                if gives_back {
                    script.key(&all).key(&shared);
                }
                script.key(&flight).arg(&request).arg(if gives_back { 2 } else { 0 }).arg(600_000);
                let back = [&*all, &*shared];
                for _ in 0..random.random_range(1..3) {
                    link.script::<i64>(&script).await.unwrap();
                    let now = time(&link).await;
                    model.leave(&request, if gives_back { &back } else { &[] }, &[&flight], long, now);
                }
                if gives_back {
                    left.push(request);
                }
            }
            _ if !passed.is_empty() => {
                let (_, _, started) = passed[random.random_range(0..passed.len())].clone();
                let success = random.random_bool(0.8);
                let mut script = ADAPT.key(&all);
                script.arg(u8::from(success)).arg(started).arg(most[0].0).arg(most[0].1);
                // The script does not say when it ran, so its moment is that of an empty look right after it.
                let halved: bool = link.script(&script).await.unwrap();
                let now = time(&link).await;
                assert_eq!(
                    halved,
                    model.adapt(&[(&*all, most[0].0, most[0].1)], success, started as f64, now),
                    "{number}"
                );
                // A speed that changed a moment earlier or later drains a little more or less.
                let mut get = redis::cmd("HMGET");
                get.arg(&all).arg("level").arg("at").arg("burst").arg("rate");
                let (level, at, burst, rate): (f64, f64, f64, f64) = link.command(&get).await.unwrap();
                model.correct(&all, level, at, (burst, rate));
            }
            _ => tokio::time::sleep(Duration::from_millis(random.random_range(0..5))).await,
        }
    }
    let [full, early, entered] = verdicts;
    assert!(entered > 0 && full + early > 0, "{verdicts:?}");
}

async fn time(link: &Link) -> f64 {
    let (seconds, micros): (f64, f64) = link.command(&redis::cmd("TIME")).await.unwrap();
    seconds * 1e6 + micros
}
