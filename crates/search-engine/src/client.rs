//! The client: typed requests, paced by site and account, retried according to the error's reason, within a deadline.
//! Concurrent requests share one refresh of the access token.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use common::{clock::Clock, compute::beside, plain_text::is_line, random::Random};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use shared::Shared;
use telemetry::upstream::{UpstreamMeter, UpstreamOutcome};
use tokio::sync::OwnedMutexGuard;
use uuid::Uuid;

use super::{
    error::SearchEngineError,
    failure::{Failure, Verdict, judge},
    oauth::Oauth,
    outcomes::LastOutcomes,
    pace::{Asker, Pacer},
    record::Records,
    refusal::RefusedSite,
    settings::{Account, Grants, Settings},
    trouble::Trouble,
    wire::{QueryRequest, QueryResponse, SiteEntry, SiteList, SiteUrl},
};

/// The maximum number of rows that one request may ask for.
const PAGE: usize = 25_000;

/// The longest time to wait that the search engine is believed, in seconds.
const LONGEST_WAIT: u64 = 3_600;

/// The longest lifetime of an access token that it is believed, in seconds.
const LONGEST_LIFE: u64 = 24 * 3_600;

/// An access token is not used this shortly before it expires.
const TOKEN_MARGIN: TimeDelta = TimeDelta::seconds(30);

struct AccessToken {
    value: SecretString,
    expires_at: DateTime<Utc>,
    /// The time of the connection that granted it.
    connected_at: DateTime<Utc>,
}

/// The known tokens of an account.
#[derive(Default)]
struct Tokens {
    current: Option<AccessToken>,
    /// The connection whose grant was refused, and the error text. The grant is not presented again.
    refused: Option<(DateTime<Utc>, String)>,
}

type TokenSlot = Arc<tokio::sync::Mutex<Tokens>>;

/// The client of the search engine.
pub struct SearchEngine {
    settings: Settings,
    http: reqwest::Client,
    oauth: Oauth,
    pub(super) pacer: Pacer,
    tokens: Mutex<HashMap<Uuid, TokenSlot>>,
    records: Records,
    meter: UpstreamMeter,
    clock: Clock,
    random: Random,
    grants: Arc<dyn Grants>,
}

impl SearchEngine {
    /// Creates the client. Sends no request. Replicas that share keep its pace together, and tell each other of refusals and troubles.
    #[must_use]
    pub fn new(
        settings: Settings,
        http: reqwest::Client,
        clock: Clock,
        random: Random,
        grants: Arc<dyn Grants>,
        shared: Option<&Shared>,
    ) -> Self {
        Self {
            oauth: Oauth::new(settings.oauth.clone(), http.clone()),
            pacer: Pacer::new(settings.pace, shared.map(Shared::gates)),
            tokens: Mutex::default(),
            records: Records::sharing(shared.map(|shared| shared.news("accounts"))),
            meter: UpstreamMeter::default(),
            settings,
            http,
            clock,
            random,
            grants,
        }
    }

    /// The OAuth endpoints.
    #[must_use]
    pub fn oauth(&self) -> &Oauth {
        &self.oauth
    }

    /// The metrics of requests to the search engine's API.
    #[must_use]
    pub fn meter(&self) -> &UpstreamMeter {
        &self.meter
    }

    /// The sites of an account, unverified ones included. A name with control characters names no site.
    pub async fn sites(&self, account: &Account) -> Result<Vec<SiteEntry>, SearchEngineError> {
        let url = format!("{}/webmasters/v3/sites", self.settings.api_url);
        let list: SiteList = self.send(account, None, || self.http.get(&url)).await?;
        let named = |site: &SiteEntry| is_line(&site.site_url) && is_line(&site.permission_level);
        Ok(list.site_entry.into_iter().filter(named).collect())
    }

    /// Clears the pause of a refused site, because the search engine lists it for the account.
    pub fn is_listed(&self, account: Uuid, site: &SiteUrl) {
        self.records.allow(account, site, self.clock.now());
    }

    /// Returns the refusal of a site, if it was refused to the account when it was last asked about.
    #[must_use]
    pub fn refused(&self, account: Uuid, site: &SiteUrl) -> Option<RefusedSite> {
        self.records.refusal(account, site)
    }

    /// Returns the account's last trouble, if no request has succeeded since.
    #[must_use]
    pub fn trouble(&self, account: Uuid) -> Option<Trouble> {
        self.records.trouble(account, self.clock.now())
    }

    /// Returns how long this service's own quota lets no request pass.
    #[must_use]
    pub fn quota_wait(&self) -> Duration {
        self.pacer.quota_wait()
    }

    /// Returns the account's last success and last failure, as far as this replica knows them.
    #[must_use]
    pub fn last_outcomes(&self, account: Uuid) -> LastOutcomes {
        self.records.last(account)
    }

    /// Drops everything kept of an account: its access token, refused sites and troubles.
    pub fn forget_account(&self, account: Uuid) {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner).remove(&account);
        self.records.forget(account, self.clock.now());
    }

    /// All rows of a query up to `cap`, fetched page by page, with the other parts of the last page. A site that was refused
    /// is not asked again for a while.
    pub async fn query(
        &self,
        account: &Account,
        site: &SiteUrl,
        asker: Asker,
        request: &QueryRequest,
        cap: usize,
    ) -> Result<QueryResponse, SearchEngineError> {
        if let Some(refusal) = self.refused(account.id, site)
            && let Some(retry_after) = refusal.wait(self.clock.now())
        {
            let detail = "not asked again yet".to_owned();
            return Err(SearchEngineError::SiteRefused { since: refusal.since, retry_after, detail });
        }
        match self.pages(account, site, asker, request, cap).await {
            Err(SearchEngineError::PermissionLost(detail)) => {
                let now = self.clock.now();
                let refusal = self.records.refuse(account.id, site, now);
                let retry_after = refusal.wait(now).unwrap_or_default();
                Err(SearchEngineError::SiteRefused { since: refusal.since, retry_after, detail })
            }
            Ok(whole) => {
                self.records.allow(account.id, site, self.clock.now());
                Ok(whole)
            }
            failed => failed,
        }
    }

    async fn pages(
        &self,
        account: &Account,
        site: &SiteUrl,
        asker: Asker,
        request: &QueryRequest,
        cap: usize,
    ) -> Result<QueryResponse, SearchEngineError> {
        let url = format!("{}/webmasters/v3/sites/{}/searchAnalytics/query", self.settings.api_url, site.segment());
        let mut whole = QueryResponse::default();
        loop {
            let row_limit = PAGE.min(cap - whole.rows.len());
            let page_request = QueryRequest { row_limit, start_row: whole.rows.len(), ..request.clone() };
            let page: QueryResponse =
                self.send(account, Some((site, asker)), || self.http.post(&url).json(&page_request)).await?;
            let came = page.rows.len();
            let mut rows = whole.rows;
            rows.extend(page.rows);
            whole = QueryResponse { rows, ..page };
            if came < row_limit || whole.rows.len() >= cap {
                return Ok(whole);
            }
        }
    }

    /// Returns whether the API answers without a fault, or `None` if it does not answer at all. A 401 for missing credentials is no
    /// fault.
    pub async fn is_well(&self) -> Option<bool> {
        let url = format!("{}/webmasters/v3/sites", self.settings.api_url);
        let answer = self.http.get(url).timeout(Duration::from_secs(2)).send().await;
        Some(!answer.ok()?.status().is_server_error())
    }

    async fn send<T: DeserializeOwned + Send + 'static>(
        &self,
        account: &Account,
        site: Option<(&SiteUrl, Asker)>,
        request: impl Fn() -> reqwest::RequestBuilder + Send + Sync,
    ) -> Result<T, SearchEngineError> {
        let deadline = tokio::time::Instant::now() + self.settings.patience.deadline;
        let tries = self.try_until_settled(account, site, request, deadline);
        let outcome = tokio::time::timeout_at(deadline, tries)
            .await
            .unwrap_or_else(|_| Err(SearchEngineError::unavailable("the deadline passed")));
        self.records.note(account.id, site.is_some(), outcome.as_ref().err(), self.clock.now());
        outcome
    }

    async fn try_until_settled<T: DeserializeOwned + Send + 'static>(
        &self,
        account: &Account,
        site: Option<(&SiteUrl, Asker)>,
        request: impl Fn() -> reqwest::RequestBuilder + Send + Sync,
        deadline: tokio::time::Instant,
    ) -> Result<T, SearchEngineError> {
        let (mut backoff, mut refreshed) = (self.settings.patience.first_backoff, false);
        loop {
            let token = self.access_token(account).await;
            let answer = match &token {
                Ok(token) => self.attempt(account, site, request().bearer_auth(token.expose_secret())).await,
                Err(error) => Err(error.clone().into()),
            };
            let Failure { verdict, over_quota: quota } = match answer {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let (wait, said) = match (verdict, token) {
                (Verdict::Fail(error), _) => return Err(error),
                (Verdict::Refresh(_), Ok(token)) if !refreshed => {
                    refreshed = true;
                    self.forget(account, &token).await;
                    continue;
                }
                (Verdict::Refresh(said), _) => return Err(SearchEngineError::Disconnected(said)),
                (Verdict::Retry(after, said), _) => (after.unwrap_or_else(|| self.jittered(backoff)), said),
            };
            if !quota {
                let trouble = SearchEngineError::unavailable(said.clone());
                self.records.note_trouble(account.id, site.is_some(), &trouble, self.clock.now());
            }
            if tokio::time::Instant::now() + wait >= deadline {
                return Err(SearchEngineError::Unavailable {
                    retry_after: wait.max(Duration::from_secs(1)),
                    quota,
                    detail: said,
                });
            }
            tracing::debug!(?wait, said, "the search engine is asked again");
            tokio::time::sleep(wait).await;
            backoff = (backoff * 2).min(self.settings.patience.longest_backoff);
        }
    }

    /// A random duration between half and all of `backoff`, so that clients do not retry at the same time.
    fn jittered(&self, backoff: Duration) -> Duration {
        backoff.mul_f64(0.5 + self.random.unit() / 2.0)
    }

    /// Makes one attempt when the pace permits it, and reports the outcome to the pace.
    async fn attempt<T: DeserializeOwned + Send + 'static>(
        &self,
        account: &Account,
        site: Option<(&SiteUrl, Asker)>,
        request: reqwest::RequestBuilder,
    ) -> Result<T, Failure> {
        let permit = match site {
            Some((site, asker)) => Some(self.pacer.start(account.id, site, asker).await),
            None => None,
        };
        let start = tokio::time::Instant::now();
        let answer = self.answer(request).await;
        self.meter.note(answer.as_ref().map_or_else(Failure::outcome, |_| UpstreamOutcome::Ok), start.elapsed());
        match (&permit, &answer) {
            (Some(permit), Ok(_)) => permit.accepted(),
            (Some(permit), Err(failure)) if failure.over_quota => permit.refused(),
            _ => {}
        }
        let body = answer?;
        // Thousands of rows are megabytes of JSON.
        let parsed = beside(move || serde_json::from_slice(&body)).await;
        let parsed = parsed.map_err(|error| Failure::from(Verdict::Retry(None, error.to_string())))?;
        parsed.map_err(|error| Verdict::Retry(None, format!("unreadable answer: {error}")).into())
    }

    /// The body of a successful response.
    async fn answer(&self, request: reqwest::RequestBuilder) -> Result<Bytes, Failure> {
        let lost = |error: reqwest::Error| Failure::from(Verdict::Retry(None, error.without_url().to_string()));
        let answer = request.timeout(self.settings.patience.attempt).send().await.map_err(lost)?;
        let status = answer.status();
        let retry_after = answer.headers().get("retry-after").and_then(|v| v.to_str().ok()?.parse().ok());
        let retry_after = retry_after.map(|seconds: u64| Duration::from_secs(seconds.min(LONGEST_WAIT)));
        let body = answer.bytes().await.map_err(lost)?;
        if status.is_success() { Ok(body) } else { Err(judge(status.as_u16(), retry_after, &body)) }
    }

    /// Returns the account's access token. The first caller that finds it stale refreshes it while others wait. A token of a former
    /// connection is also stale, because the new grant may allow more.
    pub async fn access_token(&self, account: &Account) -> Result<SecretString, SearchEngineError> {
        let slot = self.slot(account.id);
        let held = slot.lock_owned().await;
        let usable = held.current.as_ref().filter(|token| {
            token.connected_at == account.connected_at && token.expires_at > self.clock.now() + TOKEN_MARGIN
        });
        if let Some(token) = usable {
            return Ok(token.value.clone());
        }
        if let Some((_, said)) = held.refused.as_ref().filter(|(connection, _)| *connection == account.connected_at) {
            return Err(SearchEngineError::Disconnected(said.clone()));
        }
        let refresh = Refresh {
            oauth: self.oauth.clone(),
            clock: self.clock.clone(),
            grants: self.grants.clone(),
            account: account.id,
            held,
        };
        // The caller may leave meanwhile, but a replaced refresh token has to be stored.
        let refreshed = tokio::spawn(refresh.run()).await;
        refreshed.unwrap_or_else(|error| Err(SearchEngineError::unavailable(format!("a refresh died: {error}"))))
    }

    /// Drops a refused access token, unless another request has already replaced it.
    async fn forget(&self, account: &Account, refused: &SecretString) {
        let slot = self.slot(account.id);
        let mut held = slot.lock().await;
        if held.current.as_ref().is_some_and(|token| token.value.expose_secret() == refused.expose_secret()) {
            held.current = None;
        }
    }

    fn slot(&self, account: Uuid) -> TokenSlot {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner).entry(account).or_default().clone()
    }
}

/// A refresh of an account's access token.
struct Refresh {
    oauth: Oauth,
    clock: Clock,
    grants: Arc<dyn Grants>,
    account: Uuid,
    held: OwnedMutexGuard<Tokens>,
}

impl Refresh {
    async fn run(self) -> Result<SecretString, SearchEngineError> {
        let Self { oauth, clock, grants, account, mut held } = self;
        let grant = grants.lock(account).await?;
        let connected_at = grant.account().connected_at;
        let answer = match oauth.refresh(&grant.account().refresh_token).await {
            Err(SearchEngineError::Disconnected(said)) => {
                *held = Tokens { current: None, refused: Some((connected_at, said.clone())) };
                return Err(SearchEngineError::Disconnected(said));
            }
            other => other?,
        };
        let lifetime = Duration::from_secs(answer.expires_in.unwrap_or(3_600).min(LONGEST_LIFE));
        let expires_at = clock.now() + lifetime;
        let current = AccessToken { value: answer.access_token.clone(), expires_at, connected_at };
        *held = Tokens { current: Some(current), refused: None };
        if let Some(replacement) = answer.refresh_token {
            grant.replace(replacement).await;
        }
        Ok(answer.access_token)
    }
}
