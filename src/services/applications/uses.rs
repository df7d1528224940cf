//! Records which clients act for which people, beside the requests: a request only looks into memory.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use cached::{Cached as _, stores::LruCache};
use chrono::{DateTime, TimeDelta, Utc};
use common::clock::Moment;
use entity::client_use::{ActiveModel, Column, Entity};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, ConnectionTrait, DatabaseConnection, DbErr, EntityTrait, QueryFilter,
    sea_query::{Expr, OnConflict},
};
use tokio::sync::mpsc::{self, Receiver, Sender};
use uuid::Uuid;

/// The minimum interval between two records of a pair by one process.
const EVERY: TimeDelta = TimeDelta::hours(1);
/// A client that was not used for this long is forgotten.
const KEEP: TimeDelta = TimeDelta::days(180);
/// The people whose clients are remembered. The least recently seen is dropped first.
const MAX_PEOPLE: usize = 4_096;
/// The notes that are remembered of one person. The oldest is dropped first.
const MAX_NOTES: usize = 32;
/// Uses that wait to be written. Beyond that number a use is noted by a later request.
const MAX_WAITING: usize = 1_024;
/// Uses that one statement writes, so that after a restart they do not delay other writes one by one.
const BATCH: usize = 100;

/// Notes uses and writes them in the background.
#[derive(Clone)]
pub struct Uses {
    noted: Noted,
    waiting: Sender<Use>,
}

/// The place at which a client acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SurfaceKind {
    /// The REST API.
    Api,
    /// The tool endpoint, which assistants use.
    Tools,
}

/// The clients noted of each person.
type ByPerson = LruCache<Uuid, Vec<Note>>;

/// A client at a surface, and the time of its use.
struct Note {
    client_id: String,
    surface: SurfaceKind,
    at: Moment,
}

impl Note {
    fn is_of(&self, client_id: &str, surface: SurfaceKind) -> bool {
        self.client_id == client_id && self.surface == surface
    }
}

/// The pairs that were noted.
#[derive(Clone)]
struct Noted(Arc<Mutex<ByPerson>>);

/// A use of a client.
struct Use {
    user_id: Uuid,
    client_id: String,
    scopes: String,
    at: DateTime<Utc>,
    tools_at: Option<DateTime<Utc>>,
}

impl Use {
    /// Adds a later use of the same client.
    fn followed_by(&mut self, later: Self) {
        let tools_at = later.tools_at.or(self.tools_at);
        *self = Self { tools_at, ..later };
    }
}

impl Uses {
    /// Starts the task that writes uses to `writer`. It ends with the last clone of the value.
    #[must_use]
    pub fn start(writer: DatabaseConnection) -> Self {
        let (waiting, queue) = mpsc::channel(MAX_WAITING);
        let noted = Noted(Arc::new(Mutex::new(LruCache::new(MAX_PEOPLE))));
        tokio::spawn(write(writer, queue, noted.clone()));
        Self { noted, waiting }
    }

    /// Notes that a client acts for a person at `surface`, with a token of these scopes.
    pub fn note(&self, user_id: Uuid, client_id: &str, surface: SurfaceKind, scopes: &[String], now: Moment) {
        let mut noted = self.noted.lock();
        let is_recent = |note: &Note| note.is_of(client_id, surface) && now.since(note.at) < EVERY;
        if noted.cache_get(&user_id).is_some_and(|notes| notes.iter().any(is_recent)) {
            return;
        }
        let Ok(place) = self.waiting.try_reserve() else { return };
        let client_id = client_id.to_owned();
        let at = now.wall();
        let tools_at = (surface == SurfaceKind::Tools).then_some(at);
        place.send(Use { user_id, client_id: client_id.clone(), scopes: scopes.join(" "), at, tools_at });
        let mut of_person = noted.cache_remove(&user_id).unwrap_or_default();
        of_person.retain(|note| !note.is_of(&client_id, surface));
        if of_person.len() == MAX_NOTES {
            of_person.remove(0);
        }
        of_person.push(Note { client_id, surface, at: now });
        noted.cache_set(user_id, of_person);
    }
}

impl Noted {
    fn lock(&self) -> MutexGuard<'_, ByPerson> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets a use that was not written, so that the next request notes it again.
    fn forget(&self, unwritten: &Use) {
        let mut noted = self.lock();
        let mut of_person = noted.cache_remove(&unwritten.user_id).unwrap_or_default();
        of_person.retain(|note| note.client_id != unwritten.client_id);
        noted.cache_set(unwritten.user_id, of_person);
    }
}

async fn write(writer: DatabaseConnection, mut queue: Receiver<Use>, noted: Noted) {
    let mut batch = Vec::new();
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        let uses = merged(&mut batch);
        if store(&writer, &uses).await.is_ok() {
            continue;
        }
        // One of them can fail alone: that of a person who was deleted meanwhile.
        for one in &uses {
            if let Err(error) = store(&writer, std::slice::from_ref(one)).await {
                tracing::warn!(%error, "the use of a client could not be recorded");
                noted.forget(one);
            }
        }
    }
}

/// Merges the uses of a pair, because one statement must not name it twice.
fn merged(batch: &mut Vec<Use>) -> Vec<Use> {
    let mut uses: HashMap<(Uuid, String), Use> = HashMap::new();
    for one in batch.drain(..) {
        match uses.entry((one.user_id, one.client_id.clone())) {
            Entry::Occupied(mut earlier) => earlier.get_mut().followed_by(one),
            Entry::Vacant(place) => drop(place.insert(one)),
        }
    }
    uses.into_values().collect()
}

async fn store(writer: &DatabaseConnection, uses: &[Use]) -> Result<(), DbErr> {
    let rows = uses.iter().map(|one| ActiveModel {
        user_id: Set(one.user_id),
        client_id: Set(one.client_id.clone()),
        scopes: Set(one.scopes.clone()),
        first_used_at: Set(one.at),
        last_used_at: Set(one.at),
        tools_used_at: Set(one.tools_at),
    });
    let again = OnConflict::columns([Column::UserId, Column::ClientId])
        .update_columns([Column::Scopes, Column::LastUsedAt])
        // A use of the API keeps the time at which the client last used the tools.
        .value(Column::ToolsUsedAt, Expr::cust("COALESCE(excluded.tools_used_at, client_use.tools_used_at)"))
        .to_owned();
    Entity::insert_many(rows).on_conflict(again).exec_without_returning(writer).await.map(|_| ())
}

/// Deletes records of clients that have not been used for long. Returns the number of deleted rows.
pub async fn sweep(db: &impl ConnectionTrait, now: DateTime<Utc>) -> Result<u64, DbErr> {
    Ok(Entity::delete_many().filter(Column::LastUsedAt.lt(now - KEEP)).exec(db).await?.rows_affected)
}

#[cfg(test)]
mod tests {
    use test_data::noon;

    use super::*;
    use crate::testing::World;

    /// So many minutes after noon.
    fn after(minutes: i64) -> Moment {
        Moment::starting_at(noon()) + TimeDelta::minutes(minutes)
    }

    /// Waits until `user` has this number of recorded clients.
    async fn recorded(world: &World, user: Uuid, clients: usize) -> Vec<entity::client_use::Model> {
        loop {
            let rows = Entity::of_user(user).all(&world.db).await.unwrap();
            if rows.len() == clients {
                return rows;
            }
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_use_is_recorded_once_an_hour_with_its_first_and_last_time() {
        let world = World::new().await;
        let uses = Uses::start(world.db.clone());
        let scopes = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let minutes = |minutes: i64| after(minutes).wall();
        uses.note(world.owner, "a", SurfaceKind::Api, &scopes("openid"), after(0));
        uses.note(world.owner, "a", SurfaceKind::Api, &scopes("openid email"), after(59));
        uses.note(world.owner, "b", SurfaceKind::Tools, &scopes("openid"), after(59));
        let of_a = |rows: Vec<entity::client_use::Model>| rows.into_iter().find(|row| row.client_id == "a").unwrap();
        let first = of_a(recorded(&world, world.owner, 2).await);
        assert_eq!((first.first_used_at, first.last_used_at, first.scopes.as_str()), (noon(), noon(), "openid"));
        uses.note(world.owner, "a", SurfaceKind::Api, &scopes("openid email"), after(60));
        uses.note(world.owner, "c", SurfaceKind::Api, &[], after(60));
        let later = of_a(recorded(&world, world.owner, 3).await);
        assert_eq!((later.first_used_at, later.last_used_at), (noon(), minutes(60)));
        assert_eq!((later.scopes.as_str(), later.tools_used_at), ("openid email", None));
        assert!(recorded(&world, world.stranger, 0).await.is_empty());

        assert_eq!(sweep(&world.db, noon() + KEEP).await.unwrap(), 0);
        assert_eq!(sweep(&world.db, minutes(60) + KEEP).await.unwrap(), 1, "only b was not used for longer");
    }

    #[tokio::test]
    async fn an_assistant_stays_one_when_it_uses_the_api() {
        let world = World::new().await;
        let uses = Uses::start(world.db.clone());
        let hour = after(60);
        uses.note(world.owner, "a", SurfaceKind::Tools, &[], after(0));
        uses.note(world.owner, "a", SurfaceKind::Api, &[], hour);
        uses.note(world.owner, "last", SurfaceKind::Api, &[], hour);
        let rows = recorded(&world, world.owner, 2).await;
        let row = rows.iter().find(|row| row.client_id == "a").unwrap();
        assert_eq!((row.tools_used_at, row.last_used_at), (Some(noon()), hour.wall()));
    }

    #[tokio::test]
    async fn a_use_by_nobody_known_keeps_no_other_from_being_recorded() {
        let world = World::new().await;
        let uses = Uses::start(world.db.clone());
        for user in [Uuid::nil(), world.owner] {
            uses.note(user, "a", SurfaceKind::Api, &[], after(0));
        }
        recorded(&world, world.owner, 1).await;
        while uses.noted.lock().cache_get(&Uuid::nil()).is_none_or(|clients| !clients.is_empty()) {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_person_with_many_clients_fills_no_memory() {
        let world = World::new().await;
        let uses = Uses::start(world.db.clone());
        for number in 0..5 * MAX_NOTES {
            uses.note(world.owner, &number.to_string(), SurfaceKind::Api, &[], after(0));
        }
        assert_eq!(uses.noted.lock().cache_get(&world.owner).unwrap().len(), MAX_NOTES);
    }
}
