//! The measured system: the service and the simulated search engine, each in its own process.

use std::path::PathBuf;

use chrono::{Days, NaiveDate};
use common::{bounded, clock::Clock, random::Random};
use serde_json::Value;
use sightline::{
    app,
    cli::remote::login::{EVERYTHING, login},
};
use tempfile::TempDir;

use crate::{
    Measured,
    child::{Server, sightline},
};

/// The property with more than 5,000 queries and 5,000 pages in four weeks.
pub const LARGE: &str = "sc-domain:harbourpost.example";

/// A property of medium size.
pub const MIDDLING: &str = "https://www.ledgerline.example/";

/// Longer than any answer, in bytes.
const LONG: usize = 1 << 30;

/// `sightline simulator` as a child.
pub struct Engine {
    /// Root URL of the search engine.
    pub url: String,
    _server: Server,
}

impl Engine {
    /// Starts a search engine that delays every answer by `latency_ms`.
    pub fn start(latency_ms: u32) -> Measured<Self> {
        let latency = latency_ms.to_string();
        let server =
            Server::start(sightline().args(["simulator", "--listen", "127.0.0.1:0", "--latency-ms", &latency]))?;
        Ok(Self { url: server.url.clone(), _server: server })
    }
}

/// A running service with one signed-in user and the property they ask about.
pub struct Setting {
    /// The service.
    pub server: Server,
    /// The owner's access token.
    pub token: String,
    /// The property.
    pub property: String,
    settings: Vec<(String, String)>,
    http: reqwest::Client,
    data: TempDir,
}

impl Setting {
    /// Starts a service in front of `engine`, without rate limits unless `settings` have them.
    pub async fn start(engine: &Engine, site: &str, settings: &[(&str, &str)]) -> Measured<Self> {
        let (data, http) = (TempDir::new()?, app::http_client()?);
        let settings: Vec<_> = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let server = serve(engine, &data, &settings)?;
        let token = login(&server.url, "owner", EVERYTHING, http.clone(), &Random::system()).await?;
        let mut setting = Self { server, token, property: String::new(), settings, http, data };
        let listed: Value = serde_json::from_slice(&setting.get("/api/properties").await?)?;
        let mut properties = listed["data"].as_array().into_iter().flatten();
        let property = properties.find(|property| property["siteUrl"] == site).ok_or("the property is missing")?;
        setting.property = property["id"].as_str().unwrap_or_default().to_owned();
        Ok(setting)
    }

    /// Restarts the same service.
    pub fn restart(self, engine: &Engine) -> Measured<Self> {
        let Self { server, token, property, settings, http, data } = self;
        drop(server);
        Ok(Self { server: serve(engine, &data, &settings)?, token, property, settings, http, data })
    }

    /// Path of its database file.
    pub fn database(&self) -> PathBuf {
        self.data.path().join("sightline.db")
    }

    /// Path of the property's largest answer: every table with up to 5,000 rows.
    pub fn path(&self, (start, end): (NaiveDate, NaiveDate)) -> String {
        let id = &self.property;
        format!(
            "/api/properties/{id}/performance?scope=all&queryLimit=5000&pageLimit=5000&startDate={start}&endDate={end}"
        )
    }

    /// The body of the answer to `GET path`, uncompressed.
    pub async fn get(&self, path: &str) -> Measured<bytes::Bytes> {
        let request = self.http.get(format!("{}{path}", self.server.url)).bearer_auth(&self.token);
        let answer = request.header("accept-encoding", "identity").send().await?.error_for_status()?;
        Ok(bounded::bytes(answer, LONG).await?)
    }

    /// Signs the owner in with a browser, and returns the session's cookie.
    pub async fn session(&self) -> Measured<String> {
        let cookie = |answer: &reqwest::Response, name: &str| {
            let mut lines = answer.headers().get_all("set-cookie").iter().filter_map(|line| line.to_str().ok());
            let line = lines.find(|line| line.starts_with(name)).ok_or("a cookie is missing")?;
            Measured::Ok(line.split(';').next().unwrap_or_default().to_owned())
        };
        let next = |answer: &reqwest::Response| {
            let to = answer.headers().get("location").ok_or("a redirect is missing")?;
            Measured::Ok(to.to_str()?.to_owned())
        };
        let login = format!("{}/auth/login?login_hint=owner&return_to=/account", self.server.url);
        let begun = self.http.get(login).send().await?;
        let issuer = self.http.get(next(&begun)?).send().await?;
        let back = self.http.get(next(&issuer)?).header("cookie", cookie(&begun, "sightline_attempt")?);
        cookie(&back.send().await?, "sightline_session")
    }

    /// The page at a path for the browser with this cookie, uncompressed.
    pub async fn page(&self, path: &str, cookie: &str) -> Measured<bytes::Bytes> {
        let request = self.http.get(format!("{}{path}", self.server.url)).header("cookie", cookie);
        let request = request.header("accept", "text/html").header("accept-encoding", "identity");
        Ok(bounded::bytes(request.send().await?.error_for_status()?, LONG).await?)
    }

    /// The body of the tool endpoint's answer to `message`, sent with `headers`, uncompressed.
    pub async fn call(&self, headers: &[(&str, &str)], message: &Value) -> Measured<bytes::Bytes> {
        let request = self.http.post(format!("{}/mcp", self.server.url)).bearer_auth(&self.token);
        let request = request.header("content-type", "application/json").header("accept-encoding", "identity");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let answer = request.body(message.to_string()).send().await?.error_for_status()?;
        Ok(bounded::bytes(answer, LONG).await?)
    }

    /// Posts a body. Fails unless it is accepted.
    pub async fn post(&self, path: &str, body: &Value) -> Measured<()> {
        let request = self.http.post(format!("{}{path}", self.server.url)).bearer_auth(&self.token);
        let request = request.header("content-type", "application/json").body(body.to_string());
        request.send().await?.error_for_status()?;
        Ok(())
    }
}

fn serve(engine: &Engine, data: &TempDir, settings: &[(String, String)]) -> Measured<Server> {
    let mut command = sightline();
    command.arg("serve").current_dir(data.path());
    let at = |path: &str| format!("{}{path}", engine.url);
    let own = [
        ("LISTEN", "127.0.0.1:0".to_owned()),
        ("DATA_DIR", data.path().display().to_string()),
        ("RATE_LIMIT__ENABLED", "false".to_owned()),
        ("IDENTITY__DEMO_SIGN_IN", "true".to_owned()),
        ("SEARCH_ENGINE__API_URL", at("")),
        ("SEARCH_ENGINE__AUTHORIZE_URL", at("/o/oauth2/v2/auth")),
        ("SEARCH_ENGINE__TOKEN_URL", at("/token")),
        ("SEARCH_ENGINE__REVOKE_URL", at("/revoke")),
        ("SEARCH_ENGINE__USERINFO_URL", at("/userinfo")),
    ];
    command.envs(own.iter().map(|(name, value)| (format!("SIGHTLINE_{name}"), value)));
    command.envs(settings.iter().map(|(name, value)| (format!("SIGHTLINE_{name}"), value)));
    Server::start(&mut command)
}

/// A window of `days` days that ends `back` days before the last day that is certainly final.
pub fn window(back: u64, days: u64) -> (NaiveDate, NaiveDate) {
    let end = Clock::system().pacific_today() - Days::new(5 + back);
    (end - Days::new(days - 1), end)
}
