//! Each script does what the model does.

use std::{sync::Arc, time::Duration};

use rand::{Rng as _, SeedableRng as _, rngs::SmallRng, seq::IteratorRandom as _};

use super::{
    model::{Place, Server},
    secrets, url,
};
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

/// The time in milliseconds after which requests in flight are forgotten that are not forgotten at once: longer than the test.
const LONG: f64 = 600_000_000.0;

/// The burst, the rate and the share of two buckets.
const MOST: [(f64, f64, f64); 2] = [(6.0, 2_000.0, 0.5), (3.0, 1_000.0, 0.5)];

/// A request that has passed.
#[derive(Clone)]
struct Passed {
    request: String,
    /// It is in flight until it leaves.
    stays: bool,
    starts: i64,
}

/// The gates of a site on the server and in the model.
struct Gates {
    link: Arc<Link>,
    names: Names,
    model: Server,
    random: SmallRng,
    all: String,
    shared: String,
    flight: String,
}

impl Gates {
    fn new(link: Arc<Link>, names: Names) -> Self {
        let [all, shared, flight] = ["all", "shared", "flight"].map(|name| names.gate("site", name));
        Self { link, names, model: Server::default(), random: SmallRng::seed_from_u64(3), all, shared, flight }
    }

    /// Returns the verdict, and when the request starts.
    async fn enter(&mut self, request: &str, place: &Place, stays: bool) -> (i8, i64) {
        let (ahead, lasts) = (1_000.0, if stays { LONG } else { 30_000.0 });
        let mut script = ENTER.prepare_invoke();
        script.key(self.names.gate("site", request));
        for of_line in ["line", "leases", "persons"] {
            script.key(self.names.gate("site", of_line));
        }
        script.key(&self.all).key(&self.shared).key(&self.flight);
        script.arg(ahead).arg(request).arg(lasts).arg(2);
        script.arg(&place.name).arg(place.late).arg(place.lease).arg(&place.person);
        for (burst, rate, share) in MOST {
            script.arg(burst).arg(rate).arg(share);
        }
        let (verdict, wait, now): (i8, i64, i64) = self.link.script(script.arg(4)).await.unwrap();
        let [(b0, r0, s0), (b1, r1, s1)] = MOST;
        let buckets = [(&*self.all, b0, r0, s0), (&*self.shared, b1, r1, s1)];
        let expected = self.model.enter((request, place), &buckets, &[(&self.flight, 4)], ahead, lasts, now as f64);
        assert_eq!(verdict, expected.0, "{request}");
        assert!((wait as f64 - expected.1).abs() <= 1.0, "{request}: {wait} {expected:?}");
        (verdict, now + wait)
    }

    /// A place of one of a few requests that are tried again and again, for one of two persons or for nobody.
    fn place(&mut self) -> Place {
        let name = format!("name {}", self.random.random_range(0..6));
        let late = f64::from(self.random.random_range(-5_000..5_000));
        let person = ["", "ann", "ben"][self.random.random_range(0..3)];
        Place { name, late, lease: 20_000.0, person: person.to_owned() }
    }

    /// Leaves once or twice, as when the first answer is lost.
    async fn leave(&mut self, request: &str, gives_back: bool) {
        let mut script = LEAVE.prepare_invoke();
        script.key(self.names.gate("site", request));
        if gives_back {
            script.key(&self.all).key(&self.shared);
        }
        script.key(&self.flight).arg(request).arg(if gives_back { 2 } else { 0 }).arg(600_000);
        let back = [&*self.all, &*self.shared];
        for _ in 0..self.random.random_range(1..3) {
            self.link.script::<i64>(&script).await.unwrap();
            let now = time(&self.link).await;
            self.model.leave(request, if gives_back { &back } else { &[] }, &[&self.flight], LONG, now);
        }
    }

    async fn adapt(&mut self, success: bool, started: i64) {
        let (burst, rate, _) = MOST[0];
        let mut script = ADAPT.key(&self.all);
        script.arg(u8::from(success)).arg(started).arg(burst).arg(rate);
        // The script does not say when it ran, so its moment is that of an empty look right after it.
        let halved: bool = self.link.script(&script).await.unwrap();
        let now = time(&self.link).await;
        assert_eq!(halved, self.model.adapt(&[(&*self.all, burst, rate)], success, started as f64, now));
        // A speed that changed a moment earlier or later drains a little more or less.
        let mut get = redis::cmd("HMGET");
        get.arg(&self.all).arg("level").arg("at").arg("burst").arg("rate");
        let (level, at, burst, rate): (f64, f64, f64, f64) = self.link.command(&get).await.unwrap();
        self.model.correct(&self.all, level, at, (burst, rate));
    }
}

#[tokio::test]
async fn requests_pass_gates_as_in_the_model() {
    let Some((link, names)) = server() else { return };
    let mut gates = Gates::new(link, names);
    let (mut passed, mut left, mut verdicts) = (Vec::<Passed>::new(), Vec::<String>::new(), [0; 3]);
    for number in 0..600 {
        match gates.random.random_range(0..10) {
            0..7 => {
                let again = passed.iter().filter(|passed| passed.stays).map(|passed| &passed.request).chain(&left);
                let again = again.choose(&mut gates.random).cloned();
                if let Some(request) = again.filter(|_| gates.random.random_bool(0.2)) {
                    let place = gates.place();
                    let (verdict, _) = gates.enter(&request, &place, true).await;
                    assert_eq!(verdict == 1, !left.contains(&request), "{number}");
                    continue;
                }
                let (request, stays) = (format!("request {number}"), gates.random.random_bool(0.5));
                let place = gates.place();
                let (verdict, starts) = gates.enter(&request, &place, stays).await;
                verdicts[usize::try_from(verdict + 1).unwrap()] += 1;
                if verdict == 1 {
                    passed.push(Passed { request, stays, starts });
                }
            }
            7 if !passed.is_empty() => {
                let Passed { request, stays, .. } = passed.swap_remove(gates.random.random_range(0..passed.len()));
                let gives_back = stays && gates.random.random_bool(0.6);
                gates.leave(&request, gives_back).await;
                if gives_back {
                    left.push(request);
                }
            }
            _ if !passed.is_empty() => {
                let one = passed[gates.random.random_range(0..passed.len())].clone();
                let success = gates.random.random_bool(0.8);
                gates.adapt(success, one.starts).await;
            }
            _ => tokio::time::sleep(Duration::from_millis(gates.random.random_range(0..5))).await,
        }
    }
    let [full, early, entered] = verdicts;
    assert!(entered > 0 && full + early > 0, "{verdicts:?}");
}

async fn time(link: &Link) -> f64 {
    let (seconds, micros): (f64, f64) = link.command(&redis::cmd("TIME")).await.unwrap();
    seconds * 1e6 + micros
}
