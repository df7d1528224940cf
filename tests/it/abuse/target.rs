//! The attacked services, their honest users, and the measurements.

use std::{
    fmt::Write as _,
    fs,
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
    process::Stdio,
    sync::atomic::{AtomicU16, AtomicU64, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    Scale,
    attacks::{Attack, Honest},
};
use crate::{
    commands::{Running, sightline},
    support::{actor::Actor, whole::Whole as _},
};

/// Pause between two requests of an honest person.
const PACE: Duration = Duration::from_millis(50);

/// The address of the proxy that the service trusts.
pub const PROXY: [u8; 4] = [127, 0, 2, 1];

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
    running: Served,
    _folders: Vec<TempDir>,
}

/// The result of one attack.
#[derive(Debug)]
pub struct Outcome {
    /// The attack.
    pub attack: Attack,
    /// Honest requests.
    pub honest: usize,
    /// Honest requests without a 200 response.
    pub not_served: usize,
    /// The time within which 99 of 100 honest requests were answered.
    pub p99: Duration,
    /// Polls of the service that took more than 5 ms.
    long_polls: u64,
    /// Requests or connections of the attack that were refused.
    refused: usize,
    /// Resident memory in megabytes, before the attack. `peak` is the maximum during it, and `after` the value after it.
    pub before: u64,
    /// See `before`.
    pub peak: u64,
    /// See `before`.
    pub after: u64,
    /// Memory that caches hold in megabytes, before the attack and after it.
    pub cached: [u64; 2],
}

/// A process, and where its metrics are.
struct Served {
    process: Running,
    metrics: String,
}

/// A free address that no system gives out by itself.
fn free_address() -> SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(20_000);
    loop {
        let address = ([127, 0, 0, 1], NEXT.fetch_add(1, Ordering::Relaxed)).into();
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}

fn start(folder: &Path, settings: &[(&str, &str)]) -> Served {
    let metrics = free_address().to_string();
    let mut all = vec![
        ("LISTEN", "127.0.0.1:0"),
        ("METRICS__LISTEN", metrics.as_str()),
        ("PLANS__PRO__PER_MINUTE", "60000"),
        ("PLANS__PRO__BURST", "1000"),
        ("RATE_LIMIT__PER_MINUTE", "60000"),
    ];
    all.extend(settings);
    let mut command = sightline(folder, &["serve"], &all);
    // Nobody reads the log, and a full pipe would block the service.
    command.stderr(Stdio::null());
    Served { process: Running::start(command), metrics: format!("http://{metrics}/metrics") }
}

impl Served {
    fn url(&self) -> &str {
        &self.process.url
    }
}

impl Target {
    /// A service with demo people and the simulated search engine.
    pub async fn with_own_issuer() -> Self {
        let folder = TempDir::new().unwrap();
        let settings = [("SIMULATOR__LATENCY_MS", "20"), ("RATE_LIMIT__TRUSTED_PROXIES", "127.0.2.1")];
        let running = start(folder.path(), &settings);
        let (honest, tenant) =
            (Actor::signed_in(running.url(), "owner").await, Actor::signed_in(running.url(), "stranger").await);
        let (own, property) = (honest.property("northmoor").await, tenant.property("").await);
        let link =
            honest.post(&format!("/api/properties/{own}/share-links"), &json!({ "name": "Board" })).await.expect(201);
        let share_token = link.json["data"]["token"].as_str().unwrap().to_owned();
        Self::of(running, honest, tenant, (property, share_token), (None, vec![folder]))
    }

    /// A service whose issuer is a separate process.
    pub async fn with_external_issuer() -> Self {
        let (folder, elsewhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let issuer = start(elsewhere.path(), &[]).process;
        let settings = [("IDENTITY__ISSUER", issuer.url.as_str()), ("IDENTITY__AUDIENCE", issuer.url.as_str())];
        let running = start(folder.path(), &settings);
        let token = Actor::signed_in(&issuer.url, "owner").await;
        let honest = Actor::with_token(running.url(), token.token());
        honest.get("/api/properties").await.expect(200);
        let tenant = honest.clone();
        Self::of(running, honest, tenant, Default::default(), (Some(issuer), vec![folder, elsewhere]))
    }

    fn of(
        running: Served,
        honest: Actor,
        tenant: Actor,
        (property, share_token): (String, String),
        (issuer, folders): (Option<Running>, Vec<TempDir>),
    ) -> Self {
        let url = running.url().to_owned();
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
        let (before, long_polls, cached) = (self.memory(), self.long_polls().await, self.cached().await);
        let (peak, not_served) = (AtomicU64::new(before), AtomicUsize::new(0));
        let mut latencies = Vec::new();
        let honest = async {
            loop {
                let start = Instant::now();
                let is_served = self.is_served(attack.honest()).await;
                latencies.push(start.elapsed());
                not_served.fetch_add(usize::from(!is_served), Ordering::Relaxed);
                peak.fetch_max(self.memory(), Ordering::Relaxed);
                tokio::time::sleep(PACE).await;
            }
        };
        let refused = tokio::select! {
            refused = attack.run(self, scale) => refused,
            () = honest => unreachable!("an honest person never stops"),
        };
        self.used_for(attack.honest(), scale.length).await;
        latencies.sort_unstable();
        let p99 = latencies.get((latencies.len() * 99).div_ceil(100).saturating_sub(1)).copied().unwrap_or_default();
        let (peak, not_served) = (peak.into_inner(), not_served.into_inner());
        Outcome {
            attack,
            honest: latencies.len(),
            not_served,
            p99,
            long_polls: self.long_polls().await - long_polls,
            refused,
            before,
            peak,
            after: self.memory(),
            cached: [cached, self.cached().await],
        }
    }

    /// Sends honest requests for a while. A thread returns memory when it works again.
    async fn used_for(&self, honest: Honest, length: Duration) {
        let end = Instant::now() + length;
        while Instant::now() < end {
            self.is_served(honest).await;
            tokio::time::sleep(PACE).await;
        }
    }

    /// Sends an honest request and returns whether it was served.
    async fn is_served(&self, honest: Honest) -> bool {
        match honest {
            Honest::Reads => self.honest.get("/api/properties").await.status == 200,
            Honest::Writes => {
                // The end of an attack may leave a tag behind, so each has its own name.
                static WRITES: AtomicU64 = AtomicU64::new(0);
                let name = format!("honest {}", WRITES.fetch_add(1, Ordering::Relaxed));
                let made = self.honest.post("/api/tags", &json!({ "name": name })).await;
                let Some(id) = made.json["data"]["id"].as_str() else { return false };
                self.honest.delete(&format!("/api/tags/{id}")).await.status == 204
            }
            Honest::NewConnections => {
                let http = from([127, 0, 4, 1]);
                let answer = http.get(format!("{}/api/health", self.url)).send().await;
                answer.is_ok_and(|answer| answer.status() == 200)
            }
        }
    }

    /// The number of polls of the service that took more than 5 ms.
    async fn long_polls(&self) -> u64 {
        self.metric("sightline_long_polls_total ").await
    }

    /// The memory that caches hold, in megabytes.
    async fn cached(&self) -> u64 {
        self.metric("sightline_cache_bytes{").await / 1024 / 1024
    }

    /// The sum of the metrics whose lines begin so.
    async fn metric(&self, start: &str) -> u64 {
        let text = from([127, 0, 0, 1]).get(&self.running.metrics).send().await.unwrap().whole_text().await.unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with(start)).collect();
        assert!(!lines.is_empty(), "no metric begins with {start}: {text}");
        lines.into_iter().map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    }

    /// Resident memory in megabytes.
    fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.running.process.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()).unwrap_or_default() / 1024
    }
}

impl Outcome {
    /// A table with one row per result.
    pub fn table(outcomes: &[Self]) -> String {
        let mut table = String::from(
            "\n| attack | honest requests | not served | honest p99 (aim: below 250 ms) | polls over 5 ms | refused | memory before, most, after (cached before, after) |\n\
             | --- | --- | --- | --- | --- | --- | --- |\n",
        );
        for one in outcomes {
            let p99 = one.p99.as_millis();
            let _ = writeln!(
                table,
                "| {} | {} | {} | {p99} ms | {} | {} | {}, {}, {} ({}, {}) MB |",
                one.attack.name(),
                one.honest,
                one.not_served,
                one.long_polls,
                one.refused,
                one.before,
                one.peak,
                one.after,
                one.cached[0],
                one.cached[1]
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
