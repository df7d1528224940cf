//! Settles questions: determines the account, site, days and predicate of a question.

use api::{
    analytics::{Adjustment, AnswerMeta, Labels},
    models::{AnalysisStatus, Comparison, Freshness, Question, Window},
};
use chrono::{DateTime, Utc};

use serde::Serialize;

use super::{
    predicate, rendered,
    search_data::{SearchData, SearchSite},
    windows::{self, DEFAULT_DAYS, Windows, last_days},
};
use crate::{
    compute::beside,
    error::Error,
    search_engine::{Aggregation, DataState, Dimension, LastFinal, Part, Plan, Predicate, SearchType, plan},
    services::access::ReadableProperty,
};

/// A settled question.
#[derive(Debug, Clone)]
pub struct Settled {
    /// The site and the account that may read it.
    pub site: SearchSite,
    /// The parameters as they were understood. They ask the same question again.
    pub question: Question,
    /// The names of what the question refers to by id.
    pub labels: Option<Labels>,
    /// The dates that were not taken as they were sent.
    pub adjusted: Vec<Adjustment>,
    /// The window.
    pub window: Window,
    /// The comparison window.
    pub compare: Option<Window>,
    /// The search type.
    pub search_type: SearchType,
    /// The conditions on the traffic.
    pub predicate: Predicate,
}

/// Settles the parameters that analytics operations share. Errors name the parameter.
pub async fn settle(search: &SearchData, access: &ReadableProperty, asked: &Question) -> Result<Settled, Error> {
    let today = search.clock.pacific_today();
    let given = Windows::given(&asked.window, &asked.comparison, today)?;
    let search_type = SearchType::from(asked.slice.search_type);
    let (predicate, name) = predicate::of(&search.db, access, &asked.slice).await?;
    check_available(search_type, &predicate)?;
    let site = search.site(access)?;
    let window = match given.window {
        Some(window) => window,
        None => last_days(search.last_final(&site).await?.last_final_date, DEFAULT_DAYS),
    };
    let compare = windows::named(&asked.comparison, window, today)?.or(given.compare);
    let question = Question {
        window: window.into(),
        comparison: compare.map_or_else(Comparison::default, Comparison::from),
        ..asked.clone()
    };
    // The reader of a share link sees no names that people gave.
    let labels = name.filter(|_| access.reader().is_some()).map(|name| Labels { classification: Some(name) });
    Ok(Settled { site, question, labels, adjusted: given.adjusted, window, compare, search_type, predicate })
}

fn check_available(search_type: SearchType, predicate: &Predicate) -> Result<(), Error> {
    let missing = predicate.dimensions().into_iter().find(|dimension| !search_type.has(*dimension));
    let Some(dimension) = missing else { return Ok(()) };
    Err(Error::NotAvailableForSearchType(format!(
        "searchType: {}, so no filter or classification can be on it",
        lacks(search_type, dimension)
    )))
}

/// Returns a hint such as `discover has no query`.
#[must_use]
pub fn lacks(search_type: SearchType, dimension: Dimension) -> String {
    format!("{} has no {}", search_type.wire_name(), dimension.wire_name())
}

impl Settled {
    /// Returns the cache key of an answer, whose parameters are `params` as they were understood.
    pub fn key(&self, analysis: &str, access: &ReadableProperty, params: &impl Serialize) -> Result<String, Error> {
        rendered::key(analysis, access.property().id, &(params, &self.labels, &self.adjusted))
    }

    /// Returns the metadata that every answer has. `read_at` is the time of the oldest reading.
    #[must_use]
    pub fn meta(&self, found: &LastFinal, read_at: DateTime<Utc>, analysed: bool) -> AnswerMeta {
        AnswerMeta {
            window: self.window,
            compare_window: self.compare,
            labels: self.labels.clone(),
            adjusted: (!self.adjusted.is_empty()).then(|| self.adjusted.clone()),
            ignored: self.question.ignored.names(),
            search_type: self.search_type.into(),
            aggregation: self.aggregation().into(),
            freshness: freshness(found),
            cached_at: read_at,
            status: status(self.window, found, analysed),
        }
    }

    /// Returns the plan that answers the whole predicate.
    pub async fn plan(&self) -> Result<Plan, Error> {
        planned(self.predicate.clone()).await
    }

    /// Returns the plan that answers the predicate without its query conditions, for the divisors of coverage.
    pub async fn plan_without_queries(&self) -> Result<Plan, Error> {
        planned(self.predicate.without_queries()).await
    }

    /// Returns the aggregation of the question's requests. If one condition names a page or a search appearance, all requests count
    /// `byPage`, so that the numbers of one answer are comparable.
    #[must_use]
    pub fn aggregation(&self) -> Aggregation {
        let by_page = self.predicate.forces_by_page() || !self.search_type.has_by_property();
        if by_page { Aggregation::ByPage } else { Aggregation::ByProperty }
    }

    /// Returns one part of the question, for `window`.
    #[must_use]
    pub fn part(&self, window: Window, dimensions: &[Dimension], cap: usize) -> Part {
        let by_page = dimensions.contains(&Dimension::Page) || self.aggregation() == Aggregation::ByPage;
        Part {
            dimensions: dimensions.to_vec(),
            start: window.start_date,
            end: window.end_date,
            search_type: self.search_type,
            aggregation: by_page.then_some(Aggregation::ByPage),
            data_state: DataState::Final,
            cap,
        }
    }
}

/// Returns the plan that answers a predicate. Combining many conditions takes time.
pub async fn planned(predicate: Predicate) -> Result<Plan, Error> {
    if predicate.0.is_empty() {
        return Ok(plan(&predicate)?);
    }
    Ok(beside(move || plan(&predicate)).await??)
}

/// Returns the state of an answer. Without data, a window that has no final day differs from one that had no searches.
fn status(window: Window, found: &LastFinal, has_data: bool) -> AnalysisStatus {
    if has_data {
        AnalysisStatus::Analysed
    } else if window.start_date > found.last_final_date {
        AnalysisStatus::NotFinalYet
    } else {
        AnalysisStatus::NoSearchData
    }
}

/// Converts the freshness of the data to that of the API.
#[must_use]
pub fn freshness(found: &LastFinal) -> Freshness {
    Freshness {
        last_final_date: found.last_final_date,
        first_incomplete_date: found.first_incomplete_date,
        time_zone: "America/Los_Angeles".to_owned(),
    }
}
