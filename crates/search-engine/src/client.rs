//! The client: typed requests, paced by site and account, retried according to the error's reason, within a deadline.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use common::{
    bounded::{self, Unread},
    clock::Clock,
    compute::beside,
    plain_text::is_line,
    random::Random,
    waiting,
};
use replicas::Shared;
use reqwest::StatusCode;
use secrecy::ExposeSecret as _;
use telemetry::{
    pace::PaceMeter,
    traces::Span,
    upstream::{UpstreamMeter, UpstreamOutcome},
};
use uuid::Uuid;

use super::{
    access::AccessTokens,
    answer::{self, QueryResponse, Read, SiteEntry},
    breaker::Breakers,
    error::SearchEngineError,
    failure::{Failure, Verdict, judge},
    oauth::Oauth,
    outcomes::LastOutcomes,
    pace::{Asker, Lane, Pacer, Permit, TooLate},
    record::Records,
    refusal::RefusedSite,
    settings::{Account, Grants, Settings},
    trouble::Trouble,
    wire::{QueryRequest, SiteUrl},
};

/// The maximum number of rows that one request may ask for.
const PAGE: usize = 25_000;

/// The most bytes of an answer: 25,000 rows of the longest keys.
const MOST_BYTES: usize = 64 << 20;

/// Reading ahead takes this fraction (1/n) of the pace and of the quotas. One replica at a time does it.
const AHEAD: u32 = 3;

/// The pause of reading ahead while people wait.
const PEOPLE_FIRST: Duration = Duration::from_secs(1);

/// The time after which a request is worth sending again that had no turn.
const TURN_RETRY: Duration = Duration::from_secs(5);

/// The client of the search engine.
pub struct SearchEngine {
    pub(super) settings: Settings,
    http: reqwest::Client,
    access: AccessTokens,
    pub(super) pacer: Pacer,
    /// The part of the pace that reading ahead may take.
    ahead: Pacer,
    breakers: Breakers,
    pub(super) records: Records,
    meter: UpstreamMeter,
    clock: Clock,
    random: Random,
    pub(super) grants: Arc<dyn Grants>,
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
        let breakers = |host| Breakers::new(host, clock.clone(), settings.patience.probe);
        let (oauth, meter) = (Oauth::new(settings.oauth.clone(), http.clone()), UpstreamMeter::default());
        Self {
            access: AccessTokens::new(oauth, breakers("token endpoint"), meter.clone(), clock.clone(), grants.clone()),
            breakers: breakers("API"),
            pacer: Pacer::new(settings.pace, shared.map(Shared::gates)),
            ahead: Pacer::new(settings.pace.divided_by(AHEAD), None),
            records: Records::sharing(shared.map(|shared| shared.notices("accounts")), clock.clone()),
            meter,
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
        self.access.oauth()
    }

    /// The metrics of requests to the search engine's API.
    #[must_use]
    pub fn meter(&self) -> &UpstreamMeter {
        &self.meter
    }

    /// The metrics of the wait for the pace.
    #[must_use]
    pub fn pace_meter(&self) -> &PaceMeter {
        self.pacer.meter()
    }

    /// Returns the share of what may be sent at once that is used up, of the account, the site and this service's own quotas with the
    /// largest share. 1 means that requests wait.
    #[must_use]
    pub fn quota_used(&self) -> [(&'static str, f64); 4] {
        self.pacer.used()
    }

    /// The sites of an account, unverified ones included. A name with control characters names no site.
    pub async fn sites(&self, account: &Account) -> Result<Vec<SiteEntry>, SearchEngineError> {
        let url = format!("{}/webmasters/v3/sites", self.settings.api_url);
        let sites = self.send(account, None, || self.http.get(&url), answer::sites).await?;
        let named = |site: &SiteEntry| is_line(&site.site_url) && is_line(&site.permission_level);
        Ok(sites.into_iter().filter(named).collect())
    }

    /// Clears the pause of a refused site, because the search engine lists it for the account.
    pub fn is_listed(&self, account: Uuid, site: &SiteUrl) {
        self.records.allow(account, site);
    }

    /// Returns the refusal of a site, if it was refused to the account when it was last asked about.
    #[must_use]
    pub fn refused(&self, account: Uuid, site: &SiteUrl) -> Option<RefusedSite> {
        self.records.refusal(account, site)
    }

    /// Returns the account's last trouble, if no request has succeeded since.
    #[must_use]
    pub fn trouble(&self, account: Uuid) -> Option<Trouble> {
        self.records.trouble(account)
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
        self.access.drop_account(account);
        self.records.forget(account);
    }

    /// All rows of a query up to `cap`, fetched page by page, with the other parts of the last page.
    pub(super) async fn pages(
        &self,
        account: &Account,
        site: &SiteUrl,
        asker: Asker,
        request: &QueryRequest,
        cap: usize,
    ) -> Result<QueryResponse, SearchEngineError> {
        let url = format!("{}/webmasters/v3/sites/{}/searchAnalytics/query", self.settings.api_url, site.segment());
        let (mut whole, mut start_row) = (QueryResponse::default(), 0);
        loop {
            let row_limit = PAGE.min(cap - start_row);
            let query = Arc::new(QueryRequest { row_limit, start_row, ..request.clone() });
            let expected = query.clone();
            let read = move |body: &[u8]| answer::rows(body, &expected);
            self.wait_ahead(account, site, asker).await;
            let mut page = self.send(account, Some((site, asker)), || self.http.post(&url).json(&*query), read).await?;
            let came = page.rows.len();
            answer::leave_out_repeated(&whole.rows, &mut page.rows);
            if came > 0 && page.rows.is_empty() {
                return Err(SearchEngineError::unavailable("a page has only rows of the pages before it"));
            }
            whole.rows.append(&mut page.rows);
            page.rows = std::mem::take(&mut whole.rows);
            whole = page;
            start_row += came;
            if came < row_limit || start_row >= cap {
                return Ok(whole);
            }
        }
    }

    /// Waits until a request that reads ahead may start. The time does not count for its deadline.
    async fn wait_ahead(&self, account: &Account, site: &SiteUrl, asker: Asker) {
        if asker.lane != Lane::Ahead {
            return;
        }
        let never = tokio::time::Instant::now() + Duration::from_hours(24);
        // Cannot be too late, because nobody waits. What it counts in flight ends here: the site's own gate counts it.
        drop(self.ahead.start(account.id, site, asker, never).await);
        while self.pacer.people_wait() {
            tokio::time::sleep(PEOPLE_FIRST).await;
        }
    }

    /// Returns whether the API answers without a fault, or `None` if it does not answer at all. A 401 for missing credentials is no
    /// fault.
    pub async fn is_well(&self) -> Option<bool> {
        let url = format!("{}/webmasters/v3/sites", self.settings.api_url);
        let answer = self.http.get(url).timeout(Duration::from_secs(2)).send().await;
        Some(!answer.ok()?.status().is_server_error())
    }

    /// Sends a request until it is settled. `read` reads a body with a good status. What it refuses counts as an error of the search engine.
    async fn send<T: Send + 'static>(
        &self,
        account: &Account,
        site: Option<(&SiteUrl, Asker)>,
        request: impl Fn() -> reqwest::RequestBuilder + Send + Sync,
        read: impl Read<T>,
    ) -> Result<T, SearchEngineError> {
        let deadline = tokio::time::Instant::now() + self.settings.patience.deadline;
        let tries = self.try_until_settled(account, site, request, read, deadline);
        let span = Span::part(names(site.is_some()).0);
        let outcome = span.around(tokio::time::timeout_at(deadline, tries)).await;
        let outcome = outcome.unwrap_or_else(|_| Err(SearchEngineError::unavailable("the deadline passed")));
        span.fail_if(outcome.is_err());
        match &outcome {
            Err(SearchEngineError::NotSent { .. }) => {}
            Err(error @ SearchEngineError::Shut { .. }) => self.records.note_trouble(account.id, site.is_some(), error),
            outcome => self.records.note(account.id, site.is_some(), outcome.as_ref().err()),
        }
        outcome
    }

    async fn try_until_settled<T: Send + 'static>(
        &self,
        account: &Account,
        site: Option<(&SiteUrl, Asker)>,
        request: impl Fn() -> reqwest::RequestBuilder + Send + Sync,
        read: impl Read<T>,
        deadline: tokio::time::Instant,
    ) -> Result<T, SearchEngineError> {
        let (mut backoff, mut refreshed, mut sent) = (self.settings.patience.first_backoff, false, 0);
        loop {
            let token = self.access.token(account).await;
            let answer = match &token {
                Ok(token) => {
                    let request = request().bearer_auth(token.expose_secret());
                    self.attempt(account, site, request, deadline, &read, sent).await
                }
                Err(error) => Err(error.clone().into()),
            };
            sent += 1;
            let Failure { verdict, over_quota: quota } = match answer {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let (wait, said) = match (verdict, token) {
                (Verdict::Fail(error), _) => return Err(error),
                (Verdict::Refresh(_), Ok(token)) if !refreshed => {
                    refreshed = true;
                    self.access.drop_token(account, &token).await;
                    continue;
                }
                (Verdict::Refresh(said), _) => return Err(SearchEngineError::Disconnected(said)),
                // With no seconds to wait, one request would follow the other.
                (Verdict::Retry(after, said), _) => (after.unwrap_or_default().max(self.jittered(backoff)), said),
            };
            if !quota {
                let trouble = SearchEngineError::unavailable(said.clone());
                self.records.note_trouble(account.id, site.is_some(), &trouble);
            }
            if tokio::time::Instant::now() + wait >= deadline {
                return Err(SearchEngineError::Unavailable {
                    retry_after: wait.max(Duration::from_secs(1)),
                    quota,
                    detail: said,
                });
            }
            tracing::debug!(?wait, said, "the search engine is asked again");
            tokio::select! {
                biased;
                retry_after = self.breakers.refusal(site.map(|(site, _)| site)) => {
                    return Err(SearchEngineError::Unavailable { retry_after, quota: false, detail: said });
                }
                () = tokio::time::sleep(wait) => {}
            }
            backoff = (backoff * 2).min(self.settings.patience.longest_backoff);
        }
    }

    /// A random duration between half and all of `backoff`, so that clients do not retry at the same time.
    fn jittered(&self, backoff: Duration) -> Duration {
        backoff.mul_f64(0.5 + self.random.unit() / 2.0)
    }

    /// Waits until a request about a site may start.
    ///
    /// # Errors
    /// [`SearchEngineError::NotSent`] at the deadline, or at once if its turn comes later, and [`SearchEngineError::Shut`] while the search engine fails.
    async fn turn(
        &self,
        account: &Account,
        (site, asker): (&SiteUrl, Asker),
        deadline: tokio::time::Instant,
    ) -> Result<Permit, SearchEngineError> {
        let begun = tokio::time::Instant::now();
        let turn = tokio::time::timeout_at(deadline, self.pacer.start(account.id, site, asker, deadline));
        let turn = tokio::select! {
            biased;
            retry_after = self.breakers.refusal(Some(site)) => return Err(SearchEngineError::Shut { retry_after }),
            turn = turn => turn,
        };
        let at_deadline = || Err(TooLate { retry_after: self.pacer.quota_wait().max(TURN_RETRY), of_quota: false });
        turn.unwrap_or_else(|_| at_deadline()).map_err(|TooLate { retry_after, of_quota }| {
            self.pacer.meter().refuse(if of_quota { "quota" } else { "late" });
            SearchEngineError::NotSent { waited: begun.elapsed(), retry_after, of_quota }
        })
    }

    /// Makes one attempt when the pace permits it, and reports the outcome to the pace.
    async fn attempt<T: Send + 'static>(
        &self,
        account: &Account,
        site: Option<(&SiteUrl, Asker)>,
        request: reqwest::RequestBuilder,
        deadline: tokio::time::Instant,
        read: &impl Read<T>,
        sent: u32,
    ) -> Result<T, Failure> {
        let permit = match site {
            Some(site) => Some(self.turn(account, site, deadline).await?),
            None => None,
        };
        let pass = self.breakers.pass(site.map(|(site, _)| site)).await;
        let pass = pass.map_err(|retry_after| SearchEngineError::Shut { retry_after })?;
        let start = tokio::time::Instant::now();
        let span = Span::attempt(names(site.is_some()).1, sent);
        let body = span.around(self.answer(request, &span)).await;
        let took = start.elapsed();
        let answer = match body {
            Ok(body) => {
                let read = read.clone();
                // Thousands of rows are megabytes of JSON.
                let read = beside(move || read(&body)).await;
                let read = read.map_err(|error| Failure::from(Verdict::Retry(None, error.to_string())));
                read.and_then(|answer| answer.map_err(|error| Verdict::Retry(None, error.to_string()).into()))
            }
            Err(failure) => Err(failure),
        };
        let outcome = answer.as_ref().map_or_else(Failure::outcome, |_| UpstreamOutcome::Ok);
        self.meter.note(outcome, took);
        span.ended(outcome.name(), outcome == UpstreamOutcome::Ok);
        pass.note(outcome == UpstreamOutcome::Failed);
        match (&permit, &answer) {
            (Some(permit), Ok(_)) => permit.accepted(),
            (Some(permit), Err(failure)) if failure.over_quota => permit.refused(),
            _ => {}
        }
        answer
    }

    /// The body of a successful response.
    async fn answer(&self, request: reqwest::RequestBuilder, span: &Span) -> Result<Bytes, Failure> {
        let lost = |error: reqwest::Error| Failure::from(Verdict::Retry(None, error.without_url().to_string()));
        let answer = request.timeout(self.settings.patience.attempt).send().await.map_err(lost)?;
        let status = answer.status();
        span.status(status.as_u16());
        let retry_after = waiting::time(answer.headers(), self.clock.now());
        // Others hold a part of an answer, or one that a proxy has changed.
        let is_whole = status == StatusCode::OK;
        let most = if is_whole { MOST_BYTES } else { bounded::DOCUMENT };
        match bounded::bytes(answer, most).await {
            Ok(body) if is_whole => Ok(body),
            Ok(body) => Err(judge(status.as_u16(), retry_after, &body)),
            // It would be as long the next time.
            Err(error @ Unread::TooLong(_)) => {
                Err(Verdict::Fail(SearchEngineError::unavailable(error.to_string())).into())
            }
            Err(error) => Err(Verdict::Retry(None, error.to_string()).into()),
        }
    }
}

/// The names of two spans: of a question with all its attempts, and of one attempt.
fn names(is_query: bool) -> (&'static str, &'static str) {
    if is_query { ("search engine query", "POST searchAnalytics/query") } else { ("search engine sites", "GET sites") }
}
