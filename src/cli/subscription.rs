//! The `subscription` command, for operators.

use std::borrow::Cow;

use api::{
    billing::SubscriptionStatus,
    models::{FIRST_DAY, LAST_DAY, parse_day, parse_time},
};
use chrono::{DateTime, Days, NaiveTime, SecondsFormat, SubsecRound as _, Utc};
use clap::{Args, Subcommand, ValueEnum};
use common::{clock::Clock, plain_text::quoted};
use entity::user::{self, Plan, PlanState};

use super::{table::table, terminal::Text};
use crate::{
    app,
    config::Config,
    error::Error,
    services::users::{
        state::Subscription as InForce,
        subscriptions::{self, Wanted},
    },
};

/// Subscription commands for operators.
#[derive(Debug, Subcommand)]
pub enum Subscription {
    /// Set the plan of a person, its state and its end.
    Set(Set),
    /// List everybody with their plan, its state and its end.
    List,
    /// Show the plan of a person and its state.
    Show {
        /// Id, verified e-mail or subject.
        #[arg(long)]
        user: String,
    },
}

/// Options of `subscription set`.
#[derive(Debug, Args)]
pub struct Set {
    /// Id, verified e-mail or subject.
    #[arg(long)]
    pub user: String,
    /// The plan.
    #[arg(long)]
    pub plan: PlanName,
    /// The state; `active` by default.
    #[arg(long)]
    pub state: Option<StateName>,
    /// The end of the trial, or of the period that is paid for: a time such as `2026-12-31T12:00:00Z`, or a date, which counts
    /// to its end in UTC. Without it, an active plan has no end.
    #[arg(long, value_name = "TIME", value_parser = end)]
    pub until: Option<DateTime<Utc>>,
}

impl Set {
    fn wanted(&self) -> Wanted {
        let state = self.state.map_or(PlanState::Active, Into::into);
        Wanted { plan: self.plan.into(), state, until: self.until }
    }
}

/// Parses a time, or a date that counts to its end.
fn end(text: &str) -> Result<DateTime<Utc>, String> {
    let date = parse_day(text).ok().and_then(|date| date.checked_add_days(Days::new(1)));
    let time = date.map(|day| day.and_time(NaiveTime::MIN).and_utc());
    let time = time.or_else(|| parse_time(text).ok().map(|time| time.trunc_subsecs(3)));
    time.ok_or_else(|| {
        format!("allowed is a date such as 2026-12-31, or a time such as 2026-12-31T12:00:00Z, from {FIRST_DAY} to {LAST_DAY}")
    })
}

/// The name of a state on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum StateName {
    /// The plan is tried until its end.
    Trialing,
    /// The plan is paid for.
    Active,
    /// A payment has failed; the days of grace count from the end of the period, or from now.
    PastDue,
    /// The plan ends with its period.
    Cancelled,
}

impl From<StateName> for PlanState {
    fn from(name: StateName) -> Self {
        match name {
            StateName::Trialing => Self::Trialing,
            StateName::Active => Self::Active,
            StateName::PastDue => Self::PastDue,
            StateName::Cancelled => Self::Cancelled,
        }
    }
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
pub async fn subscription(command: &Subscription, config: &Config, clock: &Clock) -> Result<Text, Error> {
    let db = app::open_existing_database(config).await?.writer;
    let user = match command {
        Subscription::List => return Ok(listed(config, &subscriptions::list(&db).await?, clock.now())),
        Subscription::Set(set) => subscriptions::set(&db, &set.user, set.wanted(), clock.now()).await?,
        Subscription::Show { user } => subscriptions::show(&db, user).await?,
    };
    Ok(described(config, &user, clock.now()))
}

/// The people, one a line, with the part of their state that tells them apart.
fn listed(config: &Config, users: &[user::Model], now: DateTime<Utc>) -> Text {
    let rows = users.iter().map(|user| {
        let who = user.email.as_ref().unwrap_or(&user.subject);
        let state = state(&InForce::of(&config.billing, user, now), user);
        [quoted(who), user.plan.name().to_owned(), state.into_owned(), user.id.to_string()]
    });
    table(["PERSON", "PLAN", "STATE", "ID"], rows)
}

/// Describes the plan, its state and its user, with every value that lets an operator tell two people apart. Text from issuers is
/// quoted, so that it cannot imitate other output on a terminal.
fn described(config: &Config, user: &user::Model, now: DateTime<Utc>) -> Text {
    let text = Text::line(format!("plan: {}", user.plan.name()))
        .and(format!("state: {}", state(&InForce::of(&config.billing, user, now), user)))
        .and(format!("id: {}", user.id))
        .and(format!("issuer: {}", quoted(&user.issuer)))
        .and(format!("subject: {}", quoted(&user.subject)));
    let Some(email) = &user.email else { return text };
    let verified = if user.email_verified { "verified" } else { "not verified" };
    text.and(format!("email: {} ({verified})", quoted(email)))
}

/// Names the state in force, and until when it holds or since when it has.
fn state(in_force: &InForce, user: &user::Model) -> Cow<'static, str> {
    let with = |name: &str, word: &str, end: Option<DateTime<Utc>>| {
        let end = end.map(|end| end.to_rfc3339_opts(SecondsFormat::Secs, true));
        end.map_or_else(|| name.to_owned(), |end| format!("{name} {word} {end}")).into()
    };
    match in_force.status {
        SubscriptionStatus::NotRequired => "not_required: billing is off, everyone has everything".into(),
        SubscriptionStatus::None => with("none", "since", in_force.ends_at),
        SubscriptionStatus::Trialing => with("trialing", "until", in_force.ends_at),
        SubscriptionStatus::Active => with("active", "until", user.period_ends_at),
        SubscriptionStatus::PastDue => with("past_due", "until", in_force.ends_at),
        SubscriptionStatus::Cancelled => with("cancelled", "until", in_force.ends_at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Billing;

    #[tokio::test]
    async fn a_plan_is_set_in_the_data_folder() {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = folder.path().join("data").to_string_lossy().into_owned();
        let config = Config { data_dir, ..Config::default() };
        let (clock, _) = Clock::manual(test_data::noon());
        let db = app::open_database(&config).await.unwrap().writer;
        let random = common::random::Random::seeded(1);
        let departures = identity::departures::Departures::new([1; 32]);
        crate::demo::world::people(&db, &departures, &random, "http://127.0.0.1", clock.now()).await.unwrap();
        let show = Subscription::Show { user: "lapsed@demo.test".into() };
        let said = subscription(&show, &config, &clock).await.unwrap().to_string();
        let id = subscriptions::show(&db, "demo-lapsed").await.unwrap().id;
        let all = subscription(&Subscription::List, &config, &clock).await.unwrap().to_string();
        let line = all.lines().find(|line| line.contains("lapsed@demo.test")).unwrap();
        assert_eq!(
            line.split_whitespace().collect::<Vec<_>>(),
            ["\"lapsed@demo.test\"", "none", "none", &id.to_string()]
        );
        let whose = format!(
            "id: {id}\nissuer: \"http://127.0.0.1\"\nsubject: \"demo-lapsed\"\nemail: \"lapsed@demo.test\" (verified)"
        );
        assert_eq!(said, format!("plan: none\nstate: none\n{whose}"));
        let until = Some("2100-01-01");
        for (plan, state, until, said) in [
            (PlanName::Pro, None, None, "plan: pro\nstate: active"),
            (PlanName::Agency, None, until, "plan: agency\nstate: active until 2100-01-02T00:00:00Z"),
            (PlanName::Pro, Some(StateName::Trialing), until, "plan: pro\nstate: trialing until 2100-01-02T00:00:00Z"),
            (PlanName::Pro, Some(StateName::PastDue), None, "plan: pro\nstate: past_due until 2026-10-05T14:13:20Z"),
            (
                PlanName::Pro,
                Some(StateName::Cancelled),
                until,
                "plan: pro\nstate: cancelled until 2100-01-02T00:00:00Z",
            ),
            (
                PlanName::Free,
                Some(StateName::Cancelled),
                Some("2026-09-01T12:00:00+02:00"),
                "plan: free\nstate: none since 2026-09-01T10:00:00Z",
            ),
            (PlanName::None, None, None, "plan: none\nstate: none"),
        ] {
            let until = until.map(|until| end(until).unwrap());
            let set = Subscription::Set(Set { user: "demo-lapsed".into(), plan, state, until });
            let printed = subscription(&set, &config, &clock).await.unwrap().to_string();
            assert_eq!(printed, format!("{said}\n{whose}"));
        }
        let off = Config { billing: Billing { enabled: false, ..Billing::default() }, ..config };
        let said = subscription(&show, &off, &clock).await.unwrap().to_string();
        assert!(said.starts_with("plan: none\nstate: not_required"), "{said}");
    }

    #[test]
    fn an_end_is_a_time_or_the_end_of_a_date() {
        let read = |text: &str| end(text).map(|time| time.to_rfc3339_opts(SecondsFormat::Millis, true));
        for (text, time) in [
            ("2026-12-31", "2027-01-01T00:00:00.000Z"),
            ("2200-12-31", "2201-01-01T00:00:00.000Z"),
            ("2026-12-31T12:00:00Z", "2026-12-31T12:00:00.000Z"),
            ("2026-12-31T12:00:00.123456+02:00", "2026-12-31T10:00:00.123Z"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(time));
        }
        for text in [
            "",
            "soon",
            "2026-02-30",
            "31.12.2026",
            "2026-12-31T12:00:00",
            "2201-01-01",
            "2201-01-01T00:00:00Z",
            "1899-12-31",
            "-262143-01-01",
            "+262142-12-31",
            "+262142-12-31T23:59:59Z",
        ] {
            assert!(read(text).is_err_and(|said| said.contains("2026-12-31T12:00:00Z")), "{text}");
        }
    }
}
