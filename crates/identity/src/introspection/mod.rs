//! Asks the issuer whether a token is still active (RFC 7662), so that a revocation there is felt here.
//!
//! A verdict counts for seconds. Requests with one token share one question. If the endpoint does not answer, the last verdict about
//! a token counts for a minute, and after that nothing is known of it.

mod endpoint;
mod statement;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cached::{Cached as _, stores::LruCache};
use chrono::TimeDelta;
use common::{
    clock::{Clock, Moment},
    single_flight::{SharedResult, SingleFlight},
};

use self::{
    endpoint::{Endpoint, Failure},
    statement::Verdict,
};
use super::{AccessToken, IssuerUnavailable, issuer::Issuer, reading::RETRY_INTERVAL};

/// Age up to which a verdict counts without a question.
const FRESH_FOR: TimeDelta = TimeDelta::seconds(10);
/// Age up to which a verdict counts while the endpoint does not answer.
const KEPT_FOR: TimeDelta = TimeDelta::seconds(60);
/// Maximum number of tokens with a verdict. The least recently used is dropped first.
const MAX_KNOWN: usize = 4_096;

/// The key of a token: the SHA-256 of its text.
type Digest = [u8; 32];

/// The introspection of the tokens of one issuer.
#[derive(Clone)]
pub struct Introspection {
    endpoint: Arc<Endpoint>,
    clock: Clock,
    state: Arc<Mutex<State>>,
    questions: SingleFlight<Digest, Verdict, IssuerUnavailable>,
}

struct State {
    known: LruCache<Digest, Known>,
    /// The last time at which the endpoint was away.
    away: Option<Failed>,
}

/// The last verdict about a token, and the last failure to get one.
#[derive(Clone, Default)]
struct Known {
    /// The time is that of the question, because a revocation may come between question and answer.
    verdict: Option<(Moment, Verdict)>,
    failed: Option<Failed>,
}

/// The time at which a question failed, and the reason.
type Failed = (Moment, IssuerUnavailable);

/// The next step for a token.
enum Step {
    /// This is known.
    Done(Result<Verdict, IssuerUnavailable>),
    /// The answer is under way. The verdict counts if there is none.
    Wait(SharedResult<Verdict, IssuerUnavailable>, Option<Verdict>),
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Introspection {
    /// Asks `issuer` as its client `client_id`. Sends no request.
    #[must_use]
    pub fn new(issuer: Issuer, client_id: &str, client_secret: &str, clock: Clock) -> Self {
        let state = State { known: LruCache::new(MAX_KNOWN), away: None };
        let endpoint = Arc::new(Endpoint::new(issuer, client_id, client_secret));
        Self { endpoint, clock, state: Arc::new(Mutex::new(state)), questions: SingleFlight::lasting() }
    }

    /// Returns why the issuer does not accept `text` at the resource `audience`, or `None` if it does. `token` is the verified
    /// content of `text`.
    pub async fn refusal(
        &self,
        text: &str,
        token: &Arc<AccessToken>,
        audience: &str,
    ) -> Result<Option<&'static str>, IssuerUnavailable> {
        let verdict = match self.step(text, token) {
            Step::Done(outcome) => outcome?,
            Step::Wait(outcome, otherwise) => match (outcome.await, otherwise) {
                (Ok(verdict), _) | (Err(_), Some(verdict)) => verdict,
                (Err(error), None) => return Err(error),
            },
        };
        Ok(verdict.refusal(audience))
    }

    fn step(&self, text: &str, token: &Arc<AccessToken>) -> Step {
        let (mut state, now) = (lock(&self.state), self.clock.moment());
        let known = state.known.cache_get(&token.digest).cloned().unwrap_or_default();
        let of_age = |age| known.verdict.as_ref().filter(|(asked_at, _)| now.since(*asked_at) < age);
        if let Some((_, verdict)) = of_age(FRESH_FOR) {
            return Step::Done(Ok(verdict.clone()));
        }
        let otherwise = of_age(KEPT_FOR).map(|(_, verdict)| verdict.clone());
        let mut questions = self.questions.lock();
        if let Some(outcome) = questions.get(&token.digest) {
            return Step::Wait(outcome, otherwise);
        }
        let failed = [&known.failed, &state.away].into_iter().flatten().find(|(at, _)| now.since(*at) < RETRY_INTERVAL);
        if let Some((_, error)) = failed {
            return Step::Done(otherwise.ok_or_else(|| error.clone()));
        }
        let (this, text, token) = (self.clone(), text.to_owned(), token.clone());
        let outcome = questions.start(token.digest, move |_| async move {
            let answer = this.endpoint.ask(&text, &token).await;
            this.keep(token.digest, now, &answer);
            answer.map_err(Failure::into_error)
        });
        Step::Wait(outcome, otherwise)
    }

    fn keep(&self, digest: Digest, asked_at: Moment, answer: &Result<Verdict, Failure>) {
        let (mut state, now) = (lock(&self.state), self.clock.moment());
        match answer {
            Ok(verdict) => {
                if let Verdict::Contradicted(claim) = verdict {
                    tracing::warn!(claim, "the issuer's introspection contradicts a token");
                }
                state.away = None;
                state.known.cache_set(digest, Known { verdict: Some((asked_at, verdict.clone())), failed: None });
            }
            Err(Failure::Away(error)) => {
                tracing::warn!(%error, "the issuer does not say whether tokens are active");
                state.away = Some((now, error.clone()));
            }
            Err(Failure::Unreadable(error)) => {
                tracing::warn!(%error, "the issuer does not say whether a token is active");
                let known = state.known.cache_get(&digest).cloned().unwrap_or_default();
                state.known.cache_set(digest, Known { failed: Some((now, error.clone())), ..known });
            }
        }
    }
}
