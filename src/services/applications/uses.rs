//! Records which clients act for which people, beside the requests: a request only looks into memory.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use cached::{Cached as _, stores::LruCache};
use chrono::{DateTime, TimeDelta, Utc};
use entity::client_use::{ActiveModel, Column, Entity};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, DatabaseConnection, DbErr, EntityTrait, QueryFilter,
    sea_query::OnConflict,
};
use tokio::sync::mpsc::{self, Receiver, Sender};
use uuid::Uuid;

/// The minimum interval between two records of a pair by one process.
const EVERY: TimeDelta = TimeDelta::hours(1);
/// A client that was not used for this long is forgotten.
const KEEP: TimeDelta = TimeDelta::days(180);
/// The people whose clients are remembered. The least recently seen is dropped first.
const MAX_PEOPLE: usize = 4_096;
/// The clients that are remembered of one person. The one noted first is dropped first.
const MAX_CLIENTS: usize = 32;
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

/// The clients noted of each person, each with the time of the note.
type ByPerson = LruCache<Uuid, Vec<(String, DateTime<Utc>)>>;

/// The pairs that were noted.
#[derive(Clone)]
struct Noted(Arc<Mutex<ByPerson>>);

/// A use of a client.
struct Use {
    user_id: Uuid,
    client_id: String,
    scopes: String,
    at: DateTime<Utc>,
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

    /// Notes that a client acts for a person, with a token of these scopes.
    pub fn note(&self, user_id: Uuid, client_id: &str, scopes: &[String], now: DateTime<Utc>) {
        let mut noted = self.noted.lock();
        if noted.cache_get(&user_id).is_some_and(|clients| is_recent(clients, client_id, now)) {
            return;
        }
        let Ok(place) = self.waiting.try_reserve() else { return };
        place.send(Use { user_id, client_id: client_id.to_owned(), scopes: scopes.join(" "), at: now });
        let mut clients = noted.cache_remove(&user_id).unwrap_or_default();
        clients.retain(|(known, _)| known != client_id);
        if clients.len() == MAX_CLIENTS {
            clients.remove(0);
        }
        clients.push((client_id.to_owned(), now));
        noted.cache_set(user_id, clients);
    }
}

impl Noted {
    fn lock(&self) -> MutexGuard<'_, ByPerson> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets a use that was not written, so that the next request notes it again.
    fn forget(&self, unwritten: &Use) {
        let mut noted = self.lock();
        let mut clients = noted.cache_remove(&unwritten.user_id).unwrap_or_default();
        clients.retain(|(known, _)| *known != unwritten.client_id);
        noted.cache_set(unwritten.user_id, clients);
    }
}

fn is_recent(clients: &[(String, DateTime<Utc>)], client_id: &str, now: DateTime<Utc>) -> bool {
    clients.iter().any(|(known, at)| known == client_id && now - *at < EVERY)
}

async fn write(writer: DatabaseConnection, mut queue: Receiver<Use>, noted: Noted) {
    let mut batch = Vec::new();
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        // One statement must not name a pair twice.
        let uses = batch.drain(..).map(|one: Use| ((one.user_id, one.client_id.clone()), one));
        let uses: Vec<Use> = uses.collect::<HashMap<_, _>>().into_values().collect();
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

async fn store(writer: &DatabaseConnection, uses: &[Use]) -> Result<(), DbErr> {
    let rows = uses.iter().map(|one| ActiveModel {
        user_id: Set(one.user_id),
        client_id: Set(one.client_id.clone()),
        scopes: Set(one.scopes.clone()),
        first_used_at: Set(one.at),
        last_used_at: Set(one.at),
    });
    let again = OnConflict::columns([Column::UserId, Column::ClientId])
        .update_columns([Column::Scopes, Column::LastUsedAt])
        .to_owned();
    Entity::insert_many(rows).on_conflict(again).exec_without_returning(writer).await.map(|_| ())
}

/// Deletes records of clients that have not been used for long. Returns the number of deleted rows.
pub async fn sweep(db: &impl ConnectionTrait, now: DateTime<Utc>) -> Result<u64, DbErr> {
    Ok(Entity::delete_many().filter(Column::LastUsedAt.lt(now - KEEP)).exec(db).await?.rows_affected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{World, noon};

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
        let minutes = |minutes: i64| noon() + TimeDelta::minutes(minutes);
        uses.note(world.owner, "a", &scopes("openid"), noon());
        uses.note(world.owner, "a", &scopes("openid email"), minutes(59));
        uses.note(world.owner, "b", &scopes("openid"), minutes(59));
        let of_a = |rows: Vec<entity::client_use::Model>| rows.into_iter().find(|row| row.client_id == "a").unwrap();
        let first = of_a(recorded(&world, world.owner, 2).await);
        assert_eq!((first.first_used_at, first.last_used_at, first.scopes.as_str()), (noon(), noon(), "openid"));
        uses.note(world.owner, "a", &scopes("openid email"), minutes(60));
        uses.note(world.owner, "c", &[], minutes(60));
        let later = of_a(recorded(&world, world.owner, 3).await);
        assert_eq!((later.first_used_at, later.last_used_at), (noon(), minutes(60)));
        assert_eq!(later.scopes, "openid email");
        assert!(recorded(&world, world.stranger, 0).await.is_empty());

        assert_eq!(sweep(&world.db, noon() + KEEP).await.unwrap(), 0);
        assert_eq!(sweep(&world.db, minutes(60) + KEEP).await.unwrap(), 1, "only b was not used for longer");
    }

    #[tokio::test]
    async fn a_use_by_nobody_known_keeps_no_other_from_being_recorded() {
        let world = World::new().await;
        let uses = Uses::start(world.db.clone());
        for user in [Uuid::nil(), world.owner] {
            uses.note(user, "a", &[], noon());
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
        for number in 0..5 * MAX_CLIENTS {
            uses.note(world.owner, &number.to_string(), &[], noon());
        }
        assert_eq!(uses.noted.lock().cache_get(&world.owner).unwrap().len(), MAX_CLIENTS);
    }
}
