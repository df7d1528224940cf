//! Branded keywords: the terms that make a query a branded one.

use std::collections::HashSet;

use api::{
    classifications::{BrandedKeyword, BrandedKeywordsInput},
    privacy::AuditAction,
};
use entity::branded_keyword::{self, Column, Entity};
use sea_orm::{ActiveModelTrait as _, ColumnTrait, ConnectionTrait, EntityTrait, IntoActiveModel as _, QueryFilter};
use search_engine::{Condition, Expression, brand};
use uuid::Uuid;

use crate::{
    error::Error,
    services::{
        access::PropertyAccess,
        audit::Event,
        change::{PropertyChange, insert_all, name_key, trimmed},
    },
};

/// The maximum number of keywords of a property.
const MAX_KEYWORDS: usize = 200;

/// Returns a property's keywords, in order.
pub async fn list(db: &impl ConnectionTrait, access: &PropertyAccess) -> Result<Vec<BrandedKeyword>, Error> {
    Ok(shown(Entity::of_property(access.property().id).all(db).await?))
}

/// Converts the rows, ordered by the bytes of the folded keyword, because each database has its own collation.
pub(in crate::services) fn shown(mut rows: Vec<branded_keyword::Model>) -> Vec<BrandedKeyword> {
    rows.sort_by(|a, b| a.keyword_key.cmp(&b.keyword_key));
    rows.into_iter().map(|row| BrandedKeyword { keyword: row.keyword, created_at: row.created_at.into() }).collect()
}

/// The keywords of a property with more of them.
struct Extended {
    before: Vec<branded_keyword::Model>,
    /// The keywords that do not exist yet.
    fresh: Vec<String>,
    /// Matches the queries that any of them makes branded.
    expression: String,
}

impl Extended {
    /// Fails if the property cannot have these keywords beside its own.
    async fn of(db: &impl ConnectionTrait, property_id: Uuid, input: BrandedKeywordsInput) -> Result<Self, Error> {
        let before = Entity::of_property(property_id).all(db).await?;
        let mut known: HashSet<String> = before.iter().map(|row| row.keyword_key.clone()).collect();
        let fresh = input.keywords.into_iter().filter(|keyword| known.insert(name_key(keyword)));
        let fresh: Vec<String> = fresh.map(|keyword| trimmed(&keyword)).collect();
        let all: Vec<&str> = before.iter().map(|row| &row.keyword).chain(&fresh).map(String::as_str).collect();
        if all.len() > MAX_KEYWORDS {
            return Err(Error::invalid(format!(
                "keywords: there would be {}, and at most {MAX_KEYWORDS} are kept",
                all.len()
            )));
        }
        let expression = brand::expression(&all).ok_or_else(|| {
            Error::FilterTooComplex(
                "keywords: their expression is longer than the search engine takes; use fewer or shorter ones"
                    .to_owned(),
            )
        })?;
        Ok(Self { before, fresh, expression })
    }
}

/// Adds the keywords that do not exist yet. Returns all keywords.
pub async fn add(change: &PropertyChange, input: BrandedKeywordsInput) -> Result<Vec<BrandedKeyword>, Error> {
    let property_id = change.lock().await?;
    let Extended { before, fresh, .. } = Extended::of(change.tx(), property_id, input).await?;
    let fresh: Vec<branded_keyword::Model> = fresh
        .into_iter()
        .map(|keyword| branded_keyword::Model {
            id: change.new_id(),
            property_id,
            keyword_key: name_key(&keyword),
            keyword,
            created_at: change.now,
        })
        .collect();
    insert_all(change.tx(), fresh.iter().map(|row| row.clone().into_active_model().reset_all()).collect()).await?;
    Ok(shown(before.into_iter().chain(fresh).collect()))
}

/// Returns the matches of all keywords of the property together with these, or fails if [`add`] would refuse them.
pub async fn preview(
    db: &impl ConnectionTrait,
    access: &PropertyAccess,
    input: BrandedKeywordsInput,
) -> Result<Expression, Error> {
    let extended = Extended::of(db, access.property().id, input).await?;
    Ok(Expression(vec![vec![Condition::Branded(extended.expression)]]))
}

/// Removes a keyword, ignoring case.
pub async fn remove(change: &PropertyChange, keyword: &str) -> Result<(), Error> {
    let property_id = change.lock().await?;
    let named = Column::KeywordKey.eq(name_key(keyword));
    let removed =
        Entity::delete_many().filter(Column::PropertyId.eq(property_id)).filter(named).exec(change.tx()).await?;
    if removed.rows_affected == 0 {
        return Err(Error::NotFound);
    }
    change.note(Event::on(&change.by, AuditAction::BrandedKeywordDeleted).record(keyword)).await
}
