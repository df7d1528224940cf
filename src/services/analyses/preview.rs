//! Previews of classifications that are not saved.

use analytics::preview::{self, Parts};
use api::{classifications::ClassificationPreviewAnswer, models::Question};
use search_engine::{Dimension, Expression, Plan, Predicate};

use super::{Asked, Listed, search_data::SearchData, total, warnings::of_pages};
use crate::{error::Error, services::access::ReadableProperty};

/// Reads the matches of `expression` in the last 28 final days. Its conditions are all on pages or all on queries.
pub async fn preview(
    search: &SearchData,
    access: &ReadableProperty,
    expression: Expression,
) -> Result<ClassificationPreviewAnswer, Error> {
    let mut asked = Asked::settle(search, access, &Question::by_default(None)).await?;
    asked.settled.predicate = Predicate::of(vec![expression]);
    asked.settled.warnings.extend(of_pages(&asked.settled.predicate));
    let plan = asked.settled.plan().await?;
    let of_pages = asked.settled.predicate.dimensions() == [Dimension::Page];
    let (window, row) = (asked.settled.window, if of_pages { Dimension::Page } else { Dimension::Query });
    let everything = Plan::everything();
    let known = if of_pages { everything.clone() } else { Plan::identified() };
    let by_row = [row];
    let (rows, whole, known, matched) = tokio::try_join!(
        asked.read_all(window, &by_row, &plan),
        asked.read(window, &[], 1, &everything),
        asked.read(window, &[], 1, &known),
        asked.read(window, &[], 1, &plan),
    )?;
    let parts =
        Parts { total: total(&whole), identified: (!of_pages).then(|| total(&known)), matched: total(&matched) };
    let read_at = [&rows, &whole, &known, &matched].map(|reading| reading.read_at);
    Ok(ClassificationPreviewAnswer {
        data: preview::preview(&parts, Listed::of(&rows).listing()),
        meta: asked.meta(read_at, parts.total.impressions > 0.0),
    })
}
