//! Countries: the breakdown, and daily trends of the largest countries.

use std::sync::Arc;

use analytics::{
    country_trends::{Countries, trends},
    coverage::Known,
    listing::Listing,
    page::Shown,
};
use api::{
    analytics::{
        CountriesAnswer, CountriesCoverage, CountriesMeta, CountriesParams, CountriesTimeseriesAnswer,
        CountriesTimeseriesMeta, CountriesTimeseriesParams,
    },
    models::Window,
    params::Echo,
};
use chrono::{DateTime, Utc};
use search_engine::{Dimension, Reading, countries::COUNTRIES};

use super::{
    Asked, Listed, Wholes, by_key_and_time,
    compared::Days,
    page,
    per_window::PerWindow,
    rendered::{MadeOf, RenderedAnswer},
    requests::Requests,
    search_data::SearchData,
    table_cap, times,
};
use crate::{error::Error, services::access::ReadableProperty};

/// The readings of either answer.
struct Readings {
    windows: PerWindow<Arc<Reading>>,
    wholes: Wholes,
}

impl Readings {
    fn all(&self) -> impl Iterator<Item = &Arc<Reading>> {
        self.windows.all().chain(self.wholes.all())
    }

    fn read_at(&self) -> impl Iterator<Item = DateTime<Utc>> {
        self.all().map(|reading| reading.read_at)
    }
}

impl Readings {
    /// Reads the rows by `dimensions` of the days that `counted` names in each window, at most as many as `cap` says.
    async fn read(
        asked: &Asked,
        dimensions: &[Dimension],
        counted: fn(Days) -> Option<Window>,
        cap: fn(Window) -> usize,
    ) -> Result<Self, Error> {
        let (plan, slice) = (asked.settled.plan().await?, asked.settled.plan_without_queries().await?);
        let days = asked.settled.days().counted;
        let mut requests = Requests::of(&asked.settled);
        asked.settled.all_days().for_each(|days| requests.rows(&asked.settled, counted(days), dimensions, &plan));
        requests.wholes(&asked.settled, days, false, &slice);
        requests.check()?;
        let part = |days: Days| asked.read(counted(days), dimensions, cap(days.series), &plan);
        let wholes = asked.read_wholes(days, false, &slice);
        let (windows, wholes) = tokio::try_join!(PerWindow::read(&asked.settled, part), wholes)?;
        Ok(Self { windows, wholes })
    }
}

/// Computes the breakdown.
pub async fn breakdown(
    search: &SearchData,
    access: &ReadableProperty,
    params: &CountriesParams,
) -> Result<Arc<RenderedAnswer<CountriesAnswer>>, Error> {
    let compares = params.question.comparison.is_asked();
    let page = page(&params.order, Dimension::Country, params.offset.offset, params.limit.0 as usize, compares)?;
    let asked = Asked::settle(search, access, &params.question).await?;
    let readings =
        Readings::read(&asked, &[Dimension::Country], |days| days.counted, |_| table_cap(Dimension::Country)).await?;
    let params = CountriesParams { question: asked.settled.question.clone(), ..params.clone() };
    let key = asked.settled.key("countries", access, &params)?;
    let made_of = MadeOf::new(readings.all(), asked.freshness);
    let answer = move || {
        let listed = readings.windows.map(|reading| Listed::of(reading));
        let (rows, known, shown) = listed.sides().table(&page);
        CountriesAnswer {
            data: rows,
            meta: CountriesMeta {
                answer: asked.meta(readings.read_at(), !listed.current.rows.is_empty()),
                question: Echo::of(&params),
                coverage: coverage(&asked, &readings, known, shown),
            },
        }
    };
    search.answers.rendered(key, made_of, answer).await
}

/// Computes the daily trends. Reads every country, because they are few and the unnamed ones are summed.
pub async fn timeseries(
    search: &SearchData,
    access: &ReadableProperty,
    params: &CountriesTimeseriesParams,
) -> Result<Arc<RenderedAnswer<CountriesTimeseriesAnswer>>, Error> {
    let asked = Asked::settle_by(search, access, &params.question, params.series.granularity).await?;
    let dimensions = [asked.settled.time(), Dimension::Country];
    let readings = Readings::read(&asked, &dimensions, |days| Some(days.series), every_time_and_country).await?;
    let params = CountriesTimeseriesParams { question: asked.settled.question.clone(), ..*params };
    let key = asked.settled.key("countries timeseries", access, &params)?;
    let (made_of, top) = (MadeOf::new(readings.all(), asked.freshness), params.top.0 as usize);
    let answer = move || {
        let windows = &readings.windows;
        let current = asked.by_country(&windows.current, asked.settled.days());
        let previous = windows.previous.as_ref().zip(asked.settled.previous_days());
        let previous = previous.map(|(reading, days)| asked.by_country(reading, days));
        let listing = Listing { rows: &current.largest(), capped: windows.current.capped };
        CountriesTimeseriesAnswer {
            data: trends(&current, previous.as_ref(), top),
            meta: CountriesTimeseriesMeta {
                answer: asked.meta(readings.read_at(), !listing.rows.is_empty()),
                question: Echo::of(&params),
                coverage: coverage(&asked, &readings, Known::of(listing), Shown::first(listing, top)),
            },
        }
    };
    search.answers.rendered(key, made_of, answer).await
}

/// Returns an upper bound of the number of rows.
fn every_time_and_country(window: Window) -> usize {
    (COUNTRIES.len() + 1) * times(window) + 1
}

impl Asked {
    /// Returns the days of each country in a reading of one window.
    fn by_country<'r>(&self, reading: &'r Reading, days: Days) -> Countries<'r> {
        let span = self.span(days.series);
        Countries { span, counted: days.counted, days: by_key_and_time(reading, span) }
    }
}

fn coverage(asked: &Asked, readings: &Readings, known: Known, shown: Shown) -> CountriesCoverage {
    CountriesCoverage { countries: asked.coverage(known, Some(shown), false, &readings.wholes) }
}
