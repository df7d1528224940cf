//! Settles questions: determines the account, site, days and predicate of a question.

use analytics::{series::Span, usual};
use api::{
    analytics::{Adjustment, AnswerDays, AnswerMeta, ComparedDays, Labels, WindowDays},
    models::{
        self, Aggregation, AnalysisStatus, Comparison, Freshness, Granularity, Question, SearchType, Warning, Window,
        WindowParams,
    },
};
use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use common::compute::beside;
use search_engine::{DataState, Dimension, HOURLY_DAYS, LastFinal, Part, Plan, Predicate, UNSETTLED_DAYS, plan};
use serde::Serialize;

use super::{
    appearances,
    compared::{Compared, Days, compared, final_part},
    predicate, prepared,
    search_data::{SearchData, SearchSite},
    warnings::warnings,
    windows::{self, DEFAULT_DAYS, Windows, last_days, oldest_day},
};
use crate::{
    error::Error,
    services::access::{ReadableProperty, View},
};

/// A settled question.
#[derive(Debug, Clone)]
pub struct Settled {
    /// The site and the account that may read it.
    pub site: SearchSite,
    /// The parameters as they were understood. They ask the same question again.
    pub question: Question,
    /// The names of the records that the question refers to by id.
    pub labels: Option<Labels>,
    /// The dates that were not taken as they were sent.
    pub adjusted: Vec<Adjustment>,
    /// The window.
    pub window: Window,
    /// The comparison window, as it was asked for.
    pub compare: Option<Window>,
    /// The days of both windows that are compared. `None` without a comparison, or without a final day in one of the windows.
    pub compared: Option<Compared>,
    /// Facts about the windows that the numbers do not show.
    pub warnings: Vec<Warning>,
    /// The time of the question. No hour is listed that begins later.
    pub asked_at: DateTime<Utc>,
    /// The last final day, if the days after it count, too.
    pub fresh_after: Option<NaiveDate>,
    /// The length of the periods of its series.
    pub granularity: Granularity,
    /// The days before the window that say what is usual, and those of the window. `None` unless that is asked for.
    pub history: Option<Window>,
    /// The search type.
    pub search_type: SearchType,
    /// The conditions on the traffic.
    pub predicate: Predicate,
    /// The plan of what counts as the whole property: everything, or what a share link is about.
    pub whole: Plan,
    /// The dimensions whose rows a share link hides.
    pub hidden: Vec<Dimension>,
}

/// Settles the parameters that analytics operations share. Errors name the parameter.
pub async fn settle(search: &SearchData, access: &ReadableProperty, asked: &Question) -> Result<Settled, Error> {
    let today = search.clock.pacific_today();
    let given = Windows::given(&asked.window, &asked.comparison, today)?;
    let search_type = asked.slice.search_type;
    let (predicate, name) = predicate::of(&search.db, access, &asked.slice).await?;
    check_available(search_type, &predicate)?;
    // Conditions that nothing can answer are refused before anything is read. Those on appearances depend on what is read.
    if predicate.on_appearances().next().is_none() {
        planned(predicate.clone()).await?;
    }
    let site = search.site(access)?;
    let all = asked.window.data_state == models::DataState::All;
    let long_final = today - TimeDelta::days(UNSETTLED_DAYS.into());
    let recent = |window: Window| window.end_date > long_final;
    let matters = given.window.is_none_or(|window| recent(window) && (all || asked.comparison.is_asked()))
        || given.compare.is_some_and(recent);
    let last_final = if matters { search.last_final(&site).await?.last_final_date } else { long_final };
    let window = given.window.unwrap_or_else(|| last_days(if all { today } else { last_final }, DEFAULT_DAYS));
    let compare = match given.compare {
        Some(compare) => Some(compare),
        None => windows::named(&asked.comparison, window, today)?,
    };
    let compared = compare.and_then(|compare| compared(window, compare, last_final));
    let question = Question {
        window: WindowParams { data_state: asked.window.data_state, ..window.into() },
        comparison: compare.map_or_else(Comparison::default, Comparison::from),
        ..asked.clone()
    };
    // The reader of a share link sees no names that people gave.
    let labels = name.filter(|_| access.reader().is_some()).map(|name| Labels { classification: Some(name) });
    let mut settled = Settled {
        site,
        question,
        labels,
        adjusted: given.adjusted,
        window,
        compare,
        compared,
        warnings: warnings(&search.system_annotations, window, compare, compared, &predicate),
        asked_at: search.clock.now(),
        fresh_after: all.then_some(last_final),
        granularity: Granularity::Day,
        history: None,
        search_type,
        predicate,
        whole: Plan::everything(),
        hidden: access.view().into_iter().flat_map(View::hidden).map(Dimension::from).collect(),
    };
    let totals = [Some(window), compare].into_iter().flatten().map(|window| settled.part(window, &[], 1));
    let totals: Vec<Part> = totals.collect();
    settled.predicate.appearances = appearances::known(search, &settled.site, &settled.predicate, &totals).await?;
    settled.whole = planned(settled.predicate.of_every_question()).await?;
    Ok(settled)
}

fn check_available(search_type: SearchType, predicate: &Predicate) -> Result<(), Error> {
    let missing = predicate.dimensions().into_iter().find(|dimension| !dimension.is_in(search_type));
    let Some(dimension) = missing else { return Ok(()) };
    Err(Error::NotAvailableForSearchType(format!(
        "searchType: {}, so no filter or classification can be on it",
        lacks(search_type, dimension)
    )))
}

/// Returns a hint such as `discover has no query`.
#[must_use]
pub fn lacks(search_type: SearchType, dimension: Dimension) -> String {
    format!("{} has no {}", search_type.name(), dimension.name())
}

impl Settled {
    /// Returns the cache key of an answer, whose parameters are `params` as they were understood.
    pub fn key(&self, analysis: &str, access: &ReadableProperty, params: &impl Serialize) -> Result<String, Error> {
        let property = access.property();
        prepared::key(analysis, property.user_id, property.id, &(params, &self.labels, &self.adjusted, access.view()))
    }

    /// Returns whether an answer has rows by `dimension`.
    #[must_use]
    pub fn has(&self, dimension: Dimension) -> bool {
        dimension.is_in(self.search_type) && !self.hidden.contains(&dimension)
    }

    /// Returns the reason why an answer has no rows by `dimension`.
    #[must_use]
    pub fn lacks(&self, dimension: Dimension) -> String {
        if self.hidden.contains(&dimension) {
            return format!("this link hides the table of rows by {}", dimension.name());
        }
        lacks(self.search_type, dimension)
    }

    /// Returns the metadata that every answer has. `read_at` is the time of the oldest reading.
    #[must_use]
    pub fn meta(&self, found: &LastFinal, read_at: DateTime<Utc>, analysed: bool) -> AnswerMeta {
        AnswerMeta {
            window: self.window,
            compare_window: self.compare,
            days: self.answer_days(found.last_final_date),
            labels: self.labels.clone(),
            adjusted: (!self.adjusted.is_empty()).then(|| self.adjusted.clone()),
            ignored: self.question.ignored.names(),
            search_type: self.search_type,
            aggregation: self.aggregation(),
            freshness: freshness(found),
            cached_at: read_at.into(),
            status: match (self.is_counted(found.last_final_date), analysed) {
                (false, _) => AnalysisStatus::NotFinalYet,
                (true, true) => AnalysisStatus::Analysed,
                (true, false) => AnalysisStatus::NoSearchData,
            },
            warnings: (!self.warnings.is_empty()).then(|| self.warnings.clone()),
        }
    }

    /// The days of the window. With a comparison, totals and rows count the compared days.
    #[must_use]
    pub fn days(&self) -> Days {
        let counted = if self.compare.is_some() { self.compared.map(|days| days.current) } else { Some(self.window) };
        Days { series: self.window, counted }
    }

    /// The days of the comparison window. `None` if nothing is compared.
    #[must_use]
    pub fn previous_days(&self) -> Option<Days> {
        let window = self.compared?.previous;
        Some(Days { series: window, counted: Some(window) })
    }

    /// The days of each window that is read.
    pub fn all_days(&self) -> impl Iterator<Item = Days> {
        [self.days()].into_iter().chain(self.previous_days())
    }

    /// Returns whether any day of the window is counted. A window that is not counted differs from one that had no searches.
    #[must_use]
    pub fn is_counted(&self, last_final: NaiveDate) -> bool {
        self.counted_days(last_final).is_some()
    }

    /// Returns the days that the window's totals and rows count.
    #[must_use]
    pub fn counted_days(&self, last_final: NaiveDate) -> Option<Window> {
        let counted = self.days().counted?;
        if self.is_fresh(counted) { Some(counted) } else { final_part(counted, last_final) }
    }

    /// Returns the days behind an answer.
    fn answer_days(&self, last_final: NaiveDate) -> AnswerDays {
        let not_final = |window: Window| {
            let start_date = window.start_date.max(last_final + TimeDelta::days(1));
            Window { start_date, ..window }.days().collect()
        };
        let counted = |window: Option<Window>| window.map_or(0, Window::length);
        AnswerDays {
            current: WindowDays { counted: counted(self.counted_days(last_final)), not_final: not_final(self.window) },
            previous: self.compare.map(|window| WindowDays {
                counted: counted(self.compared.map(|compared| compared.previous)),
                not_final: not_final(window),
            }),
            compared: self.compared.map(|compared| ComparedDays {
                current: compared.current,
                previous: compared.previous,
                shortened: compared.shortened,
            }),
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

    /// Returns the aggregation of rows by `dimensions`.
    #[must_use]
    pub fn aggregation_by(&self, dimensions: &[Dimension]) -> Aggregation {
        let by_page = dimensions.iter().any(|one| matches!(one, Dimension::Page | Dimension::SearchAppearance));
        if by_page { Aggregation::ByPage } else { self.aggregation() }
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
            data_state: match dimensions.first() {
                Some(Dimension::Hour) => DataState::HourlyAll,
                _ if self.is_fresh(window) => DataState::All,
                _ => DataState::Final,
            },
            cap,
            among: if matches!(dimensions, [] | [Dimension::Date]) {
                self.all_days_read()
            } else {
                self.both_windows()
            },
        }
    }

    /// Returns the days from the beginning of the window before to the end of this one, if both are final and nothing is between them.
    fn both_windows(&self) -> Option<Window> {
        let Compared { current, previous, .. } = self.compared?;
        let follows = previous.end_date + TimeDelta::days(1) == current.start_date;
        let end_date = self.window.end_date.max(current.end_date);
        (follows && !self.is_fresh(self.window)).then_some(Window { end_date, ..previous })
    }

    /// Returns the days of both windows and of the history, if nothing is between them.
    fn all_days_read(&self) -> Option<Window> {
        let both = self.both_windows();
        let Some(history) = self.history.filter(|_| !self.is_fresh(self.window)) else { return both };
        let end_date = both.map_or(self.window.end_date, |both| both.end_date);
        let start_date = both.map_or(history.start_date, |both| both.start_date.min(history.start_date));
        Some(Window { start_date, end_date })
    }

    /// Returns whether the window has days that count although they are not final.
    fn is_fresh(&self, window: Window) -> bool {
        self.fresh_after.is_some_and(|last_final| window.end_date > last_final)
    }

    /// Also asks what is usual for the days of the window.
    #[must_use]
    pub fn with_history(self, today: NaiveDate) -> Self {
        let before = usual::history(self.window, oldest_day(today));
        Self { history: before.map(|before| Window { end_date: self.window.end_date, ..before }), ..self }
    }

    /// Sets the length of the periods of its series.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] for hours that the search engine does not have.
    pub fn by(self, granularity: Granularity, today: NaiveDate) -> Result<Self, Error> {
        if granularity == Granularity::Hour {
            let oldest = today - TimeDelta::days(HOURLY_DAYS - 1);
            let windows = [("startDate", Some(self.window)), ("compareStart", self.compare)];
            let early = windows.into_iter().find(|(_, window)| window.is_some_and(|window| window.start_date < oldest));
            if let Some((name, _)) = early {
                return Err(Error::invalid(format!(
                    "granularity: the search engine has hours for {HOURLY_DAYS} days only, so {name} must not be before {oldest}; \
                     or use day"
                )));
            }
        }
        Ok(Self { granularity, ..self })
    }

    /// The dimension of the rows of its series.
    #[must_use]
    pub fn time(&self) -> Dimension {
        if self.granularity == Granularity::Hour { Dimension::Hour } else { Dimension::Date }
    }

    /// Returns the days of a series over the window.
    #[must_use]
    pub fn span(&self, window: Window, last_final: NaiveDate) -> Span {
        let end = if self.is_fresh(window) { window.end_date } else { window.end_date.min(last_final) };
        Span { start: window.start_date, end, last_final, granularity: self.granularity, until: self.asked_at }
    }
}

/// Returns the plan that answers a predicate. Combining many conditions takes time.
pub async fn planned(predicate: Predicate) -> Result<Plan, Error> {
    if predicate.expressions.is_empty() {
        return Ok(Plan::everything());
    }
    Ok(beside(move || plan(&predicate)).await??)
}

/// Converts the freshness of the data to the API's type.
#[must_use]
pub fn freshness(found: &LastFinal) -> Freshness {
    Freshness {
        last_final_date: found.last_final_date,
        first_incomplete_date: found.first_incomplete_date,
        time_zone: "America/Los_Angeles".to_owned(),
    }
}
