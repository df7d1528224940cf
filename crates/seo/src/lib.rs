//! The two providers of SEO data behind one trait: their clients, their errors, and the cache that asks each question once.
//!
//! Nothing here depends on HTTP routing or the database. Answers are kept in memory only.

mod a;
mod b;
mod countries;
mod credentials;
mod error;
mod json;
mod money;
mod paid_answers;
mod pauses;
mod question;
mod target;
#[cfg(test)]
mod tests;
mod wire;

use api::integrations::RankScale;
use async_trait::async_trait;

pub use self::{
    a::ProviderA,
    b::ProviderB,
    countries::Country,
    credentials::Credentials,
    error::{AccountRefusal, Exhausted, Field, SeoError},
    money::Amount,
    paid_answers::{Given, Holder, Ledger, PaidAnswers, Reading},
    question::{Domain, Findings, Keyword, Link, Locale, Page, Question, RowPage, Summary},
    target::Target,
    wire::{Patience, Wire},
};

/// A provider of SEO data.
#[async_trait]
pub trait Provider: Send + Sync {
    /// The scale of its ranks.
    fn rank_scale(&self) -> RankScale;

    /// Its code of a country.
    fn location_code(&self, country: Country) -> String;

    /// Returns whether it distinguishes the language of searches.
    fn has_languages(&self) -> bool;

    /// Returns whether it charges monthly volumes apart.
    fn charges_trend(&self) -> bool;

    /// The maximum number of keywords in one question for figures.
    fn max_keywords(&self) -> usize;

    /// The maximum number of seeds in one question for ideas.
    fn max_seeds(&self) -> usize;

    /// Returns whether it can be asked about a keyword.
    fn takes(&self, keyword: &str) -> bool;

    /// Asks for the state of an account. This is free of charge.
    async fn account(&self, credentials: &Credentials) -> Result<AccountState, SeoError>;

    /// Refuses a question that could not be asked. Nothing is sent.
    ///
    /// # Errors
    /// [`SeoError::NotAccepted`].
    fn check(&self, _question: &Question) -> Result<(), SeoError> {
        Ok(())
    }

    /// Asks a question. This costs money. It is repeated only if nothing was charged.
    async fn answer(&self, credentials: &Credentials, question: &Question) -> Result<Paid, SeoError>;
}

/// The state of an account that works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountState {
    /// The balance. `None` if there is no limit, or the provider does not say.
    pub balance: Option<Amount>,
}

/// An answer and its cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Paid {
    /// The answer.
    pub found: Findings,
    /// The charge. `None` if the provider did not say.
    pub cost: Option<Amount>,
}
