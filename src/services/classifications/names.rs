//! The parts of a property's traffic that a question can be about, by name.

use entity::classification::Kind;
use sea_orm::{ActiveEnum as _, ConnectionTrait, DbErr, FromQueryResult, Statement};
use uuid::Uuid;

use crate::services::access::PropertyAccess;

/// The names of a property's classifications.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// True if the property has branded keywords.
    pub has_brand: bool,
    /// The segments, by name.
    pub segments: Vec<(Uuid, String)>,
    /// The topic clusters, by name.
    pub topic_clusters: Vec<(Uuid, String)>,
}

#[derive(FromQueryResult)]
struct Row {
    kind: Option<String>,
    id: Uuid,
    name: String,
}

/// The classifications of a property (`$1`), and a row without a kind if it has branded keywords.
const NAMES: &str = "SELECT c.kind AS kind, c.id AS id, c.name AS name, c.name_key AS name_key FROM classification c \
                     WHERE c.property_id = $1 \
                     UNION ALL SELECT CAST(NULL AS text), p.id, '', '' FROM property p \
                     WHERE p.id = $1 AND EXISTS (SELECT 1 FROM branded_keyword b WHERE b.property_id = p.id) \
                     ORDER BY name_key";

/// Returns the names of a property's classifications. Executes one statement.
///
/// # Errors
/// The database cannot answer.
pub async fn names(db: &impl ConnectionTrait, access: &PropertyAccess) -> Result<Names, DbErr> {
    let ask = Statement::from_sql_and_values(db.get_database_backend(), NAMES, [access.property().id.into()]);
    let mut names = Names::default();
    for Row { kind, id, name } in Row::find_by_statement(ask).all(db).await? {
        match kind {
            None => names.has_brand = true,
            Some(kind) if kind == Kind::Segment.to_value() => names.segments.push((id, name)),
            Some(_) => names.topic_clusters.push((id, name)),
        }
    }
    Ok(names)
}
