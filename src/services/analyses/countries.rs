//! Countries: the breakdown, and daily trends of the largest countries.

use std::{collections::BTreeMap, sync::Arc};

use api::{
    analytics::{
        CountriesAnswer, CountriesCoverage, CountriesMeta, CountriesParams, CountriesTimeseriesAnswer,
        CountriesTimeseriesMeta, CountriesTimeseriesParams,
    },
    models::Window,
    params::Echo,
};
use chrono::{DateTime, Utc};
use futures_util::future::OptionFuture;

use super::{
    Asked, Listed,
    rendered::{MadeOf, RenderedAnswer},
    search_data::SearchData,
    table_cap, total,
};
use crate::{
    analytics::{
        country_trends::{Countries, trends},
        table::{self, Listing},
    },
    error::Error,
    search_engine::{Dimension, Reading, countries::COUNTRIES},
    services::access::ReadableProperty,
};

/// The readings of either answer.
struct Readings {
    current: Arc<Reading>,
    previous: Option<Arc<Reading>>,
    whole: Arc<Reading>,
}

impl Readings {
    fn all(&self) -> impl Iterator<Item = &Arc<Reading>> {
        [&self.current, &self.whole].into_iter().chain(&self.previous)
    }

    fn read_at(&self) -> impl Iterator<Item = DateTime<Utc>> {
        self.all().map(|reading| reading.read_at)
    }
}

async fn read(asked: &Asked, dimensions: &[Dimension], cap: impl Fn(Window) -> usize) -> Result<Readings, Error> {
    let plan = asked.settled.plan().await?;
    let read = |window| asked.read(window, dimensions, cap(window), &plan);
    let previous = OptionFuture::from(asked.settled.compare.map(read));
    let (current, previous, whole) =
        tokio::try_join!(read(asked.settled.window), async { previous.await.transpose() }, asked.read_whole(false))?;
    Ok(Readings { current, previous, whole })
}

/// Computes the breakdown.
pub async fn breakdown(
    search: &SearchData,
    access: &ReadableProperty,
    params: &CountriesParams,
) -> Result<Arc<RenderedAnswer<CountriesAnswer>>, Error> {
    let asked = Asked::settle(search, access, &params.question).await?;
    let readings = read(&asked, &[Dimension::Country], |_| table_cap(Dimension::Country)).await?;
    let params = CountriesParams { question: asked.settled.question.clone(), ..*params };
    let key = asked.settled.key("countries", access, &params)?;
    let (made_of, limit) = (MadeOf::new(readings.all(), asked.freshness), params.limit.0 as usize);
    let answer = move || {
        let (current, previous) = (Listed::of(&readings.current), readings.previous.as_deref().map(Listed::of));
        CountriesAnswer {
            data: table::rows(current.listing(), previous.as_ref().map(Listed::listing), limit),
            meta: CountriesMeta {
                answer: asked.meta(readings.read_at(), !current.rows.is_empty()),
                question: Echo::of(&params),
                coverage: coverage(&asked, &readings, current.listing(), limit),
            },
        }
    };
    search.answers.rendered(key, made_of, answer).await
}

/// Computes the daily trends. Reads every country, because they are few and those not named are summed.
pub async fn timeseries(
    search: &SearchData,
    access: &ReadableProperty,
    params: &CountriesTimeseriesParams,
) -> Result<Arc<RenderedAnswer<CountriesTimeseriesAnswer>>, Error> {
    let asked = Asked::settle(search, access, &params.question).await?;
    let readings = read(&asked, &[Dimension::Date, Dimension::Country], every_day_and_country).await?;
    let params = CountriesTimeseriesParams { question: asked.settled.question.clone(), ..*params };
    let key = asked.settled.key("countries timeseries", access, &params)?;
    let (made_of, top) = (MadeOf::new(readings.all(), asked.freshness), params.top.0 as usize);
    let answer = move || {
        let current = by_country(&readings.current, asked.final_days(asked.settled.window));
        let previous = readings.previous.as_deref().zip(asked.settled.compare);
        let previous = previous.map(|(reading, window)| by_country(reading, asked.final_days(window)));
        let listing = Listing { rows: &current.largest(), capped: readings.current.capped };
        CountriesTimeseriesAnswer {
            data: trends(&current, previous.as_ref(), top),
            meta: CountriesTimeseriesMeta {
                answer: asked.meta(readings.read_at(), !listing.rows.is_empty()),
                question: Echo::of(&params),
                coverage: coverage(&asked, &readings, listing, top),
            },
        }
    };
    search.answers.rendered(key, made_of, answer).await
}

/// Returns an upper bound of the number of rows.
fn every_day_and_country(window: Window) -> usize {
    let days = usize::try_from((window.end_date - window.start_date).num_days() + 1).unwrap_or(1);
    (COUNTRIES.len() + 1) * days + 1
}

fn by_country(reading: &Reading, window: Window) -> Countries<'_> {
    let mut days: BTreeMap<&str, BTreeMap<_, _>> = BTreeMap::new();
    for row in &reading.rows {
        if let Ok(date) = row.key().parse() {
            days.entry(&row.keys[1]).or_default().insert(date, row.metrics);
        }
    }
    Countries { window, days }
}

fn coverage(asked: &Asked, readings: &Readings, countries: Listing<'_>, shown: usize) -> CountriesCoverage {
    let whole = total(&readings.whole);
    let aggregation = asked.settled.aggregation().into();
    CountriesCoverage { countries: table::coverage(countries, shown, aggregation, Some(whole.clicks)) }
}
