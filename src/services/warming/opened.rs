//! Notes which kinds of pages people open of which properties, beside the requests. Nothing else is noted: no query, and nobody.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use common::clock::Clock;
use entity::opened_page::{ActiveModel, Column, Entity};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, ConnectionTrait, DatabaseConnection, DbErr, EntityTrait as _, QueryFilter as _, QueryOrder as _,
    sea_query::{Expr, ExprTrait as _, OnConflict},
};
use tokio::sync::mpsc::{self, Receiver, Sender};
use uuid::Uuid;

/// The days for which it is known what was opened.
pub const KEEP: TimeDelta = TimeDelta::days(7);
/// Pages that wait to be noted. Beyond that number a page is noted when it is opened again.
const MAX_WAITING: usize = 1_024;
/// Pages of a day that are remembered. Beyond that number they are noted again.
const MAX_NOTED: usize = 100_000;

/// A kind of page that shows search data of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PageKind {
    /// Totals, the chart and short tables.
    Overview,
    /// The table of queries.
    Queries,
    /// The table of pages.
    Pages,
    /// The table of countries, with their trends.
    Countries,
    /// Growth opportunities.
    Growth,
    /// Queries that several pages share.
    Cannibalization,
    /// Query insights.
    Insights,
}

impl PageKind {
    /// Each with its name in the database.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Overview, "overview"),
        (Self::Queries, "queries"),
        (Self::Pages, "pages"),
        (Self::Countries, "countries"),
        (Self::Growth, "growth"),
        (Self::Cannibalization, "cannibalization"),
        (Self::Insights, "insights"),
    ];

    fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, known)| *known == name).map(|(kind, _)| kind)
    }
}

/// Notes opened pages and writes them in the background, if pages are read ahead.
#[derive(Clone)]
pub struct OpenedPages(Option<Notes>);

#[derive(Clone)]
struct Notes {
    clock: Clock,
    noted: Arc<Mutex<Noted>>,
    waiting: Sender<Opening>,
}

/// The pages noted on a day.
#[derive(Default)]
struct Noted {
    day: NaiveDate,
    pages: HashSet<(Uuid, PageKind)>,
}

struct Opening {
    property: Uuid,
    page: PageKind,
    day: NaiveDate,
}

impl OpenedPages {
    /// Notes nothing.
    #[must_use]
    pub fn off() -> Self {
        Self(None)
    }

    /// Starts the task that writes to `writer`. It ends with the last clone of the value.
    #[must_use]
    pub fn start(writer: DatabaseConnection, clock: Clock) -> Self {
        let (waiting, queue) = mpsc::channel(MAX_WAITING);
        tokio::spawn(write(writer, queue));
        Self(Some(Notes { clock, noted: Arc::default(), waiting }))
    }

    /// Notes that somebody opened a page of a property, once a day.
    pub fn note(&self, property: Uuid, page: PageKind) {
        let Some(Notes { clock, noted, waiting }) = &self.0 else { return };
        let day = clock.now().date_naive();
        let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.day != day || noted.pages.len() >= MAX_NOTED {
            *noted = Noted { day, pages: HashSet::new() };
        }
        if noted.pages.contains(&(property, page)) {
            return;
        }
        if waiting.try_send(Opening { property, page, day }).is_ok() {
            noted.pages.insert((property, page));
        }
    }
}

async fn write(writer: DatabaseConnection, mut queue: Receiver<Opening>) {
    while let Some(opening) = queue.recv().await {
        if let Err(error) = store(&writer, &opening).await {
            tracing::warn!(%error, "an opened page could not be noted");
        }
    }
}

/// Another replica may have noted it already, or a later day.
async fn store(db: &impl ConnectionTrait, opening: &Opening) -> Result<(), DbErr> {
    let row = ActiveModel {
        property_id: Set(opening.property),
        page: Set(opening.page.name().to_owned()),
        opened_on: Set(opening.day),
    };
    let is_later = Expr::col((Entity, Column::OpenedOn)).lt(opening.day);
    let again = OnConflict::columns([Column::PropertyId, Column::Page])
        .update_column(Column::OpenedOn)
        .action_and_where(is_later)
        .to_owned();
    Entity::insert(row).on_conflict(again).exec_without_returning(db).await.map(|_| ())
}

/// Returns the pages that were opened in the last days, together for each property.
pub(super) async fn lately(db: &impl ConnectionTrait, now: DateTime<Utc>) -> Result<Vec<(Uuid, Vec<PageKind>)>, DbErr> {
    let rows = Entity::find().filter(Column::OpenedOn.gt((now - KEEP).date_naive()));
    let rows = rows.order_by_asc(Column::PropertyId).order_by_asc(Column::Page).all(db).await?;
    let of_property = rows.chunk_by(|a, b| a.property_id == b.property_id);
    // A page of another version is skipped.
    let pages =
        |rows: &[entity::opened_page::Model]| rows.iter().filter_map(|row| PageKind::named(&row.page)).collect();
    Ok(of_property.map(|rows| (rows[0].property_id, pages(rows))).collect())
}

/// Deletes what nobody has opened for [`KEEP`]. Returns the number of deleted rows.
pub async fn sweep(db: &impl ConnectionTrait, now: DateTime<Utc>) -> Result<u64, DbErr> {
    let old = Column::OpenedOn.lte((now - KEEP).date_naive());
    Ok(Entity::delete_many().filter(old).exec(db).await?.rows_affected)
}
