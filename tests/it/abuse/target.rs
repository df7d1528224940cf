//! The attacked services, their honest users, and the measurements.

use std::{
    fmt::Write as _,
    fs,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::Path,
    process::Stdio,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Scale, attacks::Attack};
use crate::{
    commands::{Running, sightline},
    support::actor::Actor,
};

/// Pause between two requests of an honest person.
const PACE: Duration = Duration::from_millis(50);

/// A running service.
pub struct Target {
    /// The public root URL.
    pub url: String,
    /// The address it listens on.
    pub address: SocketAddr,
    /// A user whose requests must succeed.
    pub honest: Actor,
    /// A malicious tenant.
    pub tenant: Actor,
    /// A property of the tenant.
    pub property: String,
    /// The token of a share link of the honest user.
    pub share_token: String,
    /// The issuer, if it is a separate process.
    pub issuer: Option<Running>,
    running: Running,
    _folders: Vec<TempDir>,
}

/// The result of one attack.
#[derive(Debug)]
pub struct Outcome {
    name: &'static str,
    /// Honest requests.
    pub honest: usize,
    /// Honest requests without a 200 response.
    pub not_served: usize,
    p99: Duration,
    /// Requests or connections of the attack that were refused.
    refused: usize,
    /// Resident memory in megabytes, before the attack. `peak` is the maximum during it, and `after` the value after it.
    pub before: u64,
    /// See `before`.
    pub peak: u64,
    /// See `before`.
    pub after: u64,
}

fn start(folder: &Path, settings: &[(&str, &str)]) -> Running {
    let mut all = vec![
        ("LISTEN", "127.0.0.1:0"),
        ("PLANS__PRO__PER_MINUTE", "60000"),
        ("PLANS__PRO__BURST", "1000"),
        ("RATE_LIMIT__PER_MINUTE", "60000"),
    ];
    all.extend(settings);
    let mut command = sightline(folder, &["serve"], &all);
    // Nobody reads the log, and a full pipe would block the service.
    command.stderr(Stdio::null());
    Running::start(command)
}

impl Target {
    /// A service with demo people and the simulated search engine.
    pub async fn with_own_issuer() -> Self {
        let folder = TempDir::new().unwrap();
        let running = start(folder.path(), &[("SIMULATOR__LATENCY_MS", "20")]);
        let (honest, tenant) =
            (Actor::signed_in(&running.url, "owner").await, Actor::signed_in(&running.url, "stranger").await);
        let (own, property) = (honest.property("northmoor").await, tenant.property("").await);
        let link =
            honest.post(&format!("/api/properties/{own}/share-links"), &json!({ "name": "Board" })).await.expect(201);
        let share_token = link.json["data"]["token"].as_str().unwrap().to_owned();
        Self::of(running, honest, tenant, (property, share_token), (None, vec![folder]))
    }

    /// A service whose issuer is a separate process.
    pub async fn with_external_issuer() -> Self {
        let (folder, elsewhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let issuer = start(elsewhere.path(), &[]);
        let settings = [("IDENTITY__ISSUER", issuer.url.as_str()), ("IDENTITY__AUDIENCE", issuer.url.as_str())];
        let running = start(folder.path(), &settings);
        let token = Actor::signed_in(&issuer.url, "owner").await;
        let honest = Actor::with_token(&running.url, token.token());
        honest.get("/api/properties").await.expect(200);
        let tenant = honest.clone();
        Self::of(running, honest, tenant, Default::default(), (Some(issuer), vec![folder, elsewhere]))
    }

    fn of(
        running: Running,
        honest: Actor,
        tenant: Actor,
        (property, share_token): (String, String),
        (issuer, folders): (Option<Running>, Vec<TempDir>),
    ) -> Self {
        let url = running.url.clone();
        let address = url.trim_start_matches("http://").parse().unwrap();
        Self { url, address, honest, tenant, property, share_token, issuer, running, _folders: folders }
    }

    /// Runs the attacks in sequence.
    pub async fn endure(self, scale: Scale, attacks: &[Attack]) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for attack in attacks {
            outcomes.push(self.endure_one(scale, *attack).await);
        }
        outcomes
    }

    async fn endure_one(&self, scale: Scale, attack: Attack) -> Outcome {
        attack.prepare(self).await;
        let before = self.memory();
        let (peak, not_served) = (AtomicU64::new(before), AtomicUsize::new(0));
        let mut latencies = Vec::new();
        let honest = async {
            loop {
                let start = Instant::now();
                let answer = self.honest.get("/api/properties").await;
                latencies.push(start.elapsed());
                not_served.fetch_add(usize::from(answer.status != 200), Ordering::Relaxed);
                peak.fetch_max(self.memory(), Ordering::Relaxed);
                tokio::time::sleep(PACE).await;
            }
        };
        let refused = tokio::select! {
            refused = attack.run(self, scale) => refused,
            () = honest => unreachable!("an honest person never stops"),
        };
        tokio::time::sleep(scale.length).await;
        latencies.sort_unstable();
        let p99 = latencies.get((latencies.len() * 99).div_ceil(100).saturating_sub(1)).copied().unwrap_or_default();
        let (peak, not_served) = (peak.into_inner(), not_served.into_inner());
        Outcome {
            name: attack.name(),
            honest: latencies.len(),
            not_served,
            p99,
            refused,
            before,
            peak,
            after: self.memory(),
        }
    }

    /// Resident memory in megabytes.
    fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.running.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()).unwrap_or_default() / 1024
    }
}

impl Outcome {
    /// A table with one row per result.
    pub fn table(outcomes: &[Self]) -> String {
        let mut table = String::from(
            "\n| attack | honest requests | not served | honest p99 (aim: below 250 ms) | refused | memory before, most, after |\n\
             | --- | --- | --- | --- | --- | --- |\n",
        );
        for one in outcomes {
            let p99 = one.p99.as_millis();
            let _ = writeln!(
                table,
                "| {} | {} | {} | {p99} ms | {} | {}, {}, {} MB |",
                one.name, one.honest, one.not_served, one.refused, one.before, one.peak, one.after
            );
        }
        table
    }
}

/// A client that connects from `address`.
pub fn from(address: [u8; 4]) -> reqwest::Client {
    #[expect(clippy::disallowed_methods, reason = "the service's client calls from no address of its own")]
    let client = reqwest::Client::builder().local_address(IpAddr::V4(Ipv4Addr::from(address)));
    client.timeout(Duration::from_mins(1)).build().unwrap()
}

/// A cluster with the maximum number of conditions, in characters that are slow to print.
pub fn heavy_cluster(number: usize, conditions: usize, characters: usize) -> Value {
    let condition = |index: usize| {
        let value = format!("{index}{}", "\u{1f980}".repeat(characters));
        if index == 0 {
            json!({ "operator": "contains", "value": value })
        } else {
            json!({ "operator": "contains", "value": value, "logic": "and" })
        }
    };
    json!({ "name": format!("heavy {number}"), "conditions": (0..conditions).map(condition).collect::<Vec<_>>() })
}
