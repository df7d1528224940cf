//! Reads the caller and the property that the path names, in one statement.

use std::sync::{Arc, LazyLock};

use chrono::{DateTime, Utc};
use common::allowance::Allowance;
use entity::{property, search_account, share_link, team_grant, user};
use sea_orm::{
    ConnectionTrait, DbErr, EntityTrait, FromQueryResult as _, IdenStatic as _, Iterable as _, QueryResult, Statement,
    Value,
};
use uuid::Uuid;

use crate::config::Config;

/// A caller, by the identifier that the request presents.
#[derive(Debug, Clone, Copy)]
pub enum Caller<'a> {
    /// The holder of an access token.
    Token {
        /// The token's issuer.
        issuer: &'a str,
        /// The person's identifier there.
        subject: &'a str,
        /// The token's `jti`.
        id: &'a str,
        /// The grant of the embedded issuer that the token belongs to.
        grant: Option<Uuid>,
        /// The key under which all tokens of the person are revoked.
        subject_key: &'a str,
        /// The client that the token was issued to.
        client: &'a str,
        /// The hash under which the departure of the person is stored.
        person: &'a str,
    },
    /// The browser with a session, found by the hash of its cookie.
    Session(&'a str),
}

/// The records that a caller's admission depends on.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The user.
    pub user: Arc<user::Model>,
    /// The revocations that apply to the token.
    pub revoked: Revoked,
    /// The person's choice for the token's client, if the embedded issuer remembers a consent.
    pub allows: Option<Allowance>,
    /// The end of the session.
    pub session_ends_at: Option<DateTime<Utc>>,
    /// The property requested, if it is tracked and the user's own, or a grant to the user's verified address covers it.
    pub property: Option<Arc<PropertyFacts>>,
}

/// The revocations that apply to a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Revoked {
    /// True if the token itself or its grant is revoked.
    pub token: bool,
    /// True if the person refuses the token's client.
    pub client: bool,
    /// The time before which all tokens of the person are revoked.
    pub before: Option<DateTime<Utc>>,
    /// The time at which the person deleted their data, after which they signed in again.
    pub left_at: Option<DateTime<Utc>>,
}

/// A tracked property and the records that access to it depends on.
#[derive(Debug, Clone)]
pub struct PropertyFacts {
    /// The property.
    pub property: property::Model,
    /// The number of the owner's properties that have been tracked for longer. Zero where nothing is sold.
    pub longer: u64,
    /// Its owner.
    pub owner: Arc<user::Model>,
    /// The search account whose grant reads the property.
    pub account: Arc<search_account::Model>,
    /// The owner's grant to the caller's e-mail address, if it covers the property.
    pub grant: Option<team_grant::Model>,
}

/// A share link and its property, if the property is tracked.
#[derive(Debug, Clone)]
pub struct LinkFacts {
    /// The link.
    pub link: share_link::Model,
    /// Its property.
    pub property: Arc<PropertyFacts>,
}

/// Returns the columns of an entity under `alias`, each named `alias`, an underscore and its own name.
#[must_use]
pub fn columns<E: EntityTrait>(alias: &str) -> String {
    let column = |column: E::Column| {
        let name = column.as_str();
        format!("{alias}.\"{name}\" AS \"{alias}_{name}\"")
    };
    E::Column::iter().map(column).collect::<Vec<_>>().join(", ")
}

/// Returns the condition that the grant `grant` of its owner covers a property of theirs: it is for all of them, or for this one. `property`
/// is the id.
#[must_use]
pub fn covers(grant: &str, property: &str) -> String {
    format!(
        "({grant}.all_properties OR EXISTS (SELECT 1 FROM team_grant_property covered \
         WHERE covered.grant_id = {grant}.id AND covered.property_id = {property}))"
    )
}

/// Returns the condition that the property `p` is the user `u`'s own, or that a grant to the user's verified address covers it. How long ago
/// the address was stated is checked afterwards ([`PropertyAccess::of`](super::PropertyAccess::of)).
fn visible() -> String {
    format!(
        "(p.user_id = u.id OR (u.email_verified AND EXISTS (SELECT 1 FROM team_grant v WHERE v.owner_id = p.user_id \
         AND v.email_key = u.email_key AND {})))",
        covers("v", "p.id")
    )
}

/// The limits of plans on tracked properties. Where nothing is sold, there are none, and properties are not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plans {
    /// Plans have limits.
    Limit,
    /// Nothing is sold.
    None,
}

impl Plans {
    /// Returns the case of the settings.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        if config.billing.enabled { Self::Limit } else { Self::None }
    }
}

/// Returns the columns of a property `p`, its owner and its account.
fn property_columns(plans: Plans) -> String {
    let (property, owner, account) =
        (columns::<property::Entity>("p"), columns::<user::Entity>("o"), columns::<search_account::Entity>("a"));
    // The smaller id breaks ties between properties tracked since the same time.
    let longer = match plans {
        Plans::Limit => {
            "(SELECT count(*) FROM property l WHERE l.user_id = p.user_id AND (l.tracked_at, l.id) < (p.tracked_at, p.id))"
        }
        Plans::None => "CAST(0 AS bigint)",
    };
    format!("{property}, {owner}, {account}, {longer} AS longer")
}

/// The part of a statement that finds a caller. `$1`, and for a token `$2`, identify them.
struct CallerSql {
    columns: &'static str,
    tables: &'static str,
    condition: &'static str,
    /// The placeholder of the property's id.
    property: &'static str,
}

const TOKEN: CallerSql = CallerSql {
    columns: "EXISTS (SELECT 1 FROM revocation r WHERE (r.kind = 'token' AND r.value = $3) \
              OR (r.kind = 'grant' AND r.value = $4)) AS revoked, \
              (SELECT r.not_before FROM revocation r WHERE r.kind = 'subject' AND r.value = $5) AS revoked_before, \
              (SELECT d.left_at FROM departure d WHERE d.person = $7) AS left_at, \
              EXISTS (SELECT 1 FROM client_refusal f WHERE f.user_id = u.id AND f.client_id = $6) AS client_refused, \
              (SELECT c.allows FROM consent c WHERE c.subject = $2 AND c.client_id = $6 \
              ORDER BY CASE c.allows WHEN 'read' THEN 0 WHEN 'records' THEN 1 ELSE 2 END LIMIT 1) AS allows",
    tables: "users u",
    condition: "u.issuer = $1 AND u.subject = $2",
    property: "$8",
};

const SESSION: CallerSql = CallerSql {
    columns: "s.expires_at AS session_ends_at",
    tables: "session s JOIN users u ON u.id = s.user_id",
    condition: "s.hash = $1",
    property: "$2",
};

impl CallerSql {
    /// The statements without a property and with one. A property that the user cannot see gives the row of one that does not exist:
    /// nothing more is joined, counted or decoded for it.
    fn statements(&self) -> Statements {
        let Self { columns: own, tables, condition, property } = self;
        let (user, grant) = (columns::<user::Entity>("u"), columns::<team_grant::Entity>("g"));
        let with_property = |plans| {
            format!(
                "SELECT {user}, {own}, {}, {grant}, {} AS covered FROM {tables} \
             LEFT JOIN property p ON p.id = {property} AND p.tracked AND {} LEFT JOIN users o ON o.id = p.user_id \
             LEFT JOIN search_account a ON a.id = p.account_id \
             LEFT JOIN team_grant g ON g.owner_id = p.user_id AND g.email_key = u.email_key AND p.user_id <> u.id \
             WHERE {condition}",
                property_columns(plans),
                covers("g", "p.id"),
                visible()
            )
        };
        Statements {
            without_property: format!("SELECT {user}, {own} FROM {tables} WHERE {condition}"),
            with_property: ByPlans::of(with_property),
        }
    }
}

/// A statement for each case of [`Plans`].
struct ByPlans {
    limit: String,
    none: String,
}

impl ByPlans {
    fn of(statement: impl Fn(Plans) -> String) -> Self {
        Self { limit: statement(Plans::Limit), none: statement(Plans::None) }
    }

    fn get(&self, plans: Plans) -> &str {
        match plans {
            Plans::Limit => &self.limit,
            Plans::None => &self.none,
        }
    }
}

/// The statements that find a caller.
struct Statements {
    without_property: String,
    with_property: ByPlans,
}

static OF_TOKEN: LazyLock<Statements> = LazyLock::new(|| TOKEN.statements());
static OF_SESSION: LazyLock<Statements> = LazyLock::new(|| SESSION.statements());

static OF_LINK: LazyLock<ByPlans> = LazyLock::new(|| {
    ByPlans::of(|plans| {
        format!(
            "SELECT {}, {} FROM share_link k JOIN property p ON p.id = k.property_id AND p.tracked \
             JOIN users o ON o.id = p.user_id JOIN search_account a ON a.id = p.account_id WHERE k.token_hash = $1",
            columns::<share_link::Entity>("k"),
            property_columns(plans)
        )
    })
});

static OF_PROPERTY: LazyLock<ByPlans> = LazyLock::new(|| {
    ByPlans::of(|plans| {
        format!(
            "SELECT {} FROM property p JOIN users o ON o.id = p.user_id JOIN search_account a ON a.id = p.account_id \
             WHERE p.id = $1 AND p.tracked",
            property_columns(plans)
        )
    })
});

/// Returns the records of `caller`, and of `property` if one is given. Returns `None` for an unknown caller.
///
/// # Errors
/// The database cannot answer.
pub async fn of_caller(
    db: &impl ConnectionTrait,
    plans: Plans,
    caller: Caller<'_>,
    property: Option<Uuid>,
) -> Result<Option<Facts>, DbErr> {
    let (statements, mut values): (_, Vec<Value>) = match caller {
        Caller::Token { issuer, subject, id, grant, subject_key, client, person } => {
            let grant = grant.map(|grant| grant.to_string()).unwrap_or_default();
            (&*OF_TOKEN, [issuer, subject, id, &grant, subject_key, client, person].map(Value::from).to_vec())
        }
        Caller::Session(hash) => (&*OF_SESSION, vec![hash.into()]),
    };
    values.extend(property.map(Value::from));
    let sql = match property {
        Some(_) => statements.with_property.get(plans),
        None => &statements.without_property,
    };
    let ask = Statement::from_sql_and_values(db.get_database_backend(), sql, values);
    let Some(row) = db.query_one_raw(ask).await? else { return Ok(None) };
    let revoked = match caller {
        Caller::Token { .. } => {
            let (token, client) = (row.try_get("", "revoked")?, row.try_get("", "client_refused")?);
            let (before, left_at) = (row.try_get("", "revoked_before")?, row.try_get("", "left_at")?);
            Revoked { token, client, before, left_at }
        }
        Caller::Session(_) => Revoked::default(),
    };
    let allows: Option<String> = match caller {
        Caller::Token { .. } => row.try_get("", "allows")?,
        Caller::Session(_) => None,
    };
    let session_ends_at = match caller {
        Caller::Session(_) => Some(row.try_get("", "session_ends_at")?),
        Caller::Token { .. } => None,
    };
    let user = Arc::new(user::Model::from_query_result(&row, "u_")?);
    let property = if property.is_some() { property_of(&row, true)? } else { None };
    let (allows, property) = (allows.as_deref().map(Allowance::stored), property.map(Arc::new));
    Ok(Some(Facts { user, revoked, allows, session_ends_at, property }))
}

/// Returns the link with this hash, if its property is tracked.
///
/// # Errors
/// The database cannot answer.
pub async fn of_link(db: &impl ConnectionTrait, plans: Plans, token_hash: &[u8]) -> Result<Option<LinkFacts>, DbErr> {
    let values = [token_hash.to_vec().into()];
    let ask = Statement::from_sql_and_values(db.get_database_backend(), OF_LINK.get(plans), values);
    let Some(row) = db.query_one_raw(ask).await? else { return Ok(None) };
    let link = share_link::Model::from_query_result(&row, "k_")?;
    Ok(property_of(&row, false)?.map(|property| LinkFacts { link, property: Arc::new(property) }))
}

/// Returns a property, if it is tracked. For work that nobody asked for.
///
/// # Errors
/// The database cannot answer.
pub async fn of_property(db: &impl ConnectionTrait, plans: Plans, id: Uuid) -> Result<Option<PropertyFacts>, DbErr> {
    let ask = Statement::from_sql_and_values(db.get_database_backend(), OF_PROPERTY.get(plans), [id.into()]);
    let Some(row) = db.query_one_raw(ask).await? else { return Ok(None) };
    property_of(&row, false)
}

fn property_of(row: &QueryResult, may_be_granted: bool) -> Result<Option<PropertyFacts>, DbErr> {
    if row.try_get::<Option<Uuid>>("p_", "id")?.is_none() {
        return Ok(None);
    }
    let grant = if may_be_granted { grant_of(row)? } else { None };
    let longer: i64 = row.try_get("", "longer")?;
    Ok(Some(PropertyFacts {
        property: property::Model::from_query_result(row, "p_")?,
        longer: u64::try_from(longer).unwrap_or_default(),
        owner: Arc::new(user::Model::from_query_result(row, "o_")?),
        account: Arc::new(search_account::Model::from_query_result(row, "a_")?),
        grant,
    }))
}

/// Returns the grant `g` of a row, if it covers the property by the column `covered`, which [`covers`] makes.
///
/// # Errors
/// A column is missing.
pub fn grant_of(row: &QueryResult) -> Result<Option<team_grant::Model>, DbErr> {
    if row.try_get::<Option<Uuid>>("g_", "id")?.is_none() {
        return Ok(None);
    }
    let grant = team_grant::Model::from_query_result(row, "g_")?;
    Ok(row.try_get::<bool>("", "covered")?.then_some(grant))
}
