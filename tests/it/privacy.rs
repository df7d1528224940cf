//! Nothing that the search engine said is written to the database.

use std::collections::BTreeSet;

use sea_orm::{ConnectionTrait, DatabaseBackend, Statement};
use sightline::simulator::SearchType;

use crate::{
    app::TestApp,
    numbers::{Asker, PAPER, SMALL},
    oracle::Truth,
};

const DAY: &str = "2026-10-06";

/// Every value of every table, as bytes.
async fn everything_stored(app: &TestApp) -> Vec<(String, Vec<u8>)> {
    let rows = async |sql: String| {
        app.service.db.query_all_raw(Statement::from_string(DatabaseBackend::Sqlite, sql)).await.unwrap()
    };
    let mut stored = Vec::new();
    for table in rows("SELECT name FROM sqlite_master WHERE type = 'table'".to_owned()).await {
        let table: String = table.try_get("", "name").unwrap();
        for column in rows(format!("SELECT name FROM pragma_table_info('{table}')")).await {
            let column: String = column.try_get("", "name").unwrap();
            let place = format!("{table}.{column}");
            // A text read as a blob is its bytes; a number becomes its digits.
            for row in rows(format!("SELECT CAST(\"{column}\" AS BLOB) AS value FROM \"{table}\"")).await {
                let value: Option<Vec<u8>> = row.try_get("", "value").unwrap();
                stored.extend(value.map(|value| (place.clone(), value)));
            }
        }
    }
    stored
}

/// Queries and pages that people looked at, without those that a seeded record holds a part of.
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
    let (probes, stored) = (probes(&app), everything_stored(&app).await);
    assert!(probes.len() > 1_000 && stored.len() > 200, "{} probes, {} values", probes.len(), stored.len());
    let holds = |value: &[u8], probe: &str| String::from_utf8_lossy(value).to_lowercase().contains(probe);
    assert!(stored.iter().any(|(_, value)| holds(value, "quiet meadow")), "a seeded keyword is found where it belongs");
    for (place, value) in &stored {
        let found = probes.iter().find(|probe| holds(value, &probe.to_lowercase()));
        assert_eq!(found, None, "{place}");
    }
}
