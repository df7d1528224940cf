//! The two doors to the numbers of a property: of people who are signed in, and of readers of a share link.

use api::{
    analytics::SparklinesAnswer,
    annotations::Annotation,
    error::{ApiError, Code},
    filters::FilterPreset,
    models::{Dimension, Metrics, Role, Timestamp, Window},
    properties::TrackedProperty,
    sharing::SharedPart,
};
use chrono::NaiveDate;
use common::names::sites::{self, SiteName};
use futures_util::future::try_join;

use uuid::Uuid;

use super::ask::{Answered, Asker, Link};
use crate::calls::Visitor;

/// The most segments, topic clusters and presets that a page offers. The page of settings has all.
const MOST_RECORDS: usize = 100;

/// The parameters of a question.
pub type Query = [(&'static str, String)];

/// A door to a property.
#[derive(Clone)]
pub enum Door {
    /// The property's id as the path has it.
    Signed(String),
    /// The token as the path has it: another spelling of a token is another token.
    Shared(String),
}

/// The operation whose question a page has.
#[derive(Debug, Clone, Copy)]
pub enum Judged {
    Performance,
    Growth,
    Cannibalization,
    Insights,
}

/// The property as a page shows it.
pub struct Site {
    /// Its name among the sites that the visitor sees.
    pub name: SiteName,
    /// The visitor's role. Readers of a link have none.
    pub role: Option<Role>,
    /// The parts of its traffic that the visitor may choose, each as the value of `classification` and its name.
    pub classes: Vec<(String, String)>,
    /// The filters that the visitor has saved.
    pub presets: Vec<FilterPreset>,
    /// True if a share link fixes the days.
    pub fixed_window: bool,
    /// The parts that the visitor sees.
    pub show: Vec<SharedPart>,
    /// Its numbers that are there without another reading.
    pub kept: Option<Kept>,
}

/// Numbers of a site without conditions, which are there while the search engine is away.
pub struct Kept {
    pub window: Window,
    pub metrics: Metrics,
    /// When the search engine was read.
    pub read_at: Timestamp,
}

/// The records that narrow a question.
#[derive(Default)]
struct Records {
    classes: Vec<(String, String)>,
    presets: Vec<FilterPreset>,
}

impl Site {
    /// Returns whether the visitor sees a table.
    pub fn shows(&self, table: Dimension) -> bool {
        SharedPart::of(table).is_none_or(|part| self.show.contains(&part))
    }

    /// Returns whether the visitor sees why clicks changed, which is about queries and pages.
    pub fn explains(&self) -> bool {
        self.shows(Dimension::Query) && self.shows(Dimension::Page)
    }
}

/// Asks for the name of a property among those that the visitor sees. Without an answer it is its name alone.
pub async fn name_of(visitor: Visitor<'_>, property: &TrackedProperty) -> SiteName {
    visitor.site_name(&property.site_url).await.unwrap_or_else(|_| sites::name_among(&property.site_url, &[]))
}

impl Door {
    /// The address of the property's overview.
    pub fn root(&self) -> String {
        match self {
            Self::Signed(id) => format!("/p/{id}"),
            Self::Shared(token) => format!("/share/{token}"),
        }
    }

    /// The path of an operation behind the door.
    pub fn operation(&self, name: &str) -> String {
        match self {
            Self::Signed(id) => format!("/api/properties/{id}/{name}"),
            Self::Shared(token) => format!("/api/share/{token}/{name}"),
        }
    }

    /// Asks for the property: its name, the visitor's role, and its last final day if the page `reads` search data.
    pub async fn property(&self, asker: Asker<'_>, reads: bool) -> Result<(Site, Option<NaiveDate>), ApiError> {
        match self {
            Self::Signed(_) => {
                let query = [("headline", reads.to_string())];
                let property = async {
                    let answer = asker.visitor().unmarked_property(&query).await?;
                    Ok::<_, ApiError>((name_of(asker.visitor(), &answer.data).await, answer))
                };
                let records =
                    async { if reads { Self::records(asker.visitor()).await } else { Ok(Records::default()) } };
                let ((name, answer), Records { classes, presets }) = try_join(property, records).await?;
                let last = answer.meta.map(|meta| meta.freshness.last_final_date);
                let (role, show) = (Some(answer.data.role), SharedPart::ALL.to_vec());
                let kept = answer.data.headline.map(|headline| Kept {
                    window: headline.window,
                    metrics: headline.current,
                    read_at: headline.cached_at,
                });
                Ok((Site { name, role, classes, presets, fixed_window: false, show, kept }, last))
            }
            Self::Shared(_) => {
                let totals = [("scope", "totals".to_owned())];
                let answer = self.performance(asker, &totals).await?;
                let Some(Link { site, fixed_window, show, .. }) = answer.link else {
                    return Err(ApiError::new(Code::Internal));
                };
                let name = SiteName { name: site, kind: None };
                let last = answer.meta.freshness.last_final_date;
                let kept = answer.data.totals.map(|totals| Kept {
                    window: answer.meta.window,
                    metrics: Metrics {
                        clicks: totals.clicks,
                        impressions: totals.impressions,
                        ctr: totals.ctr,
                        position: totals.position,
                    },
                    read_at: answer.meta.cached_at,
                });
                let Records { classes, presets } = Records::default();
                Ok((Site { name, role: None, classes, presets, fixed_window, show, kept }, Some(last)))
            }
        }
    }

    /// Asks for the records that narrow a question.
    async fn records(visitor: Visitor<'_>) -> Result<Records, ApiError> {
        let limit = [("limit", MOST_RECORDS.to_string())];
        let (names, presets) = try_join(visitor.classification_names(), visitor.filter_presets(&limit)).await?;
        let brand = [("branded", "Brand"), ("nonBranded", "Not brand")].into_iter().filter(|_| names.has_brand);
        let brand = brand.map(|(value, name)| (value.to_owned(), name.to_owned()));
        let of_kind = |kind: &'static str, all: Vec<(Uuid, String)>| {
            all.into_iter().take(MOST_RECORDS).map(move |(id, name)| (format!("{kind}:{id}"), name))
        };
        let (segments, clusters) = (of_kind("segment", names.segments), of_kind("topicCluster", names.topic_clusters));
        Ok(Records { classes: brand.chain(segments).chain(clusters).collect(), presets: presets.data })
    }

    /// Asks what an operation refuses, apart from its answer.
    pub async fn judge(&self, asker: Asker<'_>, part: Judged, query: &Query) -> Result<(), ApiError> {
        let visitor = asker.visitor();
        match part {
            Judged::Performance => self.performance(asker, query).await.map(drop),
            Judged::Growth => visitor.growth(query).await.map(drop),
            Judged::Cannibalization => visitor.cannibalization(query).await.map(drop),
            Judged::Insights => visitor.query_insights(query).await.map(drop),
        }
    }

    /// Asks for the performance.
    pub async fn performance(&self, asker: Asker<'_>, query: &Query) -> Result<Answered, ApiError> {
        Ok(match self {
            Self::Signed(_) => asker.visitor().performance(query).await?.into(),
            Self::Shared(_) => asker.visitor().shared_performance(query).await?.into(),
        })
    }

    /// Asks for the small lines of a table's rows. Readers of a link have none.
    pub async fn sparklines(&self, asker: Asker<'_>, query: &Query) -> Result<Option<SparklinesAnswer>, ApiError> {
        match self {
            Self::Signed(_) => asker.visitor().sparklines(query).await.map(Some),
            Self::Shared(_) => Ok(None),
        }
    }

    /// Asks for the notes. Readers of a link get none.
    pub async fn notes(&self, asker: Asker<'_>, query: &Query) -> Result<Vec<Annotation>, ApiError> {
        match self {
            Self::Signed(_) => Ok(asker.visitor().annotations(query).await?.data),
            Self::Shared(_) => Ok(Vec::new()),
        }
    }
}
