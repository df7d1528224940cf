//! The lines before gates, over three replicas.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::{replica, secrets, url};
use crate::{Entry, Gate, Gates, Most, Passed, Shared, Waiting};

/// Timeout for events that must happen.
const GUARD: Duration = Duration::from_mins(1);

async fn replicas(url: &str) -> [Shared; 3] {
    let secrets = secrets();
    [replica(url, &secrets).await, replica(url, &secrets).await, replica(url, &secrets).await]
}

/// The gates of replicas at which a place lasts for longer than a test, however slow the machine is.
fn lasting(replicas: &[Shared; 3]) -> [Gates; 3] {
    replicas.each_ref().map(|shared| {
        let mut gates = shared.gates();
        gates.lease = 2 * GUARD;
        gates
    })
}

/// A gate that lets one request at a time pass.
fn one_at_a_time(of: &str) -> Gate {
    Gate {
        of: of.to_owned(),
        buckets: vec![("all", Most { burst: 1e6, per_second: 1.0 })],
        begins_with: 1.0,
        in_flight: vec![("flight", 1)],
        person: None,
    }
}

fn of_person(account: &str, person: &str) -> Gate {
    Gate { person: Some(person.to_owned()), ..one_at_a_time(account) }
}

/// Tries once. Tries again if Redis did not answer in time.
async fn enter(waiting: &mut Waiting, late: Duration) -> Option<Passed> {
    let late = i64::try_from(late.as_micros()).unwrap();
    let answered = async {
        loop {
            match waiting.enter(late).await {
                Some(Entry::Passed(passed, _)) => return Some(passed),
                Some(Entry::Wait(..) | Entry::Full(_)) => return None,
                None => sleep(Duration::from_millis(10)).await,
            }
        }
    };
    timeout(GUARD, answered).await.unwrap()
}

/// Tries until it passes. What others gave back may come a moment later.
async fn pass(waiting: &mut Waiting, late: Duration) -> Passed {
    let passed = async {
        loop {
            if let Some(passed) = enter(waiting, late).await {
                return passed;
            }
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(GUARD, passed).await.unwrap()
}

/// Waits until nothing is left of these things at a gate.
async fn assert_empty(shared: &Shared, gate: &str, what: &[&str]) {
    let empty = async {
        for what in what {
            let mut exists = redis::cmd("EXISTS");
            exists.arg(shared.names.gate(gate, what));
            while shared.counters.command::<bool>(&exists).await != Some(false) {
                sleep(Duration::from_millis(10)).await;
            }
        }
    };
    timeout(GUARD, empty).await.unwrap();
}

/// Lets `next` pass after one in flight has ended, while the others try before it in vain.
async fn pass_before(shared: &Shared, in_flight: &mut Option<Passed>, next: &mut Waiting, others: &mut [Waiting]) {
    drop(in_flight.take());
    let gate = next.first().unwrap().to_owned();
    assert_empty(shared, &gate, &["flight"]).await;
    for other in others {
        assert!(enter(other, Duration::ZERO).await.is_none(), "it is not first");
    }
    *in_flight = Some(pass(next, Duration::ZERO).await);
}

const LINE: [&str; 3] = ["line", "leases", "flight"];

fn line_up(gates: &Gates, path: &[&str]) -> Waiting {
    gates.line_up(path.iter().map(|of| one_at_a_time(of)).collect())
}

#[tokio::test]
async fn requests_of_all_replicas_pass_in_the_order_of_their_places() {
    let Some(url) = url() else { return };
    let replicas = replicas(&url).await;
    let gates = lasting(&replicas);
    let mut in_flight = Some(pass(&mut line_up(&gates[0], &["site"]), Duration::ZERO).await);
    let mut waiting = Vec::new();
    // The background yields, so it has a later place although it comes first.
    for (number, late) in [30_000, 20_000, 10_000, 0].map(Duration::from_millis).into_iter().enumerate() {
        let mut request = line_up(&gates[number % 3], &["site"]);
        assert!(enter(&mut request, late).await.is_none(), "one is in flight");
        waiting.push(request);
    }
    while let Some(mut next) = waiting.pop() {
        pass_before(&replicas[0], &mut in_flight, &mut next, &mut waiting).await;
    }
    drop(in_flight);
    assert_empty(&replicas[0], "site", &LINE).await;
}

#[tokio::test]
async fn a_request_that_waits_for_its_site_is_in_no_line_of_its_account() {
    let Some(url) = url() else { return };
    let replicas = replicas(&url).await;
    let gates = lasting(&replicas);
    let at_site = pass(&mut line_up(&gates[0], &["busy"]), Duration::ZERO).await;
    let at_account = pass(&mut line_up(&gates[0], &["account"]), Duration::ZERO).await;
    let (mut first, mut second) = (line_up(&gates[1], &["account", "busy"]), line_up(&gates[2], &["account", "free"]));
    assert!(enter(&mut first, Duration::ZERO).await.is_none());
    assert!(enter(&mut second, Duration::ZERO).await.is_none());
    assert_eq!([&first, &second].map(Waiting::first), [Some("account"); 2]);
    drop(at_account);
    let passes_account = async {
        while first.first() == Some("account") {
            assert!(enter(&mut first, Duration::ZERO).await.is_none(), "its site is full");
        }
    };
    timeout(GUARD, passes_account).await.unwrap();
    let passed = pass(&mut second, Duration::ZERO).await;
    drop((at_site, passed));
    drop(pass(&mut first, Duration::ZERO).await);
    for gate in ["account", "busy", "free"] {
        assert_empty(&replicas[0], gate, &LINE).await;
    }
}

#[tokio::test]
async fn a_place_whose_replica_has_died_ends_with_its_lease_and_one_that_is_given_up_at_once() {
    let Some(url) = url() else { return };
    let replicas = replicas(&url).await;
    let gates = replicas.each_ref().map(Shared::gates);
    let in_flight = pass(&mut line_up(&gates[0], &["site"]), Duration::ZERO).await;
    let [mut dead, mut gone, mut lives] = [0, 1, 2].map(|number| line_up(&gates[number], &["site"]));
    for waiting in [&mut dead, &mut gone, &mut lives] {
        assert!(enter(waiting, Duration::ZERO).await.is_none());
    }
    std::mem::forget(dead);
    drop((gone, in_flight));
    drop(pass(&mut lives, Duration::ZERO).await);
    assert_empty(&replicas[0], "site", &LINE).await;
}

#[tokio::test]
async fn requests_of_a_person_beyond_half_of_the_speed_are_behind_those_of_others() {
    let Some(url) = url() else { return };
    let replicas = replicas(&url).await;
    let gates = lasting(&replicas);
    // The places of a person are two seconds apart, so all have to come within that time.
    let mut tries = 0;
    let (account, mut in_flight, mut waiting) = loop {
        tries += 1;
        let account = format!("account {tries}");
        let in_flight = Some(pass(&mut line_up(&gates[0], &[&account]), Duration::ZERO).await);
        let asked = ["ann", "ann", "ann", "ben"].iter().enumerate();
        let mut waiting: Vec<_> =
            asked.map(|(number, person)| gates[number % 3].line_up(vec![of_person(&account, person)])).collect();
        let begun = Instant::now();
        for request in &mut waiting {
            assert!(enter(request, Duration::ZERO).await.is_none(), "one is in flight");
        }
        if begun.elapsed() < Duration::from_secs(1) {
            break (account, in_flight, waiting);
        }
    };
    // Ann's first, Ben's, and then the others of Ann.
    for next in [0, 2, 0, 0] {
        let mut next = waiting.remove(next);
        pass_before(&replicas[0], &mut in_flight, &mut next, &mut waiting).await;
    }
    drop(in_flight);
    assert_empty(&replicas[0], &account, &LINE).await;
    assert_empty(&replicas[0], &account, &["persons"]).await;
}
