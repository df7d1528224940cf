//! SEO providers: the credentials that people store for themselves, and the questions that are asked with them.
//!
//! A question is always asked with the caller's own credentials, never with the owner's.

mod backlinks;
mod connecting;
mod ledger;
mod research;
mod status;
mod store;
mod view;

use std::sync::Arc;

use api::{
    integrations::{Provider, ProviderCost, ProviderMeta},
    params::Ignored,
};
use chrono::{DateTime, Utc};
use common::rate_limit::RateLimits;
use futures_util::future::try_join_all;
use seo::{Amount, Credentials, Field, Given, Holder, PaidAnswers, Question, SeoError};
use telemetry::providers::ProviderMeters;

use super::{analyses::search_data::SearchData, users::Member};
use crate::error::Error;

pub use self::{connecting::Checked, ledger::Books, store::reseal, view::connections};

/// Seconds to wait after a provider did not answer.
const RETRY: u64 = 5;
/// Seconds to wait after a provider refused a request of ours as wrong.
const FAULT_RETRY: u64 = 60;

/// Everything that connections to providers need.
#[derive(Clone)]
pub struct Integrations {
    /// Asks the providers.
    pub paid_answers: PaidAnswers,
    /// Search data, the database, and the key of stored secrets.
    pub search: SearchData,
    /// Counts the requests to providers.
    pub meters: ProviderMeters,
    /// Counts credentials that a provider does not know, by person. It is on even if `rate_limit.enabled` is false.
    pub failures: Arc<RateLimits>,
}

/// A person's connection, opened for questions.
struct Opened {
    provider: Provider,
    holder: Holder,
    credentials: Credentials,
}

/// Answers to the questions of one request.
struct Answers {
    given: Vec<Given>,
}

impl Answers {
    /// The charge for this request: the sum over its questions. `None` if the provider did not say.
    fn cost(&self) -> Option<Amount> {
        let fresh = self.given.iter().filter(|given| given.is_fresh);
        fresh.map(|given| given.reading.cost).try_fold(Amount::ZERO, |sum, cost| Some(sum.plus(cost?)))
    }

    fn oldest(&self) -> Option<DateTime<Utc>> {
        self.given.iter().map(|given| given.reading.read_at).min()
    }
}

impl Integrations {
    /// Opens the person's connection to the provider that is asked for, or to the one that is connected, A before B.
    ///
    /// # Errors
    /// [`Error::ProviderNotConnected`].
    async fn open(&self, member: &Member, provider: Option<Provider>) -> Result<Opened, Error> {
        let rows = store::of_user(&self.search.db, member.user.id).await?;
        let wanted = |row: &entity::provider_connection::Model| provider.is_none_or(|name| store::name(row) == name);
        let row = rows.iter().find(|row| wanted(row)).ok_or(Error::ProviderNotConnected)?;
        let credentials = store::credentials(&self.search.secrets, row)?;
        let holder = store::holder(&self.search.secrets, row)?;
        Ok(Opened { provider: store::name(row), holder, credentials })
    }

    /// Asks all questions of a request side by side, once it is certain that none of them is refused before it is asked. What was paid
    /// for before another question failed stays in the cache.
    async fn ask(&self, opened: &Opened, questions: Vec<Question>) -> Result<Answers, Error> {
        let provider = self.paid_answers.provider(opened.provider);
        questions.iter().try_for_each(|question| provider.check(question)).map_err(|error| explain(&error))?;
        let asked = questions
            .into_iter()
            .map(|question| self.paid_answers.ask(opened.provider, &opened.holder, &opened.credentials, question));
        Ok(Answers { given: try_join_all(asked).await.map_err(|error| explain(&error))? })
    }

    /// The metadata of an answer. The balance is read after its charge was noted.
    async fn meta(
        &self,
        member: &Member,
        opened: &Opened,
        answers: &Answers,
        (otherwise, ignored): (DateTime<Utc>, &Ignored),
    ) -> Result<ProviderMeta, Error> {
        let row = store::one_of_user(&self.search.db, member.user.id, opened.provider).await?;
        let is_holder = |row: &_| store::holder(&self.search.secrets, row).is_ok_and(|holder| holder == opened.holder);
        let row = row.filter(is_holder);
        let unit = view::unit(opened.provider);
        Ok(ProviderMeta {
            provider: opened.provider,
            cached_at: answers.oldest().unwrap_or(otherwise).into(),
            cost: answers.cost().map(|cost| ProviderCost { amount: cost.to_f64(), unit }),
            balance: row.as_ref().and_then(view::balance),
            ignored: ignored.names(),
        })
    }
}

/// Translates a provider's refusal for the owner of the account.
fn explain(error: &SeoError) -> Error {
    match error {
        SeoError::Refused(refusal) => Error::ProviderRejectedCredentials(*refusal),
        SeoError::OutOfCredit(exhausted) => Error::ProviderOutOfCredit(*exhausted),
        SeoError::RateLimited { retry_after } => {
            Error::ProviderUnavailable { retry_after: *retry_after, limited: true }
        }
        SeoError::Unavailable(_) => Error::ProviderUnavailable { retry_after: RETRY, limited: false },
        SeoError::NotAccepted(field) => Error::invalid(match field {
            Field::Country => "country: the provider has no data on this country; ask about another one",
            Field::Language => "language: the provider has no data in this language; ask about another one",
            Field::Keywords => "keywords: the provider does not accept one of them; leave out special characters",
            Field::Offset => {
                "offset: the provider lists no rows so far down; offset and limit together are at most 1000 for provider B"
            }
        }),
        SeoError::Fault(_) => Error::ProviderUnavailable { retry_after: FAULT_RETRY, limited: false },
    }
}

#[cfg(test)]
mod tests;
