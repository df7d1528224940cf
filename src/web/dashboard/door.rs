//! The two doors to the numbers of a property: of people who are signed in, and of readers of a share link.

use api::{
    analytics::{PerformanceAnswer, SparklinesAnswer},
    annotations::Annotation,
    answer::List,
    classifications::BrandedKeywordsAnswer,
    error::{ApiError, Code},
    models::Role,
    properties::PropertyAnswer,
    sharing::{SharedPart, SharedPerformanceAnswer},
};
use chrono::NaiveDate;
use futures_util::future::try_join;

use super::{
    ask::{Answered, Asker, Link},
    table::Table,
};

/// The parameters of a question.
pub type Query = [(&'static str, String)];

/// A door to a property.
pub enum Door {
    /// The property's id as the path has it.
    Signed(String),
    /// The token as the path has it: another spelling of a token is another token.
    Shared(String),
}

/// What a page says about its property.
pub struct Site {
    pub name: String,
    /// The visitor's role. Readers of a link have none.
    pub role: Option<Role>,
    /// True if the visitor may split its queries by branded keywords.
    pub has_brand: bool,
    /// True if a share link fixes the days.
    pub fixed_window: bool,
    /// The parts that the visitor sees.
    pub show: Vec<SharedPart>,
}

impl Site {
    /// Returns whether the visitor sees a table.
    pub fn shows(&self, table: Table) -> bool {
        match table {
            Table::Queries => self.show.contains(&SharedPart::Queries),
            Table::Pages => self.show.contains(&SharedPart::Pages),
            _ => true,
        }
    }

    /// Returns whether the visitor sees why clicks changed, which is about queries and pages.
    pub fn explains(&self) -> bool {
        self.shows(Table::Queries) && self.shows(Table::Pages)
    }
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
            Self::Signed(id) => {
                let (property, keywords) = (format!("/api/properties/{id}"), self.operation("branded-keywords"));
                let (answer, keywords) = try_join(
                    asker.ask::<PropertyAnswer>(&property, &[("headline", reads.to_string())]),
                    asker.ask::<BrandedKeywordsAnswer>(&keywords, &[("limit", "1".to_owned())]),
                )
                .await?;
                let last = answer.meta.map(|meta| meta.freshness.last_final_date);
                let has_brand = !keywords.data.is_empty();
                let (name, role, show) = (answer.data.name, Some(answer.data.role), SharedPart::ALL.to_vec());
                Ok((Site { name, role, has_brand, fixed_window: false, show }, last))
            }
            Self::Shared(_) => {
                let totals = [("scope", "totals".to_owned())];
                let answer = self.performance(asker, &totals).await?;
                let Some(Link { site: name, fixed_window, show, .. }) = answer.link else {
                    return Err(ApiError::new(Code::Internal));
                };
                let last = answer.meta.freshness.last_final_date;
                Ok((Site { name, role: None, has_brand: false, fixed_window, show }, Some(last)))
            }
        }
    }

    /// Asks for the performance.
    pub async fn performance(&self, asker: Asker<'_>, query: &Query) -> Result<Answered, ApiError> {
        let path = self.operation("performance");
        Ok(match self {
            Self::Signed(_) => asker.ask::<PerformanceAnswer>(&path, query).await?.into(),
            Self::Shared(_) => asker.ask::<SharedPerformanceAnswer>(&path, query).await?.into(),
        })
    }

    /// Asks for the small lines of a table's rows. Readers of a link have none.
    pub async fn sparklines(&self, asker: Asker<'_>, query: &Query) -> Result<Option<SparklinesAnswer>, ApiError> {
        match self {
            Self::Signed(_) => asker.ask(&self.operation("table-sparklines"), query).await.map(Some),
            Self::Shared(_) => Ok(None),
        }
    }

    /// Asks for the notes. Readers of a link get none.
    pub async fn notes(&self, asker: Asker<'_>, query: &Query) -> Result<Vec<Annotation>, ApiError> {
        match self {
            Self::Signed(_) => Ok(asker.ask::<List<Annotation>>(&self.operation("annotations"), query).await?.data),
            Self::Shared(_) => Ok(Vec::new()),
        }
    }
}
