//! Everything that the page shows, from the operations that hold it.

use api::{
    billing::PlanFeatures, classifications::BrandedKeywordsAnswer, error::ApiError, properties::TrackedProperty,
    sharing::ShareLink, tags::Tag, team::TeamGrant,
};

use super::saved::Saved;
use crate::web::dashboard::opened::Opened;

/// Everything that the page shows.
pub struct Known {
    pub property: TrackedProperty,
    /// The visitor's tags.
    pub tags: Vec<Tag>,
    pub links: Vec<ShareLink>,
    /// The grants that the owner made, or that a member received.
    pub grants: Vec<TeamGrant>,
    pub brand: BrandedKeywordsAnswer,
    pub segments: Vec<Saved>,
    pub clusters: Vec<Saved>,
    /// The features of the owner's plan. A member does not know them.
    pub features: Option<PlanFeatures>,
}

impl Known {
    /// Asks the operations. Search data is read only for suggestions that were asked for.
    pub async fn read(opened: &Opened<'_>) -> Result<Self, ApiError> {
        let (visitor, is_owner) = (opened.asker.visitor(), opened.is_owner());
        let suggests = opened.may_edit() && opened.view.text("suggest").is_some();
        let (suggest, no_headline) = ([("suggest", suggests.to_string())], [("headline", "false".to_owned())]);
        let received = [("received", (!is_owner).to_string())];
        let features = async {
            if !is_owner {
                return Ok(None);
            }
            visitor.billing().await.map(|plan| Some(plan.features))
        };
        let (property, tags, links, grants, brand, segments, clusters, features) = tokio::try_join!(
            visitor.property(&no_headline),
            visitor.tags(),
            visitor.share_links(),
            visitor.team(&received),
            visitor.branded_keywords(&suggest),
            visitor.segments(&[]),
            visitor.topic_clusters(&[]),
            features,
        )?;
        Ok(Self {
            property: property.data,
            tags: tags.data,
            links: links.data,
            grants: grants.data,
            brand,
            segments: segments.data.into_iter().map(Saved::from).collect(),
            clusters: clusters.data.into_iter().map(Saved::from).collect(),
            features,
        })
    }

    /// The segment or topic cluster that a classification names.
    pub fn saved(&self, classification: &str) -> Option<&Saved> {
        let (kind, id) = classification.split_once(':')?;
        let all = if kind == "segment" { &self.segments } else { &self.clusters };
        all.iter().find(|saved| saved.id == id)
    }
}
