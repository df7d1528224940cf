//! Provider B, which speaks Ahrefs v3: GETs with a bearer key, one key in each answer, the charge in its headers.

mod codes;
mod keywords;
mod links;

use api::integrations::RankScale;
use async_trait::async_trait;
use secrecy::ExposeSecret as _;
use serde_json::Value;

use self::codes::Done;
use super::{
    AccountRefusal, AccountState, Amount, Country, Credentials, Exhausted, Field, Findings, Page, Paid, Provider,
    Question, SeoError, Summary,
    wire::{Price, Wire},
};

/// The number of rows up to which a list is read. The provider has no pages, so rows before a page are paid for, too.
const MAX_ROWS: usize = 1_000;

/// The client of provider B.
pub struct ProviderB(pub Wire);

/// The query of a question: the endpoint below `/v3`, the parameters, and the one key of the answer.
struct Query {
    path: &'static str,
    key: &'static str,
    params: Vec<(&'static str, String)>,
}

impl ProviderB {
    /// Asks a question. `found` reads the value of the answer's key, which is `None` if the provider has no data.
    async fn call<T>(
        &self,
        credentials: &Credentials,
        price: Price,
        query: &Query,
        found: impl Fn(Option<&Value>) -> Option<T> + Send + Sync,
    ) -> Result<Done<T>, SeoError> {
        let Credentials::Key(key) = credentials else { return Err(SeoError::Refused(AccountRefusal::Wrong)) };
        let url = format!("{}/v3/{}", self.0.root, query.path);
        let request = || self.0.http().get(&url).query(&query.params).bearer_auth(key.expose_secret());
        let answer = self.0.ask(price, request, |reply| codes::read(price, query.key, reply, &found)).await;
        answer.inspect_err(|error| {
            let error = credentials.redacted(&error.to_string());
            tracing::info!(provider = "b", path = query.path, error, "a question was not answered");
        })
    }

    /// Asks a question that costs money. The provider refuses alike what the plan lacks and what no units are left for; its free
    /// endpoint tells them apart.
    async fn buy<T>(
        &self,
        credentials: &Credentials,
        query: &Query,
        found: impl Fn(Option<&Value>) -> Option<T> + Send + Sync,
    ) -> Result<Done<T>, SeoError> {
        match self.call(credentials, Price::Money, query, found).await {
            Err(error @ (SeoError::Refused(AccountRefusal::WithoutPlan) | SeoError::RateLimited { .. })) => {
                Err(match self.account(credentials).await {
                    Ok(AccountState { balance: Some(Amount::ZERO) }) => SeoError::OutOfCredit(Exhausted::Balance),
                    Err(SeoError::Refused(AccountRefusal::Wrong)) => SeoError::Refused(AccountRefusal::Wrong),
                    _ => error,
                })
            }
            outcome => outcome,
        }
    }

    /// Counts and rating are two questions. Once the first is paid for, an unknown rating does not spoil it.
    async fn summary(&self, credentials: &Credentials, stats: &Query, rating: &Query) -> Result<Paid, SeoError> {
        let counts = self.buy(credentials, stats, links::read_counts).await?;
        let rating = self.buy(credentials, rating, links::read_rating).await.ok();
        let costs = [counts.cost, rating.as_ref().and_then(|done| done.cost)];
        let summary = Summary { rank: rating.and_then(|done| done.found.rank), ..counts.found };
        Ok(Paid { found: Findings::Summary(summary), cost: costs.into_iter().flatten().reduce(Amount::plus) })
    }
}

#[async_trait]
impl Provider for ProviderB {
    fn rank_scale(&self) -> RankScale {
        RankScale::Hundred
    }

    fn location_code(&self, country: Country) -> String {
        country.alpha2.to_owned()
    }

    fn has_languages(&self) -> bool {
        false
    }

    fn charges_trend(&self) -> bool {
        true
    }

    /// They are in the URL.
    fn max_keywords(&self) -> usize {
        100
    }

    fn max_seeds(&self) -> usize {
        5
    }

    /// Commas separate keywords.
    fn takes(&self, keyword: &str) -> bool {
        !keyword.contains(',') && keyword.chars().count() <= 80
    }

    async fn account(&self, credentials: &Credentials) -> Result<AccountState, SeoError> {
        let path = "subscription-info/limits-and-usage";
        let query = Query { path, key: "limits_and_usage", params: Vec::new() };
        let found = |usage: Option<&Value>| {
            let usage = usage.filter(|usage| usage.is_object())?;
            Some(AccountState { balance: balance(usage) })
        };
        Ok(self.call(credentials, Price::Free, &query, found).await?.found)
    }

    fn check(&self, question: &Question) -> Result<(), SeoError> {
        match question {
            Question::Links(page) | Question::Domains(page) => rows_of(page).map(drop),
            Question::Figures { .. } | Question::Ideas { .. } | Question::Summary { .. } => Ok(()),
        }
    }

    async fn answer(&self, credentials: &Credentials, question: &Question) -> Result<Paid, SeoError> {
        let query = match question {
            Question::Figures { keywords, place, trend } => keywords::overview(keywords, place, *trend),
            Question::Ideas { seeds, place, limit } => keywords::matching(seeds, place, *limit),
            Question::Summary { target, day } => {
                let (stats, rating) = (links::stats(target, *day), links::rating(target, *day));
                return self.summary(credentials, &stats, &rating).await;
            }
            Question::Links(page) => links::backlinks(page, rows_of(page)?),
            Question::Domains(page) => links::domains(page, rows_of(page)?),
        };
        let found = |value: Option<&Value>| match question {
            Question::Links(page) => links::read_links(value, page),
            Question::Domains(page) => links::read_domains(value, page),
            Question::Ideas { limit, .. } => keywords::read(value, *limit),
            _ => keywords::read(value, usize::MAX),
        };
        let Done { cost, found } = self.buy(credentials, &query, found).await?;
        Ok(Paid { found, cost })
    }
}

/// The number of rows to read for a page.
fn rows_of(page: &Page) -> Result<usize, SeoError> {
    let rows = page.offset + page.limit;
    if rows <= MAX_ROWS { Ok(rows) } else { Err(SeoError::NotAccepted(Field::Offset)) }
}

/// The units left: of the workspace or of the key, whichever has fewer. A limit that is null is none.
fn balance(usage: &Value) -> Option<Amount> {
    let left = |limit: &str, used: &str| {
        let limit = Amount::of(&usage[limit])?;
        Some(limit.minus(Amount::of(&usage[used]).unwrap_or_default()).max(Amount::ZERO))
    };
    let pairs =
        [left("units_limit_workspace", "units_usage_workspace"), left("units_limit_api_key", "units_usage_api_key")];
    pairs.into_iter().flatten().min()
}
