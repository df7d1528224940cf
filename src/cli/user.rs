//! The `user` commands, for operators: local accounts of the embedded issuer.

use chrono::{DateTime, Utc};
use clap::Subcommand;
use common::{base_url::BaseUrl, clock::Clock, random::Random};
use entity::account;
use issuer::{
    accounts::{
        links,
        operator::{Invitation, Operator},
    },
    mail::Mailer,
};

use super::{table::table, terminal::Text};
use crate::{app, config::Config, error::Error, services::team};

/// Account commands for operators.
#[derive(Debug, Subcommand)]
pub enum User {
    /// Add an account and print the link with which its holder sets a password.
    Add {
        /// E-mail address of the holder.
        email: String,
        /// Display name.
        #[arg(long)]
        name: Option<String>,
    },
    /// List the accounts.
    List,
    /// Take the password of an account and its tie to another provider away, end its sessions and grants, and print a new link.
    Reset {
        /// E-mail address of the holder.
        email: String,
    },
    /// Delete an account, end its sessions and grants, and end the team grants that its holder made.
    Remove {
        /// E-mail address of the holder, or the one by which the account was added.
        email: String,
        /// Confirms the deletion.
        #[arg(long)]
        yes: bool,
    },
}

/// The output of a command.
#[derive(Debug, PartialEq, Eq)]
pub struct Said {
    /// The result, for stdout.
    pub result: Text,
    /// Advice about it, for stderr.
    pub note: Option<Text>,
}

impl Said {
    /// Adds something to know.
    fn with(self, advice: Option<String>) -> Self {
        let Some(advice) = advice else { return self };
        Self { note: Some(self.note.unwrap_or_default().and(advice)), ..self }
    }
}

/// Runs `user …`.
///
/// # Errors
/// Described for the operator.
pub async fn user(command: &User, config: &Config, clock: &Clock, random: &Random) -> Result<Said, Error> {
    let base_url = base_url(config)?;
    let mailer = app::mailer(&config.mail, &base_url, clock, random)?;
    if let User::Remove { email, yes: false } = command {
        return Err(Error::invalid(format!(
            "--yes: confirm that {email} is to be removed. The account, its sessions, its grants and the team grants that the person \
             made end at once; what else the person has stored in the service stays"
        )));
    }
    let db = app::open_existing_database(config).await?.writer;
    let operator = Operator { db, random: random.clone(), now: clock.now() };
    match command {
        User::Add { email, name } => {
            let invitation = operator.add(email, name.as_deref()).await?;
            let said = invited(&base_url, mailer.as_ref(), &invitation).await;
            Ok(said.with(elsewhere(config)))
        }
        User::Reset { email } => {
            let invitation = operator.reset(email).await?;
            Ok(invited(&base_url, mailer.as_ref(), &invitation).await)
        }
        User::List => Ok(Said { result: listed(&operator.list().await?), note: None }),
        User::Remove { email, .. } => {
            let now = clock.now();
            let email = operator.remove(email, async |tx, subject| team::end_made_by(tx, subject, now).await);
            let email = email.await?.email;
            let note = "The team grants that the person made have ended. Their other records stay: properties, annotations, share \
                        links. A new account with this address is another person.";
            Ok(Said { result: Text::line(format!("removed {email}")), note: Some(Text::line(note)) })
        }
    }
}

/// The root of the link. It has to be the address of the running service.
fn base_url(config: &Config) -> Result<BaseUrl, Error> {
    if let Some(issuer) = &config.identity.issuer {
        return Err(Error::invalid(format!(
            "identity.issuer: people sign in at {issuer}, and local accounts belong to the embedded issuer. Add people there, or \
             remove the setting"
        )));
    }
    if config.base_url.is_none() && config.listen.port() == 0 {
        return Err(Error::invalid("base_url: set it to the address of the running service, which links have to name"));
    }
    Ok(config.base_url(config.listen))
}

/// Mails the link, or prints it.
async fn invited(base_url: &BaseUrl, mailer: Option<&Mailer>, invitation: &Invitation) -> Said {
    let (email, url) = (&invitation.account.email, links::url(base_url, &invitation.token));
    let hand_over = format!("Give this link to {email}. It sets the password, works once, and expires in 24 hours.");
    let url = Text::line(url);
    let Some(mailer) = mailer else { return Said { result: url, note: Some(Text::line(hand_over)) } };
    let letter = links::letter_of_operator(base_url, &invitation.token, invitation.is_new);
    match mailer.send(email, letter.subject, letter.text).await {
        Ok(()) => {
            let sent = format!("A link was mailed to {email}. It expires in 24 hours.");
            Said { result: Text::line(sent), note: None }
        }
        Err(error) => {
            let failed = Text::line(format!("The link could not be mailed: {error}"));
            Said { result: url, note: Some(failed.and(hand_over)) }
        }
    }
}

/// The other way in, if there is one.
fn elsewhere(config: &Config) -> Option<String> {
    let issuer = config.identity.sign_in.issuer.as_ref()?;
    Some(format!(
        "They can also sign in by way of {issuer}, without a password here, once it has verified the address."
    ))
}

/// The accounts, one a line.
fn listed(accounts: &[account::Model]) -> Text {
    let rows = accounts.iter().map(|account| {
        let name = account.name.clone().unwrap_or_else(|| "-".to_owned());
        [account.email.clone(), name, state(account), day(account.last_sign_in_at)]
    });
    table(["E-MAIL", "NAME", "STATE", "LAST SIGN-IN"], rows)
}

/// The way in which the person signs in.
fn state(account: &account::Model) -> String {
    let url = account.upstream_issuer.as_deref().and_then(|issuer| url::Url::parse(issuer).ok());
    let host = url.as_ref().and_then(url::Url::host_str);
    match (&account.password_hash, host) {
        (Some(_), None) => "active".to_owned(),
        (Some(_), Some(host)) => format!("active (password, {host})"),
        (None, Some(host)) => format!("active ({host})"),
        (None, None) => "no password yet".to_owned(),
    }
}

fn day(time: Option<DateTime<Utc>>) -> String {
    time.map_or_else(|| "never".to_owned(), |time| time.format("%Y-%m-%d %H:%M UTC").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(email: &str, name: Option<&str>, password: Option<&str>) -> account::Model {
        let noon = test_data::noon();
        account::Model {
            id: uuid::Uuid::nil(),
            email: email.into(),
            email_key: email.into(),
            name: name.map(Into::into),
            password_hash: password.map(Into::into),
            email_verified_at: None,
            password_changed_at: noon,
            last_sign_in_at: password.map(|_| noon),
            upstream_issuer: None,
            upstream_subject: None,
            added_by_operator: true,
            added_as_key: Some(email.into()),
            created_at: noon,
            updated_at: noon,
        }
    }

    #[test]
    fn accounts_are_listed_in_columns() {
        let printed = listed(&[account("ann@corp.test", Some("Ann"), Some("x")), account("b@corp.test", None, None)]);
        let expected = "E-MAIL         NAME  STATE            LAST SIGN-IN\n\
                        ann@corp.test  Ann   active           2026-09-21 14:13 UTC\n\
                        b@corp.test    -     no password yet  never";
        assert_eq!(printed.to_string(), expected);
    }

    #[test]
    fn an_account_says_how_its_holder_signs_in() {
        let local = account("ann@corp.test", None, Some("x"));
        let issuer = Some("https://accounts.google.com".to_owned());
        let both = account::Model { upstream_issuer: issuer, upstream_subject: Some("7".into()), ..local.clone() };
        let elsewhere = account::Model { password_hash: None, ..both.clone() };
        let said = [local, both, elsewhere].map(|account| state(&account));
        assert_eq!(said, ["active", "active (password, accounts.google.com)", "active (accounts.google.com)"]);
    }

    #[test]
    fn a_link_names_the_running_service() {
        let mut config = Config::default();
        assert_eq!(base_url(&config).unwrap().as_str(), "http://127.0.0.1:8080");
        config.listen.set_port(0);
        assert!(base_url(&config).unwrap_err().to_string().starts_with("base_url: "));
        config.base_url = Some("https://search.example.org".parse().unwrap());
        assert_eq!(base_url(&config).unwrap().as_str(), "https://search.example.org");
        config.identity.issuer = "https://id.example.org".parse().ok();
        assert!(base_url(&config).unwrap_err().to_string().starts_with("identity.issuer: "));
    }
}
