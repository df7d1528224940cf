//! Saved or built-in subsets of the traffic.

use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::params::{ParamValue, Written};

/// The `classification` parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum Classification {
    /// Queries that contain a branded keyword of the property.
    Branded,
    /// Identified queries that contain none. Anonymised queries are in neither.
    NonBranded,
    /// Pages of a saved segment.
    Segment(Uuid),
    /// Queries of a saved topic cluster.
    TopicCluster(Uuid),
}

impl ParamValue for Classification {
    fn schema() -> Value {
        let uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
        json!({ "type": "string", "maxLength": 49, "pattern": format!("^(branded|nonBranded|segment:{uuid}|topicCluster:{uuid})$") })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let id = |text: &str| (text.len() == 36).then(|| Uuid::try_parse(text).ok()).flatten();
        let found = match text.split_once(':') {
            None if text == "branded" => Some(Self::Branded),
            None if text == "nonBranded" => Some(Self::NonBranded),
            Some(("segment", text)) => id(text).map(Self::Segment),
            Some(("topicCluster", text)) => id(text).map(Self::TopicCluster),
            _ => None,
        };
        found.ok_or_else(|| "must be branded, nonBranded, segment:<uuid> or topicCluster:<uuid>".to_owned())
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Branded => json!("branded"),
            Self::NonBranded => json!("nonBranded"),
            Self::Segment(id) => json!(format!("segment:{id}")),
            Self::TopicCluster(id) => json!(format!("topicCluster:{id}")),
        }
    }
}

impl Written for Classification {
    const FORMAT: &'static str = "classification";
}
