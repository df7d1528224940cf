//! What is measured: a service in this process, the simulated search engine in a process of its own.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use chrono::{Days, NaiveDate};
use entity::property;
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};
use sightline::{
    app::{self, Service},
    cli::login::login,
    clock::Clock,
    config::{Bytes, Config},
    random::Random,
};
use tempfile::TempDir;

use crate::Measured;

/// The property with more than 5,000 queries and 5,000 pages in four weeks.
pub const LARGE: &str = "sc-domain:harbourpost.example";

/// A property of middling size.
pub const MIDDLING: &str = "https://www.ledgerline.example/";

/// `sightline simulator` as a child; it ends with this value.
pub struct Engine {
    /// Its root.
    pub url: String,
    child: Child,
}

impl Engine {
    /// Starts one that holds every answer back by `latency_ms`.
    pub fn start(latency_ms: u32) -> Measured<Self> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sightline"))
            .args(["simulator", "--listen", "127.0.0.1:0", "--latency-ms", &latency_ms.to_string()])
            .env("RUST_LOG", "warn")
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let url = line.trim().strip_prefix("listening on ").unwrap_or_default().to_owned();
        let engine = Self { url, child };
        if engine.url.is_empty() { Err("the simulated search engine did not start".into()) } else { Ok(engine) }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A running service with one signed-in person and the property they ask about.
pub struct Setting {
    /// The service.
    pub service: Service,
    /// The owner's access token.
    pub token: String,
    /// The property.
    pub property: property::Model,
    http: reqwest::Client,
    _data: TempDir,
}

impl Setting {
    /// A service before `engine` with a cache of `max_bytes`; rate limits are off, and `change` has the last word.
    pub async fn start(engine: &Engine, site: &str, change: impl FnOnce(&mut Config)) -> Measured<Self> {
        let data = TempDir::new()?;
        let mut config = Config { listen: ([127, 0, 0, 1], 0).into(), ..Config::default() };
        config.data_dir = data.path().display().to_string();
        config.rate_limit.enabled = false;
        config.identity.demo_sign_in = Some(true);
        let at = |path: &str| Some(format!("{}{path}", engine.url));
        config.search_engine.api_url = at("");
        config.search_engine.authorize_url = at("/o/oauth2/v2/auth");
        config.search_engine.token_url = at("/token");
        config.search_engine.revoke_url = at("/revoke");
        config.search_engine.userinfo_url = at("/userinfo");
        change(&mut config);
        let service = app::start(config, Clock::system(), Random::system()).await?;
        let token = login(&service.base_url, "owner", app::http_client()?, &Random::system()).await?;
        let listed = property::Entity::find().filter(property::Column::SiteUrl.eq(site)).one(&service.db).await?;
        let property = listed.ok_or("the property is missing")?;
        Ok(Self { service, token, property, http: app::http_client()?, _data: data })
    }

    /// The whole answer of the property: every table with up to 5,000 rows.
    pub fn path(&self, (start, end): (NaiveDate, NaiveDate)) -> String {
        let id = self.property.id;
        format!(
            "/api/properties/{id}/performance?scope=all&queryLimit=5000&pageLimit=5000&startDate={start}&endDate={end}"
        )
    }

    /// The body of the answer to `GET path`, uncompressed.
    pub async fn get(&self, path: &str) -> Measured<bytes::Bytes> {
        let request = self.http.get(format!("{}{path}", self.service.base_url)).bearer_auth(&self.token);
        let answer = request.header("accept-encoding", "identity").send().await?.error_for_status()?;
        Ok(answer.bytes().await?)
    }
}

/// `days` days that end `back` days before the last day that is surely final.
pub fn window(back: u64, days: u64) -> (NaiveDate, NaiveDate) {
    let end = Clock::system().pacific_today() - Days::new(5 + back);
    (end - Days::new(days - 1), end)
}

/// The cache's budget where it is to bind.
pub fn small_cache(config: &mut Config, max_bytes: u64) {
    config.cache.max_bytes = Bytes(max_bytes);
}
