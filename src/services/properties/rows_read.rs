//! Tests of how much the database reads for a colleague who sees a few of an owner's many properties.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering},
};

use chrono::TimeDelta;
use entity::{property, property_tag, tag, team_grant};
use sea_orm::{
    ActiveModelTrait as _, ActiveValue::Set, ConnectionTrait as _, DbBackend, EntityTrait as _, IntoActiveModel as _,
    Statement,
};
use serde_json::Value;
use test_data::noon;
use uuid::Uuid;

use super::{reference, visible, visible_sites};
use crate::{
    config::Config,
    services::{
        access::facts::{self, Caller, Plans},
        tags,
    },
    testing::World,
};

/// The properties that the colleague sees: those that the owner has tracked for the shortest time.
const SEEN: usize = 20;

/// A count of the work that readings cause.
enum Meter {
    /// The steps of `SQLite`'s virtual machine.
    Steps(Arc<AtomicU64>),
    /// The statements that `PostgreSQL` got.
    Statements(Arc<Mutex<Vec<Statement>>>),
}

impl Meter {
    async fn of(world: &mut World) -> Self {
        if world.db.get_database_backend() == DbBackend::Sqlite {
            let steps = Arc::new(AtomicU64::new(0));
            let counted = steps.clone();
            let mut connection = world.db.get_sqlite_connection_pool().acquire().await.unwrap();
            connection.lock_handle().await.unwrap().set_progress_handler(1, move || {
                counted.fetch_add(1, Ordering::Relaxed);
                true
            });
            return Self::Steps(steps);
        }
        let sent = Arc::new(Mutex::new(Vec::new()));
        let statements = sent.clone();
        world.db.set_metric_callback(move |ask| statements.lock().unwrap().push(ask.statement.clone()));
        Self::Statements(sent)
    }

    /// Returns the steps, or the rows that the scans of a statement read at most.
    async fn of_reading(&self, world: &World, read: impl AsyncFnOnce()) -> u64 {
        match self {
            Self::Steps(steps) => {
                let before = steps.load(Ordering::Relaxed);
                read().await;
                steps.load(Ordering::Relaxed) - before
            }
            Self::Statements(sent) => {
                sent.lock().unwrap().clear();
                read().await;
                let asked = std::mem::take(&mut *sent.lock().unwrap());
                assert!(!asked.is_empty());
                let mut most = 0;
                for Statement { sql, values, db_backend } in asked {
                    let sql = format!("EXPLAIN (ANALYZE, FORMAT JSON) {sql}");
                    let explained =
                        world.db.query_one_raw(Statement { sql, values, db_backend }).await.unwrap().unwrap();
                    let plan: Value = explained.try_get_by_index(0).unwrap();
                    most = most.max(rows_of_scans(&plan[0]["Plan"]));
                }
                most
            }
        }
    }
}

/// Returns the most rows that a scan of a plan reads.
fn rows_of_scans(node: &Value) -> u64 {
    let is_scan = node["Node Type"].as_str().unwrap().contains("Scan") && node.get("Relation Name").is_some();
    let rows = ["Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck"]
        .map(|name| node[name].as_f64().unwrap_or_default())
        .iter()
        .sum::<f64>();
    let all = rows * node["Actual Loops"].as_f64().unwrap();
    let own = if is_scan { format!("{all:.0}").parse().unwrap() } else { 0 };
    let below = node["Plans"].as_array().into_iter().flatten().map(rows_of_scans);
    below.fold(own, u64::max)
}

/// Stores `count` tracked properties of a person, each tracked for a shorter time than the one before it.
async fn track(world: &World, person: Uuid, count: usize) -> Vec<Uuid> {
    let first = world.add_property(person, "https://site-0.test/", true).await;
    let first = property::Entity::find_by_id(first).one(&world.db).await.unwrap().unwrap();
    let rows: Vec<property::Model> = (1_i64..)
        .take(count - 1)
        .map(|index| property::Model {
            id: world.random.id(noon()),
            site_url: format!("https://site-{index}.test/"),
            tracked_at: Some(noon() + TimeDelta::seconds(index)),
            ..first.clone()
        })
        .collect();
    for chunk in rows.chunks(500) {
        let rows = chunk.iter().map(|row| row.clone().into_active_model().reset_all());
        property::Entity::insert_many(rows).exec_without_returning(&world.db).await.unwrap();
    }
    rows.iter().map(|property| property.id).collect()
}

/// A world in which the owner tracks `tracked` of 12,000 properties, and a colleague sees [`SEEN`] of them, each with a tag. A planner reads
/// a small table whole.
async fn agency(tracked: usize) -> (World, Uuid, Vec<Uuid>, Uuid) {
    let world = World::new().await;
    let colleague = world.add_person("colleague", true).await;
    track(&world, world.stranger, 12_000 - tracked).await;
    let tracked = track(&world, world.owner, tracked).await;
    let seen: Vec<Uuid> = tracked.into_iter().rev().take(SEEN).collect();
    world.grant("colleague@demo.test", team_grant::Role::Viewer, &seen).await;
    let tag = tag::ActiveModel {
        id: Set(world.random.id(noon())),
        user_id: Set(colleague),
        name: Set("clients".into()),
        name_key: Set("clients".into()),
        position: Set(0),
        created_at: Set(noon()),
        updated_at: Set(noon()),
    };
    let tag = tag::Entity::insert(tag).exec_with_returning(&world.db).await.unwrap().id;
    let tagged = seen.iter().map(|id| property_tag::ActiveModel { tag_id: Set(tag), property_id: Set(*id) });
    property_tag::Entity::insert_many(tagged).exec_without_returning(&world.db).await.unwrap();
    world.db.execute_unprepared("ANALYZE").await.unwrap();
    (world, colleague, seen, tag)
}

/// The cost of each reading where the owner tracks `tracked` properties.
async fn costs(tracked: usize) -> Vec<(&'static str, u64)> {
    let (mut world, colleague, seen, tag) = agency(tracked).await;
    let meter = Meter::of(&mut world).await;
    let (world, mut config) = (world, Config::default());
    // Plans that are sold count what an owner tracks.
    config.billing.enabled = false;
    let member = world.member(&config, colleague).await;
    let listed = async || {
        assert_eq!(visible(&world.db, &config, &member, noon()).await.unwrap().len(), SEEN);
    };
    let named = async || {
        assert_eq!(visible_sites(&world.db, &member, noon()).await.unwrap().len(), SEEN);
        let address = format!("https://site-{}.test/", tracked - 1);
        assert_eq!(reference::find(&world.db, &member, &address, noon()).await.unwrap(), seen[0]);
    };
    let tags = async || {
        let listed = tags::list(&world.db, &member, noon()).await.unwrap();
        assert_eq!(listed[0].rows_matched, SEEN as u64);
        assert_eq!(tags::properties(&world.db, &member, tag, noon()).await.unwrap().len(), SEEN);
    };
    let (issuer, subject) = (&*member.user.issuer, &*member.user.subject);
    let caller = Caller::Token { issuer, subject, id: "", grant: None, subject_key: "", client: "", person: "" };
    let admission = async || {
        let facts = facts::of_caller(&world.db, Plans::None, caller, Some(seen[0])).await.unwrap().unwrap();
        assert!(facts.property.is_some());
    };
    vec![
        ("list", meter.of_reading(&world, listed).await),
        ("name", meter.of_reading(&world, named).await),
        ("tags", meter.of_reading(&world, tags).await),
        ("admission", meter.of_reading(&world, admission).await),
    ]
}

#[tokio::test]
async fn a_colleague_reads_as_many_rows_whatever_the_owner_has() {
    let (few, many) = (costs(100).await, costs(2_000).await);
    for ((what, few), (_, many)) in few.iter().zip(&many) {
        assert!(*many > 0 && *many <= few + few / 10, "{what}: {many}, and {few} where the owner has a twentieth");
    }
}
