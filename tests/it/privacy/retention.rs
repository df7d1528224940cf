//! Tests of retention: docs/PRIVACY.md names the sweep and the test of each row.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use sea_orm::{ConnectionTrait as _, Statement};

use super::{delete, deletion::busy};
use crate::support::app::TestApp;

/// The number of rows of each table.
async fn rows(app: &TestApp) -> BTreeMap<&'static str, i64> {
    let db = &app.service.db;
    let mut found = BTreeMap::new();
    for table in sightline::services::privacy::tables::TABLES {
        let ask = format!("SELECT count(*) AS rows FROM {}", table.name);
        let ask = Statement::from_string(db.get_database_backend(), ask);
        found.insert(table.name, db.query_one_raw(ask).await.unwrap().unwrap().try_get("", "rows").unwrap());
    }
    found
}

#[tokio::test]
async fn what_has_expired_is_swept_and_nothing_else() {
    let app = TestApp::start(|_| {}).await;
    busy(&app).await;
    delete(&app.actor("viewer").await).await.expect(204);
    // Uses of clients are recorded beside requests.
    while rows(&app).await["client_use"] < 3 {
        tokio::task::yield_now().await;
    }
    let before = rows(&app).await;
    let kept =
        ["session", "issuer_session", "authorization_code", "refresh_token", "replay", "audit_event", "departure"];
    for table in kept {
        assert!(before[table] > 0, "{table} is empty");
    }
    app.service.sweep().await;
    assert_eq!(rows(&app).await, before, "nothing has expired");

    // After each time, the tables that are empty now and were not before.
    let expire = [
        (TimeDelta::hours(24), vec!["replay"]),
        (TimeDelta::hours(24) + TimeDelta::seconds(6), vec!["departure"]),
        (TimeDelta::days(7) + TimeDelta::seconds(1), vec!["session"]),
        (TimeDelta::days(90), vec![]),
        (TimeDelta::days(90) + TimeDelta::seconds(1), vec!["audit_event"]),
        (TimeDelta::days(181), vec!["client_use"]),
    ];
    let mut passed = TimeDelta::zero();
    for (after, gone) in expire {
        let full = rows(&app).await;
        app.hand.advance(after - passed);
        passed = after;
        app.service.sweep().await;
        let now = rows(&app).await;
        for table in gone {
            assert!(full[table] > 0 && now[table] == 0, "{table} after {after}: {} and {}", full[table], now[table]);
        }
        for table in ["users", "tag", "property", "annotation", "team_grant", "search_account"] {
            assert_eq!(now[table], before[table], "{table} after {after}");
        }
    }
    let now = rows(&app).await;
    for table in ["issuer_session", "authorization_code", "refresh_token", "oauth_grant", "revocation"] {
        assert_eq!(now[table], 0, "{table}");
    }
}
