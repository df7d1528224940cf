//! Kills the process at random moments around a deletion. Afterwards the person is wholly there or wholly gone.

use std::{collections::BTreeMap, path::Path, process::Stdio, time::Duration};

use common::random::Random;
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, Statement};
use serde_json::json;
use sightline::services::privacy::tables::{Ownership, Person, TABLES};
use tempfile::TempDir;
use test_data::postgres::Fresh;

use super::{Named, delete};
use crate::{
    commands::{Running, sightline},
    support::{actor::Actor, app::start_of_test},
};

/// The people who leave in every test run, each once.
const PEOPLE: [&str; 3] = ["owner", "stranger", "editor"];

/// The number of rounds of `make test-crash`.
const ROUNDS_IN_LONG_FORM: usize = 40;

/// The number of tags that make the transaction longer.
const TAGS: usize = 30;

/// A service of the test's own, and its database seen from outside.
struct Service {
    folder: TempDir,
    database: Option<Fresh>,
}

impl Service {
    async fn new() -> Self {
        Self { folder: TempDir::new().unwrap(), database: test_data::postgres::fresh().await }
    }

    fn start(&self) -> Running {
        let mut settings = vec![("LISTEN", "127.0.0.1:0"), ("DATA_DIR", "data"), ("RATE_LIMIT__ENABLED", "false")];
        settings.extend(self.database.as_ref().map(|fresh| ("DATABASE__URL", fresh.url.as_str())));
        let mut command = sightline(self.folder.path(), &["serve"], &settings);
        // Nobody reads the log, and a full pipe would block the service.
        command.stderr(Stdio::null());
        Running::start(command)
    }

    async fn database(&self) -> DatabaseConnection {
        let file = |folder: &Path| format!("sqlite://{}/data/sightline.db", folder.display());
        let url = self.database.as_ref().map_or_else(|| file(self.folder.path()), |fresh| fresh.url.clone());
        Database::connect(url).await.unwrap()
    }
}

/// The number of the person's rows in each table.
async fn rows(db: &DatabaseConnection, person: &Person) -> BTreeMap<&'static str, i64> {
    let mut found = BTreeMap::new();
    for table in TABLES {
        // A background task may add a use at any moment.
        let Ownership::Deleted { of, .. } = table.rows else { continue };
        if table.name == "client_use" {
            continue;
        }
        let ask = format!("SELECT count(*) AS rows FROM {} WHERE {of}", table.name);
        let row = db.query_one_raw(person.fill(db.get_database_backend(), &ask)).await.unwrap().unwrap();
        found.insert(table.name, row.try_get("", "rows").unwrap());
    }
    found
}

async fn departures(db: &DatabaseConnection) -> i64 {
    let ask = Statement::from_string(db.get_database_backend(), "SELECT count(*) AS rows FROM departure");
    db.query_one_raw(ask).await.unwrap().unwrap().try_get("", "rows").unwrap()
}

/// Kills a service around the deletion of one person. Returns whether the person is gone.
async fn round(name: &str, random: &Random) -> bool {
    let service = Service::new().await;
    let server = service.start();
    let actor = Actor::signed_in(&server.url, name).await;
    for number in 0..TAGS {
        actor.made("/api/tags", &json!({ "name": format!("tag {number}") })).await;
    }
    let db = service.database().await;
    let named = Named::find(&db, &format!("demo-{name}")).await;
    let person = Person::new(&named.user, start_of_test());
    let before = rows(&db, &person).await;
    assert_eq!(before["tag"], i64::try_from(TAGS).unwrap());

    let url = server.url.clone();
    let leaving = tokio::spawn(async move {
        let request = sightline::app::http_client().unwrap().post(format!("{url}/api/privacy/delete"));
        request.bearer_auth(actor.token()).send().await.is_ok_and(|answer| answer.status() == 204)
    });
    tokio::time::sleep(Duration::from_secs_f64(0.05 * random.unit())).await;
    // Dropping it kills the process.
    drop(server);
    let answered = leaving.await.unwrap();
    // On `PostgreSQL` the killed connection's transaction ends a moment later.
    let mut after = rows(&db, &person).await;
    for _ in 0..100 {
        if departures(&db).await == 1 || after == before {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
        after = rows(&db, &person).await;
    }
    let after = if departures(&db).await == 1 { rows(&db, &person).await } else { after };
    let is_gone = departures(&db).await == 1;
    if is_gone {
        assert!(after.values().all(|count| *count == 0), "{name} is half gone: {after:?}");
        assert_eq!(named.places(&db).await, Vec::<String>::new());
    } else {
        assert_eq!(after, before, "{name} is half gone");
        assert!(!answered, "the deletion was acknowledged");
    }
    drop(db);
    // A restart brings nobody back whose token is older than the departure.
    let again = service.start();
    let db = service.database().await;
    assert_eq!(departures(&db).await == 1, is_gone);
    if is_gone {
        assert_eq!(named.places(&db).await, Vec::<String>::new(), "{name} is back after a restart");
    }
    drop(again);
    is_gone
}

async fn survive(rounds: usize) {
    let random = Random::system();
    let mut gone = 0;
    for number in 0..rounds {
        gone += usize::from(round(PEOPLE[number % PEOPLE.len()], &random).await);
    }
    println!("of {rounds} people who were leaving when the service was killed, {gone} have left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deletion_is_wholly_done_or_not_at_all() {
    survive(PEOPLE.len()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes; make test-crash"]
async fn a_deletion_is_wholly_done_or_not_at_all_in_the_long_form() {
    survive(ROUNDS_IN_LONG_FORM).await;
}

#[tokio::test]
async fn a_departed_demo_person_is_not_created_again() {
    let service = Service::new().await;
    let server = service.start();
    let viewer = Actor::signed_in(&server.url, "viewer").await;
    viewer.get("/api/tags").await.expect(200);
    let named = Named::find(&service.database().await, "demo-viewer").await;
    delete(&viewer).await.expect(204);
    drop(server);
    let _again = service.start();
    assert_eq!(named.places(&service.database().await).await, Vec::<String>::new());
}
