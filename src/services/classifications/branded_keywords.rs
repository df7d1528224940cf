//! Branded keywords: the terms that make a query a branded one.

use std::collections::HashSet;

use api::{
    classifications::{BrandedKeyword, BrandedKeywordsInput},
    privacy::AuditAction,
};
use entity::branded_keyword::{self, Column, Entity};
use sea_orm::{ActiveModelTrait as _, ColumnTrait, ConnectionTrait, EntityTrait, IntoActiveModel as _, QueryFilter};

use crate::{
    error::Error,
    search_engine::brand,
    services::{
        access::PropertyAccess,
        audit::Event,
        change::{PropertyChange, insert_all, trimmed},
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

/// Adds the keywords that do not exist yet. Returns all keywords.
pub async fn add(change: &PropertyChange, input: BrandedKeywordsInput) -> Result<Vec<BrandedKeyword>, Error> {
    if let Some(index) = input.keywords.iter().position(|keyword| !keyword.chars().any(char::is_alphanumeric)) {
        return Err(Error::invalid(format!("keywords[{index}]: must hold a letter or a digit")));
    }
    let property_id = change.lock().await?;
    let before = Entity::of_property(property_id).all(change.tx()).await?;
    let mut known: HashSet<String> = before.iter().map(|row| row.keyword_key.clone()).collect();
    let fresh = input.keywords.into_iter().filter(|keyword| known.insert(entity::key(keyword)));
    let fresh: Vec<branded_keyword::Model> = fresh
        .map(|keyword| branded_keyword::Model {
            id: change.new_id(),
            property_id,
            keyword_key: entity::key(&keyword),
            keyword: trimmed(&keyword),
            created_at: change.now,
        })
        .collect();
    let all: Vec<&str> = before.iter().chain(&fresh).map(|row| row.keyword.as_str()).collect();
    if all.len() > MAX_KEYWORDS {
        return Err(Error::invalid(format!(
            "keywords: these would make {}, and at most {MAX_KEYWORDS} are kept",
            all.len()
        )));
    }
    if brand::expression(&all).is_none() {
        return Err(Error::FilterTooComplex(
            "keywords: together they are longer than the search engine takes; use fewer or shorter ones".to_owned(),
        ));
    }
    insert_all(change.tx(), fresh.iter().map(|row| row.clone().into_active_model().reset_all()).collect()).await?;
    Ok(shown(before.into_iter().chain(fresh).collect()))
}

/// Removes a keyword, ignoring case.
pub async fn remove(change: &PropertyChange, keyword: &str) -> Result<(), Error> {
    let property_id = change.lock().await?;
    let named = Column::KeywordKey.eq(entity::key(keyword));
    let removed =
        Entity::delete_many().filter(Column::PropertyId.eq(property_id)).filter(named).exec(change.tx()).await?;
    if removed.rows_affected == 0 {
        return Err(Error::NotFound);
    }
    change.note(Event::on(&change.by, AuditAction::BrandedKeywordDeleted).record(keyword)).await
}
