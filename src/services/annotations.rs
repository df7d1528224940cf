//! Annotations: events on a day, shown on the charts of a property.

use api::{
    annotations::{Annotation, AnnotationInput, AnnotationListParams, AnnotationSource},
    privacy::AuditAction,
};
use chrono::NaiveDate;
use common::compute::beside;
use entity::annotation::{self, Column, Entity};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, IntoActiveModel, ModelTrait, QueryFilter,
};
use uuid::Uuid;

use super::{
    access::{Authors, PropertyAccess, ReadableProperty},
    audit::Event,
    change::{Limit, NewText, PropertyChange, etag},
    system_annotations::SystemAnnotations,
};
use crate::error::Error;

/// The maximum number of annotations of a property.
const MAX_ANNOTATIONS: Limit = Limit { max: 5_000, noun: "annotations of the property" };

/// Returns the annotations of a property, newest first. With a window, returns annotations that overlap it.
pub async fn list(
    db: &impl ConnectionTrait,
    system: &SystemAnnotations,
    access: &PropertyAccess,
    params: &AnnotationListParams,
) -> Result<Vec<Annotation>, Error> {
    let window = params.start_date.zip(params.end_date);
    let touches =
        move |date: NaiveDate, end: NaiveDate| window.is_none_or(|(first, last)| date <= last && end >= first);
    let own = Entity::of_property(access.property().id).all(db).await?;
    let authors = access.authors(db, own.iter().map(|row| row.author_id).collect()).await?;
    let system = params.include_system.then(|| system.clone());
    Ok(beside(move || sorted(&own, &authors, system.as_ref(), touches)).await?)
}

/// Returns the annotations of a property and the system annotations, newest first and without their authors.
pub async fn unsigned(
    db: &impl ConnectionTrait,
    system: &SystemAnnotations,
    access: &ReadableProperty,
) -> Result<Vec<Annotation>, Error> {
    let own = Entity::of_property(access.property().id).all(db).await?;
    let system = system.clone();
    Ok(beside(move || sorted(&own, &Authors::default(), Some(&system), |_, _| true)).await?)
}

/// Returns the annotations that `touches` accepts by their first and last day, newest first.
fn sorted(
    own: &[annotation::Model],
    authors: &Authors,
    system: Option<&SystemAnnotations>,
    touches: impl Fn(NaiveDate, NaiveDate) -> bool,
) -> Vec<Annotation> {
    let system = system.into_iter().flat_map(SystemAnnotations::all).cloned();
    let all = own.iter().map(|row| to_api(row, authors)).chain(system);
    let mut shown: Vec<Annotation> =
        all.filter(|shown| touches(shown.date, shown.end_date.unwrap_or(shown.date))).collect();
    shown.sort_by(|a, b| b.date.cmp(&a.date).then(b.id.cmp(&a.id)));
    shown
}

/// Returns an annotation of a property, or a system annotation.
pub async fn one(
    db: &impl ConnectionTrait,
    system: &SystemAnnotations,
    access: &PropertyAccess,
    id: Uuid,
) -> Result<Annotation, Error> {
    if let Some(known) = system.all().iter().find(|annotation| annotation.id == id) {
        return Ok(known.clone());
    }
    let row = Entity::one_of_property(access.property().id, id).one(db).await?.ok_or(Error::NotFound)?;
    let authors = access.authors(db, vec![row.author_id]).await?;
    Ok(to_api(&row, &authors))
}

/// Creates an annotation.
pub async fn create(change: &PropertyChange, input: AnnotationInput) -> Result<Annotation, Error> {
    let days = check(&input)?;
    let property_id = change.lock().await?;
    let text = NewText { field: "text", bytes: input.text.len(), is_new: true };
    change.check_text(Entity::of_property(property_id), Column::Text, text, MAX_ANNOTATIONS).await?;
    let row = annotation::ActiveModel {
        id: Set(change.new_id()),
        property_id: Set(property_id),
        author_id: Set(Some(change.by.user_id())),
        date: Set(days.0),
        end_date: Set(days.1),
        text: Set(input.text),
        category: Set(input.category.map(|category| category.trim().to_owned())),
        created_at: Set(change.now),
        updated_at: Set(change.now),
    };
    written(change, &row.insert(change.tx()).await?).await
}

/// Replaces the content of an annotation.
pub async fn replace(change: &PropertyChange, id: Uuid, input: AnnotationInput) -> Result<Annotation, Error> {
    let property_id = change.lock().await?;
    let row = change.current(Entity::one_of_property(property_id, id)).await?;
    let days = check(&input)?;
    if input.text.len() > row.text.len() {
        let others = Entity::of_property(property_id).filter(Column::Id.ne(id));
        let text = NewText { field: "text", bytes: input.text.len(), is_new: false };
        change.check_text(others, Column::Text, text, MAX_ANNOTATIONS).await?;
    }
    let mut row = row.into_active_model();
    row.date = Set(days.0);
    row.end_date = Set(days.1);
    row.text = Set(input.text);
    row.category = Set(input.category.map(|category| category.trim().to_owned()));
    row.updated_at = Set(change.now);
    written(change, &row.update(change.tx()).await?).await
}

/// Deletes an annotation.
pub async fn delete(change: &PropertyChange, id: Uuid) -> Result<(), Error> {
    let property_id = change.lock().await?;
    let row = change.current(Entity::one_of_property(property_id, id)).await?;
    let day = row.date.to_string();
    row.delete(change.tx()).await?;
    change.note(Event::on(&change.by, AuditAction::AnnotationDeleted).record(day)).await
}

/// Returns the first and last day of an annotation. The last day is `None` if it equals the first.
fn check(input: &AnnotationInput) -> Result<(NaiveDate, Option<NaiveDate>), Error> {
    if input.end_date.is_some_and(|end| end < input.date) {
        return Err(Error::invalid("endDate: must not be before date"));
    }
    Ok((input.date, input.end_date.filter(|end| *end != input.date)))
}

async fn written(change: &PropertyChange, row: &annotation::Model) -> Result<Annotation, Error> {
    Ok(to_api(row, &change.by.authors(change.tx(), vec![row.author_id]).await?))
}

pub(super) fn to_api(row: &annotation::Model, authors: &Authors) -> Annotation {
    Annotation {
        id: row.id,
        date: row.date,
        end_date: row.end_date,
        text: row.text.clone(),
        category: row.category.clone(),
        source: AnnotationSource::User,
        created_by: authors.name(row.author_id),
        source_url: None,
        etag: etag(row),
        created_at: row.created_at.into(),
        updated_at: row.updated_at.into(),
    }
}
