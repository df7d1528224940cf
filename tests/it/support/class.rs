//! Classifications, as questions name them.

use serde_json::Value;

use super::actor::Actor;

/// A part of a property's traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Branded,
    NonBranded,
    /// The property's first segment.
    Segment,
    /// The property's first topic cluster.
    Topic,
}

impl Class {
    /// Returns the value of the parameter `classification`. The saved condition must contain `text`.
    pub async fn parameter(self, actor: &Actor, property: &str, text: &str) -> String {
        let (list, name) = match self {
            Self::Branded => return "branded".to_owned(),
            Self::NonBranded => return "nonBranded".to_owned(),
            Self::Segment => ("segments", "segment"),
            Self::Topic => ("topic-clusters", "topicCluster"),
        };
        let saved = actor.listed(&format!("/api/properties/{property}/{list}")).await.swap_remove(0);
        let value = saved["conditions"][0]["value"].as_str().unwrap();
        assert!(value.contains(text), "{saved}");
        let Value::String(id) = &saved["id"] else { panic!("{saved}") };
        format!("{name}:{id}")
    }
}
