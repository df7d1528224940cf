//! Provider A, which speaks `DataForSEO` v3: lists with one task are posted, and most failures come with HTTP status 200.

mod codes;
mod keywords;
mod links;

use api::integrations::RankScale;
use async_trait::async_trait;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use super::{
    AccountRefusal, Amount, Country, Credentials, Paid, Provider, Question, SeoError, Standing,
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
    async fn call(&self, credentials: &Credentials, price: Price, task: &Task) -> Result<codes::Done, SeoError> {
        let Credentials::Login { login, password } = credentials else {
            return Err(SeoError::Refused(AccountRefusal::Wrong));
        };
        let url = format!("{}/v3/{}", self.0.root, task.path);
        let request = || {
            let http = self.0.http();
            let request = match price {
                Price::Free => http.get(&url),
                Price::Money => http.post(&url).json(&json!([task.fields])),
            };
            request.basic_auth(login, Some(password.expose_secret()))
        };
        let answer = self.0.ask(price, request, codes::read).await;
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

    async fn account(&self, credentials: &Credentials) -> Result<Standing, SeoError> {
        let task = Task { path: "appendix/user_data", fields: Value::Null };
        let done = self.call(credentials, Price::Free, &task).await?;
        Ok(Standing { balance: Amount::of(&done.first()["money"]["balance"]) })
    }

    async fn answer(&self, credentials: &Credentials, question: &Question) -> Result<Paid, SeoError> {
        let task = match question {
            Question::Figures { keywords, place, .. } => keywords::overview(keywords, place),
            Question::Ideas { seeds, place, limit } => keywords::suggestions(seeds, place, *limit),
            Question::Summary { target, .. } => links::summary(target),
            Question::Links(page) => links::links(page),
            Question::Domains(page) => links::domains(page),
        };
        let done = self.call(credentials, Price::Money, &task).await?;
        let result = done.first();
        let found = match question {
            Question::Figures { .. } | Question::Ideas { .. } => keywords::read(result),
            Question::Summary { .. } => links::read_summary(result),
            Question::Links(_) => links::read_links(result),
            Question::Domains(_) => links::read_domains(result),
        };
        Ok(Paid { found, cost: done.cost })
    }
}
