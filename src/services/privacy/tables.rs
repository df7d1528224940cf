//! The one list of tables: whose rows they hold, how a deletion treats them, and where the export shows them. A
//! test holds the list against the database, so that no table is forgotten.

use chrono::{DateTime, Utc};
use entity::{account, user};
use identity::{issuer::EMBEDDED, revocation};
use sea_orm::{DbBackend, Statement, Value};
use uuid::Uuid;

/// A table.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// The rows that belong to a person, or the reason why there are none.
    pub rows: Ownership,
    /// Rows of others that name the person.
    pub mentions: &'static [Mention],
}

/// The rows of a table that belong to a person.
#[derive(Debug, Clone, Copy)]
pub enum Ownership {
    /// The rows for which the condition holds are deleted with the person.
    Deleted {
        /// The condition, in SQL with the names of [`Person`].
        of: &'static str,
        /// The sections of the export that show them, each a name of [`api::privacy::PersonalData`].
        shown: &'static [&'static str],
    },
    /// No row belongs to a person, for this reason.
    Nobodys(&'static str),
}

/// Rows of others that name the person.
#[derive(Debug, Clone, Copy)]
pub struct Mention {
    /// The condition, in SQL with the names of [`Person`].
    pub of: &'static str,
    /// The assignments that take the person out of them.
    pub set: &'static str,
    /// The section of the export that shows them.
    pub shown: &'static str,
}

/// Rows that belong to the person and are deleted.
const fn deleted(name: &'static str, of: &'static str, shown: &'static [&'static str]) -> Table {
    Table { name, rows: Ownership::Deleted { of, shown }, mentions: &[] }
}

/// A table without rows of people.
const fn nobodys(name: &'static str, reason: &'static str) -> Table {
    Table { name, rows: Ownership::Nobodys(reason), mentions: &[] }
}

impl Table {
    const fn mentioning(self, mentions: &'static [Mention]) -> Self {
        Self { mentions, ..self }
    }
}

/// Rows of the person's properties.
const OF_PROPERTY: &str = "property_id IN (SELECT id FROM property WHERE user_id = :user)";

/// Rows of the person's grants at the embedded issuer.
const OF_GRANT: &str = "grant_id IN (SELECT id FROM oauth_grant WHERE subject = :subject)";

/// Every table, in the order of deletion: what refers to a row comes before the row. The account comes first, as at sign-in.
pub const TABLES: &[Table] = &[
    deleted("account_link", "account_id = :account", &["localAccount"]),
    deleted("account", "id = :account", &["localAccount"]),
    deleted("issuer_session", "subject = :subject", &["issuerSessions"]),
    deleted("session", "user_id = :user", &["sessions"]),
    deleted("consent", "subject = :subject", &["consents"]),
    deleted("authorization_code", OF_GRANT, &["applicationTokens"]),
    deleted("refresh_token", OF_GRANT, &["applicationTokens"]),
    // Each says that a code or token was exchanged within the last seconds. The tokens are shown.
    deleted("token_exchange", OF_GRANT, &[]),
    // One that a person has allowed is the way to its grant for ten minutes at most. The grant is shown, and says all that it does.
    deleted("device_code", OF_GRANT, &[]),
    deleted("oauth_grant", "subject = :subject", &["applicationGrants"]),
    deleted("client_use", "user_id = :user", &["applicationUses"]),
    deleted("client_refusal", "user_id = :user", &["applicationRefusals"]),
    // A hash of issuer and subject, which the departure replaces. There is nothing to show.
    deleted("revocation", "kind = 'subject' AND value = :revoked", &[]),
    deleted("replay", "user_id = :user", &["storedReplays"]),
    deleted("filter_preset", "user_id = :user", &["filterPresets"]),
    deleted("property_tag", "tag_id IN (SELECT id FROM tag WHERE user_id = :user)", &["tags"]),
    deleted("tag", "user_id = :user", &["tags"]),
    deleted("property_preference", "user_id = :user", &["preferences"]),
    deleted("annotation", OF_PROPERTY, &["propertyRecords"]).mentioning(&[Mention {
        of: "author_id = :user",
        set: "author_id = NULL",
        shown: "annotationsElsewhere",
    }]),
    deleted("branded_keyword", OF_PROPERTY, &["propertyRecords"]),
    deleted("classification", OF_PROPERTY, &["propertyRecords"]).mentioning(&[
        Mention { of: "created_by = :user AND kind = 'segment'", set: "created_by = NULL", shown: "segmentsElsewhere" },
        Mention {
            of: "created_by = :user AND kind = 'topic_cluster'",
            set: "created_by = NULL",
            shown: "topicClustersElsewhere",
        },
    ]),
    deleted("share_link", OF_PROPERTY, &["propertyRecords"]).mentioning(&[Mention {
        of: "created_by = :user",
        set: "created_by = NULL, revoked_at = coalesce(revoked_at, :now)",
        shown: "shareLinksElsewhere",
    }]),
    deleted(
        "team_grant_property",
        "grant_id IN (SELECT id FROM team_grant WHERE owner_id = :user OR email_key IN (:email, :address))",
        &["grantsMade", "grantsReceived"],
    ),
    deleted("team_grant", "owner_id = :user OR email_key IN (:email, :address)", &["grantsMade", "grantsReceived"]),
    // The kinds of pages that anybody opened of a property within a week. It names nobody.
    deleted("opened_page", OF_PROPERTY, &[]),
    deleted("property_account", OF_PROPERTY, &["propertyListings"]),
    deleted("property", "user_id = :user", &["properties"]),
    deleted("search_account", "user_id = :user", &["searchAccounts"]),
    deleted("provider_connection", "user_id = :user", &["providers"]),
    deleted("audit_event", "owner_id = :user", &["auditTrail"]).mentioning(&[
        Mention { of: "actor_id = :user", set: "actor_id = NULL", shown: "auditTrail" },
        Mention { of: "whom_key IN (:email, :address)", set: "whom = :former, whom_key = NULL", shown: "auditTrail" },
    ]),
    deleted("users", "id = :user", &["profile", "subscription"]),
    nobodys("oauth_client", "a client is an application's, and nobody is known to have registered it"),
    nobodys("replica", "digests of the service's own settings"),
    nobodys("signing_key", "the service's own keys"),
    nobodys("attempt", "a keyed hash, kept for an hour at most, which counts guesses and registrations"),
    nobodys("departure", "a keyed hash, kept as long as a token from before could be presented"),
    nobodys("departure_key", "the service's own key"),
    nobodys("former_trial", "the same keyed hash, kept for a year, so that nobody gets a new trial by leaving"),
    nobodys("pending_revocation", "a sealed grant without anything that tells whose it was"),
];

/// A person as the conditions of [`TABLES`] name them.
#[derive(Debug, Clone)]
pub struct Person {
    /// `:user`.
    pub id: Uuid,
    /// `:subject`: the subject at the embedded issuer. Empty for people of another issuer, who have nothing there.
    subject: String,
    /// `:account`: the account at the embedded issuer.
    account: Uuid,
    /// `:email`: the address, if the issuer has verified it. Otherwise it may be another person's.
    email_key: Option<String>,
    /// `:address`: the address of the person's account, if it is verified.
    account_key: Option<String>,
    /// `:revoked`: the key of the person's revocations.
    revoked: String,
    /// `:now`.
    now: DateTime<Utc>,
}

impl Person {
    /// Names `user`. What they have at the embedded issuer is theirs if it signed them in, whichever issuer is configured now.
    #[must_use]
    pub fn new(user: &user::Model, now: DateTime<Utc>) -> Self {
        let subject = if user.issuer == EMBEDDED { user.subject.clone() } else { String::new() };
        Self {
            id: user.id,
            account: Uuid::try_parse(&subject).unwrap_or_default(),
            subject,
            email_key: user.email_key.clone().filter(|_| user.email_verified),
            account_key: None,
            revoked: revocation::subject_key(&user.issuer, &user.subject),
            now,
        }
    }

    /// Adds the verified address of the person's account, which tokens may never have stated.
    #[must_use]
    pub fn with_account(self, account: Option<account::Model>) -> Self {
        let verified = account.filter(|account| account.email_verified_at.is_some());
        Self { account_key: verified.map(|account| account.email_key), ..self }
    }

    /// The verified addresses.
    pub fn email_keys(&self) -> impl Iterator<Item = &str> {
        let other = self.account_key.as_ref().filter(|key| self.email_key.as_ref() != Some(key));
        self.email_key.iter().chain(other).map(String::as_str)
    }

    /// The account at the embedded issuer.
    #[must_use]
    pub fn account(&self) -> Uuid {
        self.account
    }

    /// The subject at the embedded issuer.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Fills the names in `sql`: the fields above, each after a colon.
    #[must_use]
    pub fn fill(&self, backend: DbBackend, sql: &str) -> Statement {
        let (mut text, mut values) = (String::with_capacity(sql.len()), Vec::new());
        let mut parts = sql.split(':');
        text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(part.len());
            let (name, rest) = part.split_at(end);
            values.push(self.value(name));
            text.extend(["$", &values.len().to_string(), rest]);
        }
        Statement::from_sql_and_values(backend, text, values)
    }

    fn value(&self, name: &str) -> Value {
        match name {
            "user" => self.id.into(),
            "subject" => self.subject.clone().into(),
            "account" => self.account.into(),
            "email" => self.email_key.clone().into(),
            "address" => self.account_key.clone().into(),
            "revoked" => self.revoked.clone().into(),
            "former" => crate::services::audit::FORMER_MEMBER.into(),
            "now" => self.now.into(),
            // The test of the list runs every condition.
            _ => unreachable!("no value is called {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sea_orm::ConnectionTrait as _;
    use test_data::{database, noon, person};

    use super::*;

    const SQLITE: &str = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    const POSTGRES: &str =
        "SELECT table_name::text AS name FROM information_schema.tables WHERE table_schema = current_schema()";

    #[tokio::test]
    async fn every_table_of_the_database_is_listed_once() {
        let db = database().await;
        let backend = db.get_database_backend();
        let sql = if backend == DbBackend::Sqlite { SQLITE } else { POSTGRES };
        let rows = db.query_all_raw(Statement::from_string(backend, sql)).await.unwrap();
        let found: BTreeSet<String> = rows.iter().map(|row| row.try_get("", "name").unwrap()).collect();
        let mut listed: BTreeSet<String> = TABLES.iter().map(|table| table.name.to_owned()).collect();
        assert_eq!(listed.len(), TABLES.len(), "a table is listed twice");
        listed.insert("seaql_migrations".to_owned());
        assert_eq!(listed, found, "list a new table in TABLES: whose rows it holds, and where the export shows them");
    }

    #[test]
    fn every_entity_is_listed() {
        let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/entity/src")).unwrap();
        let sources = folder.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
        let named: BTreeSet<String> = sources
            .filter_map(|source| Some(source.split_once("table_name = \"")?.1.split_once('"')?.0.to_owned()))
            .collect();
        let listed: BTreeSet<String> = TABLES.iter().map(|table| table.name.to_owned()).collect();
        assert_eq!(listed, named, "list a new entity in TABLES");
    }

    #[tokio::test]
    async fn every_condition_and_assignment_is_valid() {
        let db = database().await;
        let person = Person::new(&person("ann"), noon());
        for table in TABLES {
            if let Ownership::Deleted { of, .. } = table.rows {
                let sql = format!("DELETE FROM {} WHERE {of}", table.name);
                db.execute_raw(person.fill(db.get_database_backend(), &sql)).await.unwrap();
            }
            for Mention { of, set, .. } in table.mentions {
                let sql = format!("UPDATE {} SET {set} WHERE {of}", table.name);
                db.execute_raw(person.fill(db.get_database_backend(), &sql)).await.unwrap();
            }
        }
    }

    #[test]
    fn sections_equal_the_sections_of_the_export() {
        let document = api::document::document(&api::document::Locations::relative());
        let sections = &document["components"]["schemas"]["PersonalData"]["properties"];
        for table in TABLES {
            let shown = match table.rows {
                Ownership::Deleted { shown, .. } => shown,
                Ownership::Nobodys(reason) => {
                    assert!(!reason.is_empty());
                    &[]
                }
            };
            for section in shown.iter().copied().chain(table.mentions.iter().map(|mention| mention.shown)) {
                assert!(sections.get(section).is_some(), "{}: no section {section}", table.name);
            }
        }
    }

    /// People who signed in here before another issuer was configured still have an account and sessions.
    #[test]
    fn accounts_at_the_embedded_issuer_depend_on_the_persons_issuer() {
        let of = |issuer: &str| {
            let subject = Uuid::from_u128(7).to_string();
            let user = user::Model { issuer: issuer.to_owned(), subject, ..person("ann") };
            Person::new(&user, noon()).account()
        };
        assert_eq!(of(EMBEDDED), Uuid::from_u128(7));
        assert_eq!(of("https://id.example"), Uuid::nil(), "a subject of another issuer names nobody here");
    }

    #[test]
    fn an_unverified_address_and_a_foreign_subject_name_nobody() {
        let user = user::Model { email_verified: false, ..person("ann") };
        let outside = Person::new(&user, noon());
        assert_eq!((outside.email_keys().next(), outside.subject(), outside.account()), (None, "", Uuid::nil()));
    }
}
