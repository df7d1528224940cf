//! Countries: the breakdown, and daily trends of the largest countries.

use analytics::{
    country_trends::{Countries, trends},
    coverage::Known,
    listing::Listing,
    page::Shown,
};
use api::{
    analytics::{
        CountriesAnswer, CountriesCoverage, CountriesMeta, CountriesParams, CountriesTimeseriesAnswer,
        CountriesTimeseriesMeta, CountriesTimeseriesParams, CountryTrends,
    },
    models::{self, Window},
    params::Echo,
};
use search_engine::{Dimension, ENGINE_CEILING, Reading, countries::COUNTRIES, label};

use super::{
    Asked, Listed, breakdown::RowsRead, by_key_and_time, compared::Days, listed::labelled, page, prepared::Prepared,
    search_data::SearchData, table_cap, times,
};
use crate::{error::Error, services::access::ReadableProperty};

/// Computes the breakdown.
pub async fn breakdown(
    search: &SearchData,
    access: &ReadableProperty,
    params: &CountriesParams,
) -> Result<Prepared<CountriesAnswer>, Error> {
    let compares = params.question.comparison.is_asked();
    let page =
        page(&params.order, models::Dimension::Country, params.offset.offset, params.limit.0 as usize, compares)?;
    let asked = Asked::settle(search, access, &params.question).await?;
    let read =
        RowsRead::read(&asked, &[Dimension::Country], |days| days.counted, |_| table_cap(Dimension::Country)).await?;
    let origin = read.readings.origin();
    let answer = move |asked: &Asked, params: &CountriesParams| {
        let windows = read.windows();
        let listed = windows.map(|reading| Listed::of(reading));
        let (rows, known, shown) = listed.sides().table(&page);
        CountriesAnswer {
            data: labelled(rows, Dimension::Country),
            meta: CountriesMeta {
                answer: asked.meta(read.readings.read_at(), !listed.current.rows.is_empty()),
                question: Echo::of(params),
                coverage: CountriesCoverage {
                    countries: read.coverage(asked, (known, table_cap(Dimension::Country)), shown),
                },
            },
        }
    };
    let understood = CountriesParams { question: asked.question(), ..params.clone() };
    asked.answer(access, understood, origin, answer)
}

/// Computes the daily trends. Reads every country, because they are few and the unnamed ones are summed.
pub async fn timeseries(
    search: &SearchData,
    access: &ReadableProperty,
    params: &CountriesTimeseriesParams,
) -> Result<Prepared<CountriesTimeseriesAnswer>, Error> {
    let asked = Asked::settle_by(search, access, &params.question, params.series.granularity).await?;
    let dimensions = [asked.settled.time(), Dimension::Country];
    let read = RowsRead::read(&asked, &dimensions, |days| Some(days.series), every_time_and_country).await?;
    let (origin, top) = (read.readings.origin(), params.top.0 as usize);
    let answer = move |asked: &Asked, params: &CountriesTimeseriesParams| {
        let windows = read.windows();
        let current = asked.by_country(windows.current, asked.settled.days());
        let previous = windows.previous.as_ref().zip(asked.settled.previous_days());
        let previous = previous.map(|(reading, days)| asked.by_country(reading, days));
        let listing = Listing { rows: &current.largest(), capped: windows.current.capped };
        CountriesTimeseriesAnswer {
            data: named(trends(&current, previous.as_ref(), top)),
            meta: CountriesTimeseriesMeta {
                answer: asked.meta(read.readings.read_at(), !listing.rows.is_empty()),
                question: Echo::of(params),
                coverage: CountriesCoverage {
                    countries: read.coverage(asked, (Known::of(listing), ENGINE_CEILING), Shown::first(listing, top)),
                },
            },
        }
    };
    let understood = CountriesTimeseriesParams { question: asked.question(), ..params.clone() };
    asked.answer(access, understood, origin, answer)
}

/// Returns the trends with the labels of their countries.
fn named(mut trends: CountryTrends) -> CountryTrends {
    for trend in &mut trends.countries {
        trend.label = label(Dimension::Country, &trend.country).map(str::to_owned);
    }
    trends
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
