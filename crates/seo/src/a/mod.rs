//! Provider A, which speaks `DataForSEO` v3: lists with one task are posted, and most failures come with HTTP status 200.

mod codes;
mod keywords;
mod links;

use api::integrations::RankScale;
use async_trait::async_trait;
use secrecy::ExposeSecret as _;
use serde_json::Value;

use super::{
    AccountRefusal, AccountState, Amount, Country, Credentials, Paid, Provider, Question, SeoError, json,
    wire::{Price, Wire},
};

/// The client of provider A.
pub struct ProviderA(pub Wire);

/// The task of a question: the endpoint below `/v3`, and the fields.
struct Task {
    path: &'static str,
    fields: Value,
}

impl ProviderA {
    /// Asks for a task, whose result `found` reads. Its argument is `None` if there is nothing to be found.
    async fn call<T>(
        &self,
        credentials: &Credentials,
        price: Price,
        task: &Task,
        found: impl Fn(Option<&Value>) -> Option<T> + Send + Sync,
    ) -> Result<codes::Done<T>, SeoError> {
        let Credentials::Login { login, password } = credentials else {
            return Err(SeoError::Refused(AccountRefusal::Wrong));
        };
        let url = format!("{}/v3/{}", self.0.root, task.path);
        let request = || {
            let http = self.0.http();
            let request = match price {
                Price::Free => http.get(&url),
                Price::Money => http.post(&url).json(&serde_json::json!([task.fields])),
            };
            request.basic_auth(login, Some(password.expose_secret()))
        };
        let answer = self.0.ask(price, request, |reply| codes::read(reply, &found)).await;
        answer.inspect_err(|error| {
            let error = credentials.redacted(&error.to_string());
            tracing::info!(provider = "a", path = task.path, error, "a question was not answered");
        })
    }
}

#[async_trait]
impl Provider for ProviderA {
    fn rank_scale(&self) -> RankScale {
        RankScale::Thousand
    }

    fn location_code(&self, country: Country) -> String {
        country.location_code.to_string()
    }

    fn has_languages(&self) -> bool {
        true
    }

    fn charges_trend(&self) -> bool {
        false
    }

    fn max_keywords(&self) -> usize {
        700
    }

    fn max_seeds(&self) -> usize {
        1
    }

    fn takes(&self, keyword: &str) -> bool {
        keyword.chars().count() <= 80 && keyword.split_whitespace().count() <= 10
    }

    async fn account(&self, credentials: &Credentials) -> Result<AccountState, SeoError> {
        let task = Task { path: "appendix/user_data", fields: Value::Null };
        let found = |result: Option<&Value>| {
            let account = result?.get(0)?.as_object()?;
            Some(AccountState { balance: account.get("money").and_then(|money| Amount::of(&money["balance"])) })
        };
        Ok(self.call(credentials, Price::Free, &task, found).await?.found)
    }

    async fn answer(&self, credentials: &Credentials, question: &Question) -> Result<Paid, SeoError> {
        let task = match question {
            Question::Figures { keywords, place, .. } => keywords::overview(keywords, place),
            Question::Ideas { seeds, place, limit } => keywords::suggestions(seeds, place, *limit),
            Question::Summary { target, .. } => links::summary(target),
            Question::Links(page) => links::links(page),
            Question::Domains(page) => links::domains(page),
        };
        let found = |result: Option<&Value>| match question {
            Question::Figures { .. } | Question::Ideas { .. } => keywords::read(result),
            Question::Summary { .. } => links::read_summary(result),
            Question::Links(_) => links::read_links(result),
            Question::Domains(_) => links::read_domains(result),
        };
        let codes::Done { cost, found } = self.call(credentials, Price::Money, &task, found).await?;
        Ok(Paid { found, cost })
    }
}

/// The rows of a result that is one list. Without rows its `items` are null.
fn rows_of<T>(result: &Value, row: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    match result.get(0)?.get("items")? {
        Value::Null => Some(Vec::new()),
        items => json::rows(items, row),
    }
}
