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
    AccountRefusal, Amount, Country, Credentials, Exhausted, Field, Findings, Page, Paid, Provider, Question, SeoError,
    Standing, Summary,
    wire::{Price, Wire},
};

/// The number of rows up to which a list is read. The provider has no pages, so rows before a page are paid for, too.
const MAX_ROWS: usize = 1_000;

/// The client of provider B.
pub struct ProviderB(pub Wire);

/// The query of a question: the endpoint below `/v3`, and the parameters.
struct Query {
    path: &'static str,
    params: Vec<(&'static str, String)>,
}

impl ProviderB {
    async fn call(&self, credentials: &Credentials, price: Price, query: &Query) -> Result<Done, SeoError> {
        let Credentials::Key(key) = credentials else { return Err(SeoError::Refused(AccountRefusal::Wrong)) };
        let url = format!("{}/v3/{}", self.0.root, query.path);
        let request = || self.0.http().get(&url).query(&query.params).bearer_auth(key.expose_secret());
        let answer = self.0.ask(price, request, |reply| codes::read(price, reply)).await;
        answer.inspect_err(|error| {
            let error = credentials.redacted(&error.to_string());
            tracing::info!(provider = "b", path = query.path, error, "a question was not answered");
        })
    }

    /// Asks a question that costs money. The provider refuses alike what the plan lacks and what no units are left for; its free
    /// endpoint tells them apart.
    async fn buy(&self, credentials: &Credentials, query: &Query) -> Result<Done, SeoError> {
        match self.call(credentials, Price::Money, query).await {
            Err(error @ (SeoError::Refused(AccountRefusal::WithoutPlan) | SeoError::RateLimited { .. })) => {
                Err(match self.account(credentials).await {
                    Ok(Standing { balance: Some(Amount::ZERO) }) => SeoError::OutOfCredit(Exhausted::Balance),
                    Err(SeoError::Refused(AccountRefusal::Wrong)) => SeoError::Refused(AccountRefusal::Wrong),
                    _ => error,
                })
            }
            outcome => outcome,
        }
    }

    /// Counts and rating are two questions. Once the first is paid for, an unknown rating does not spoil it.
    async fn summary(&self, credentials: &Credentials, stats: &Query, rating: &Query) -> Result<Paid, SeoError> {
        let counts = self.buy(credentials, stats).await?;
        let rating = self.buy(credentials, rating).await.ok();
        let cost =
            [Some(&counts), rating.as_ref()].into_iter().flatten().filter_map(|done| done.cost).reduce(Amount::plus);
        let body = rating.map_or(Value::Null, |done| done.body);
        let summary = Summary { rank: links::read_rating(&body), ..links::read_counts(&counts.body) };
        Ok(Paid { found: Findings::Summary(summary), cost })
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

    async fn account(&self, credentials: &Credentials) -> Result<Standing, SeoError> {
        let query = Query { path: "subscription-info/limits-and-usage", params: Vec::new() };
        let done = self.call(credentials, Price::Free, &query).await?;
        let usage = &done.body["limits_and_usage"];
        if !usage.is_object() {
            return Err(SeoError::Unavailable("the answer about the account has no limits_and_usage".to_owned()));
        }
        Ok(Standing { balance: balance(usage) })
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
        let done = self.buy(credentials, &query).await?;
        let found = match question {
            Question::Links(page) => links::read_links(&done.body, page),
            Question::Domains(page) => links::read_domains(&done.body, page),
            Question::Ideas { limit, .. } => keywords::read(&done.body, *limit),
            _ => keywords::read(&done.body, usize::MAX),
        };
        Ok(Paid { found, cost: done.cost })
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
