//! The classifications of a property: segments of pages, topic clusters of queries, and branded keywords.

pub mod branded_keywords;
pub mod conditions;
pub mod segments;
pub mod topic_clusters;
