//! The export of a person: one JSON document, written section by section while it is sent. Little of it is in memory at once.

mod access;
mod properties;
mod records;

use std::{io, sync::Arc};

use api::{
    models::Timestamp,
    privacy::{Profile, SubscriptionRecord},
    stream::{JsonWriter, ToJSON},
};
use bytes::Bytes;
use entity::user;
use futures_util::stream::{self, BoxStream, StreamExt as _};
use sea_orm::DatabaseConnection;
use telemetry::traces::Current;
use tokio::{
    sync::mpsc::{self, Sender},
    time::{Duration, timeout},
};
use uuid::Uuid;

use super::{Privacy, tables::Person};
use crate::{
    error::Error,
    services::{
        access::{Authors, verified_email_key},
        users::Member,
    },
};

/// The time for which an export waits for another one of the same person.
const TIMEOUT: Duration = Duration::from_secs(25);
/// The size in bytes from which written bytes are sent.
const BLOCK: usize = 64 * 1024;

/// An export under way.
struct Export {
    db: DatabaseConnection,
    member: Arc<Member>,
    /// The person as the list of tables names them. The address counts only while the person sees the grants to it.
    person: Person,
    email_key: Option<String>,
    now: chrono::DateTime<chrono::Utc>,
    out: JsonWriter,
    reader: Sender<io::Result<Bytes>>,
}

/// Begins an export and returns its bytes.
pub(super) async fn export(
    privacy: &Privacy,
    member: &Arc<Member>,
) -> Result<BoxStream<'static, io::Result<Bytes>>, Error> {
    let place = timeout(TIMEOUT, privacy.exports.of(member.user.id).acquire_owned()).await;
    let place = place.map_err(|_| Error::Overloaded("another export of the person is being sent".to_owned()))?;
    let place = place.map_err(Error::internal)?;
    let (reader, blocks) = mpsc::channel(1);
    let now = privacy.search.clock.now();
    let mut export = Export {
        db: privacy.search.db.clone(),
        member: member.clone(),
        person: Person::new(&member.user, now),
        email_key: verified_email_key(&member.user, now).map(str::to_owned),
        now,
        out: JsonWriter::default(),
        reader,
    };
    tokio::spawn(Current::get().around(async move {
        if let Err(error) = export.write().await {
            tracing::warn!(%error, "an export ends early");
            let _ = export.reader.send(Err(io::Error::other("the export ends early"))).await;
        }
        drop(place);
    }));
    Ok(stream::unfold(blocks, async |mut blocks| Some((blocks.recv().await?, blocks))).boxed())
}

impl Export {
    async fn write(&mut self) -> Result<(), Error> {
        self.out.begin_object();
        self.out.name("data");
        self.out.begin_object();
        self.out.field("exportedAt", &Timestamp::from(self.now));
        self.out.field("profile", &profile(&self.member.user));
        self.out.field("subscription", &subscription(&self.member));
        self.local_account().await?;
        self.properties().await?;
        self.records().await?;
        self.access().await?;
        self.audit_trail().await?;
        self.out.end_object();
        self.out.end_object();
        self.send().await
    }

    /// Writes a section, or a list within one.
    async fn list<T: ToJSON>(&mut self, name: &'static str, items: impl IntoIterator<Item = T>) -> Result<(), Error> {
        self.begin(name);
        self.items(items).await?;
        self.end();
        Ok(())
    }

    fn begin(&mut self, name: &'static str) {
        self.out.name(name);
        self.out.begin_array();
    }

    fn end(&mut self) {
        self.out.end_array();
    }

    /// Names the authors of records.
    async fn authors(&self, ids: Vec<Option<Uuid>>) -> Result<Authors, Error> {
        Ok(Authors::named(&self.db, &[&*self.member.user], ids).await?)
    }

    async fn items<T: ToJSON>(&mut self, items: impl IntoIterator<Item = T>) -> Result<(), Error> {
        for item in items {
            self.out.value(&item);
            if self.out.waiting() >= BLOCK {
                self.send().await?;
            }
        }
        Ok(())
    }

    /// Sends the written bytes once the reader has taken the earlier ones.
    async fn send(&mut self) -> Result<(), Error> {
        let sent = self.reader.send(Ok(self.out.take().into())).await;
        sent.map_err(|_| Error::internal("the reader has left"))
    }
}

fn profile(user: &user::Model) -> Profile {
    Profile {
        id: user.id,
        issuer: user.issuer.clone(),
        subject: user.subject.clone(),
        email: user.email.clone(),
        email_verified: user.email_verified,
        email_stated_at: user.email_stated_at.map(Into::into),
        name: user.name.clone(),
        name_stated_at: user.name_stated_at.map(Into::into),
        created_at: user.created_at.into(),
        updated_at: user.updated_at.into(),
    }
}

fn subscription(member: &Member) -> SubscriptionRecord {
    let user = &member.user;
    SubscriptionRecord {
        status: member.entitlement.status,
        plan: Some(user.plan.name().to_owned()),
        period_starts_at: user.period_starts_at.map(Into::into),
        period_ends_at: user.period_ends_at.map(Into::into),
        trial_ends_at: user.trial_ends_at.map(Into::into),
    }
}
