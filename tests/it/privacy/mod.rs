//! Tests of what is stored: nothing of the search engine, everything of a person in the export, nothing of a person who has left.

mod crash;
mod deletion;
mod departure;
mod export;
mod load;
mod logs;
mod page;
mod races;
mod remains;
mod retention;

use std::collections::BTreeSet;

use entity::user;
use poem::http::Method;
use sea_orm::{ConnectionTrait, DatabaseBackend, DatabaseConnection, EntityTrait as _, QueryResult, Statement};
use simulator::SearchType;
use uuid::Uuid;

use crate::{
    analytics::performance::{Asker, PAPER, SMALL},
    support::{
        actor::{Actor, Answer},
        app::TestApp,
        oracle::Truth,
    },
};

const DAY: &str = "2026-10-06";

/// Every value of every table, as bytes, with its table and column.
pub async fn everything_stored(db: &DatabaseConnection) -> Vec<(String, Vec<u8>)> {
    let backend = db.get_database_backend();
    let rows = async |sql: &str| db.query_all_raw(Statement::from_string(backend, sql)).await.unwrap();
    let text = |row: &QueryResult, name: &str| row.try_get::<String>("", name).unwrap();
    let mut stored = Vec::new();
    for column in rows(if backend == DatabaseBackend::Sqlite { SQLITE_COLUMNS } else { POSTGRES_COLUMNS }).await {
        let (table, name, bytes) = (text(&column, "table"), text(&column, "column"), text(&column, "bytes"));
        for row in rows(&format!("SELECT {bytes} AS value FROM \"{table}\"")).await {
            let value: Option<Vec<u8>> = row.try_get("", "value").unwrap();
            stored.extend(value.map(|value| (format!("{table}.{name}"), value)));
        }
    }
    stored
}

/// Every column, and the expression that reads its bytes. A text is cast to a blob, a number to its digits.
const SQLITE_COLUMNS: &str =
    "SELECT t.name AS \"table\", c.name AS \"column\", 'CAST(\"' || c.name || '\" AS BLOB)' AS bytes
    FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'";

/// The same for `PostgreSQL`. Numbers and times are cast to text.
const POSTGRES_COLUMNS: &str = "SELECT table_name::text AS \"table\", column_name::text AS \"column\",
    CASE data_type WHEN 'bytea' THEN quote_ident(column_name)
        ELSE 'convert_to(' || quote_ident(column_name) || '::text, ''UTF8'')' END AS bytes
    FROM information_schema.columns WHERE table_schema = current_schema()";

/// A person, in every form in which a row could name them.
pub struct Named {
    pub user: user::Model,
    forms: Vec<Vec<u8>>,
}

impl Named {
    /// The person with this subject.
    pub async fn find(db: &DatabaseConnection, subject: &str) -> Self {
        let users = user::Entity::find().all(db).await.unwrap();
        let user = users.into_iter().find(|user| user.subject == subject).unwrap();
        let id: Uuid = user.id;
        let mut forms = vec![id.as_bytes().to_vec(), id.to_string().into_bytes(), id.simple().to_string().into_bytes()];
        forms.push(subject.to_lowercase().into_bytes());
        forms.extend(Uuid::try_parse(subject).ok().map(|id| id.as_bytes().to_vec()));
        forms.extend(user.email_key.clone().map(String::into_bytes));
        Self { user, forms }
    }

    /// The places that name the person.
    pub async fn places(&self, db: &DatabaseConnection) -> Vec<String> {
        let stored = everything_stored(db).await;
        assert!(stored.len() > 10, "the scan reads {} values", stored.len());
        stored.into_iter().filter(|(_, value)| self.is_in(value)).map(|(place, _)| place).collect()
    }

    fn is_in(&self, value: &[u8]) -> bool {
        let folded = value.to_ascii_lowercase();
        let holds = |value: &[u8], form: &[u8]| value.windows(form.len()).any(|part| part == form);
        self.forms.iter().any(|form| holds(value, form) || holds(&folded, form))
    }
}

/// Deletes the data of a person.
pub async fn delete(actor: &Actor) -> Answer {
    actor.send(Method::POST, "/api/privacy/delete", None, &[]).await
}

/// Queries and page paths from the search data, without short ones and parts of a brand term.
fn probes(app: &TestApp) -> BTreeSet<String> {
    let world = app.simulator().world();
    let mut probes = BTreeSet::new();
    for url in [SMALL, PAPER, "https://tinyfern.test/"] {
        let site = world.site(url).unwrap();
        let truth = Truth::of(site, SearchType::Web, DAY, DAY);
        let brand = site.brand_terms();
        let telling = |text: &str| text.len() >= 8 && brand.iter().all(|term| !term.contains(text));
        for cell in truth.cells() {
            probes.extend(Some(cell.query.to_string()).filter(|query| telling(query)));
            let paths = cell.pages.iter().map(|part| part.url.split('/').skip(3).collect::<Vec<_>>().join("/"));
            probes.extend(paths.filter(|path| telling(path)));
        }
    }
    probes
}

#[tokio::test]
async fn no_query_and_no_page_is_stored_however_much_is_read() {
    let app = TestApp::start(|_| {}).await;
    let filters = r#"[{"dimension":"page","operator":"not_contains","value":"terrarium"},
        {"dimension":"query","operator":"contains","value":"best","logic":"or"}]"#;
    let more: [&[(&str, &str)]; 5] = [
        &[("scope", "all"), ("queryLimit", "5000"), ("pageLimit", "5000")],
        &[("scope", "all"), ("compareStart", "2026-10-05"), ("compareEnd", "2026-10-05")],
        &[("scope", "all"), ("filters", filters)],
        &[("scope", "tables"), ("classification", "nonBranded")],
        &[("scope", "tables"), ("searchType", "image")],
    ];
    for (name, site) in [("stranger", SMALL), ("owner", PAPER), ("owner", "tinyfern")] {
        let asker = Asker::of(&app, name, site).await;
        let mut seen = 0;
        for more in more {
            let json = asker.window(DAY, DAY, more).await;
            seen += json["data"]["tables"]["pages"].as_array().unwrap().len();
        }
        assert!(seen > 20, "{site}");
        asker.actor.get("/api/properties").await.expect(200);
        asker.actor.get("/api/accounts/health").await.expect(200);
    }
    let (probes, stored) = (probes(&app), everything_stored(&app.service.db).await);
    assert!(probes.len() > 1_000 && stored.len() > 200, "{} probes, {} values", probes.len(), stored.len());
    let holds = |value: &[u8], probe: &str| String::from_utf8_lossy(value).to_lowercase().contains(probe);
    assert!(stored.iter().any(|(_, value)| holds(value, "quiet meadow")), "a seeded keyword is found where it belongs");
    for (place, value) in &stored {
        let found = probes.iter().find(|probe| holds(value, &probe.to_lowercase()));
        assert_eq!(found, None, "{place}");
    }
}
