//! The `subscription` command, for operators.

use chrono::{DateTime, Utc};
use clap::{Subcommand, ValueEnum};
use entity::user::{self, Plan};

use crate::{app, clock::Clock, config::Config, error::Error, services::users::subscriptions};

/// Subscription commands for operators.
#[derive(Debug, Subcommand)]
pub enum Subscription {
    /// Set the plan of a person and end a trial.
    Set {
        /// Id, verified e-mail or subject.
        #[arg(long)]
        user: String,
        /// The plan.
        #[arg(long)]
        plan: PlanName,
    },
    /// Show the plan of a person.
    Show {
        /// Id, verified e-mail or subject.
        #[arg(long)]
        user: String,
    },
}

/// The name of a plan on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanName {
    /// No access.
    None,
    /// The free plan.
    Free,
    /// For people with a handful of sites.
    Pro,
    /// For people who manage sites of others.
    Agency,
}

impl From<PlanName> for Plan {
    fn from(name: PlanName) -> Self {
        match name {
            PlanName::None => Self::None,
            PlanName::Free => Self::Free,
            PlanName::Pro => Self::Pro,
            PlanName::Agency => Self::Agency,
        }
    }
}

/// Runs `subscription …` and returns the text to print.
pub async fn subscription(command: &Subscription, config: &Config, clock: &Clock) -> Result<String, Error> {
    let db = app::open_database(config).await?.writer;
    let user = match command {
        Subscription::Set { user, plan } => subscriptions::set(&db, user, (*plan).into(), clock.now()).await?,
        Subscription::Show { user } => subscriptions::show(&db, user).await?,
    };
    Ok(described(&user, clock.now()))
}

/// Describes the plan and its user, with every value that lets an operator tell two people apart. Text from issuers is
/// quoted, so that it cannot imitate other output on a terminal.
fn described(user: &user::Model, now: DateTime<Utc>) -> String {
    let trial = user.trial_ends_at.filter(|end| user.plan == Plan::None && now < *end);
    let trial = trial.map_or_else(String::new, |end| format!(" (pro trial until {})", end.format("%Y-%m-%d")));
    let email = user.email.as_ref().map_or_else(String::new, |email| {
        format!("\nemail: {email:?} ({})", if user.email_verified { "verified" } else { "not verified" })
    });
    let (id, issuer, subject, plan) = (user.id, &user.issuer, &user.subject, user.plan.name());
    format!("plan: {plan}{trial}\nid: {id}\nissuer: {issuer:?}\nsubject: {subject:?}{email}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_plan_is_set_in_the_data_folder() {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = folder.path().join("data").to_string_lossy().into_owned();
        let config = Config { data_dir, ..Config::default() };
        let (clock, _) = Clock::manual(crate::testing::noon());
        let db = app::open_database(&config).await.unwrap().writer;
        let random = crate::random::Random::seeded(1);
        crate::demo::world::people(&db, &random, "http://127.0.0.1", clock.now()).await.unwrap();
        let show = Subscription::Show { user: "lapsed@demo.test".into() };
        let said = subscription(&show, &config, &clock).await.unwrap();
        let id = subscriptions::show(&db, "demo-lapsed").await.unwrap().id;
        let whose = format!(
            "id: {id}\nissuer: \"http://127.0.0.1\"\nsubject: \"demo-lapsed\"\nemail: \"lapsed@demo.test\" (verified)"
        );
        assert_eq!(said, format!("plan: none\n{whose}"));
        let set = Subscription::Set { user: "demo-lapsed".into(), plan: PlanName::Pro };
        assert_eq!(subscription(&set, &config, &clock).await.unwrap(), format!("plan: pro\n{whose}"));
    }
}
