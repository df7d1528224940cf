//! The trends of the largest countries.

use api::{analytics::SeriesPoint, error::ApiError, params::Metric};
use maud::{Markup, html};

use crate::web::dashboard::{
    door::Query,
    draw::{
        layers::{self, Layers, Series},
        svg::value_of,
    },
    opened::Opened,
};

/// Draws the clicks of the largest countries, and of all others together.
pub async fn trends(opened: &Opened<'_>, question: &Query) -> Result<Markup, ApiError> {
    let top = [question, &[("top", (layers::MOST - 1).to_string())]].concat();
    let trends = opened.asker.visitor().countries_by_time(&top).await?.data;
    let values = |series: &[SeriesPoint]| series.iter().map(|point| value_of(point, Metric::Clicks)).collect();
    let named = trends.countries.iter().map(|one| Series {
        name: one.label.clone().unwrap_or_else(|| one.country.clone()),
        values: values(&one.series),
    });
    let other =
        trends.other.iter().map(|other| Series { name: "All others".to_owned(), values: values(&other.series) });
    let days = trends.countries.first().map(|first| first.series.iter().map(|point| point.period.date).collect());
    let layers = Layers {
        name: "Clicks by country",
        days: days.unwrap_or_default(),
        series: named.chain(other).collect(),
        stacked: false,
        decimal: false,
    };
    Ok(html! { section.card aria-label="Trends of the largest countries" { h2 { "Clicks by day" } (layers.draw()) } })
}
