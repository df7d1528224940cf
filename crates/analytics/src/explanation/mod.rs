//! The parts of a change in clicks.
//!
//! Clicks are impressions × CTR. With I for impressions, c for CTR, 0 for the comparison window and 1 for the window:
//! `demand = (I₁ − I₀) × (c₀ + c₁) ÷ 2` and `rate = (c₁ − c₀) × (I₀ + I₁) ÷ 2`. Their sum is exactly `I₁c₁ − I₀c₀`. The
//! midpoints make the split independent of the order of the two steps: swapped windows change every sign and nothing else. A
//! window without impressions has no CTR, so all of the change is demand then.
//!
//! The CTR curve C splits the rate of a query: `position = (C(p₁) − C(p₀)) × (I₀ + I₁) ÷ 2`, and `ctr = rate − position`. Only
//! queries have this split. The average position of many queries moves when their mix changes, so the position effect of the
//! whole is the sum over its queries.
//!
//! Every partition adds up to the change of the whole, because its remainder is the whole minus the rows whose change is known.

use std::cmp::Ordering;

use api::{
    analytics::{BrandChange, Contributor, Contributors, Effects, ExplainedBrand, ExplainedTable, Remainder, RowTally},
    models::Presence,
};
use common::metrics::Metrics;

use super::{
    change::to_api,
    ctr_curve::Curve,
    listing::Listing,
    page::first,
    table::{self, Sides},
};

/// Metrics of the same traffic in both windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// In the window.
    pub now: Metrics,
    /// In the comparison window.
    pub before: Metrics,
}

/// The rows of a partition, and what they are rows of.
#[derive(Debug, Clone, Copy)]
pub struct PartitionRows<'r> {
    /// The rows of the window.
    pub current: Listing<'r>,
    /// The rows of the comparison window.
    pub previous: Listing<'r>,
    /// The totals that the rows are part of, counted in the same way.
    pub whole: Pair,
    /// The curve that splits the rate of queries. `None` for other rows.
    pub curve: Option<&'r Curve>,
}

impl Pair {
    /// The sum of nothing.
    #[must_use]
    pub fn zero() -> Self {
        Self { now: Metrics::zero(), before: Metrics::zero() }
    }

    /// Clicks now minus clicks before.
    #[must_use]
    pub fn clicks_change(&self) -> i64 {
        signed(self.now.clicks) - signed(self.before.clicks)
    }

    fn plus(self, other: Self) -> Self {
        Self { now: self.now + other.now, before: self.before + other.before }
    }
}

/// The effects behind the change of one query, with `curve`, or of other traffic, without.
#[must_use]
pub fn effects(pair: &Pair, curve: Option<&Curve>) -> Effects {
    let (now, before) = (&pair.now, &pair.before);
    let Some((late, early)) = now.ctr().zip(before.ctr()) else {
        let demand = now.clicks - before.clicks;
        return split(demand, 0.0, curve.map(|_| 0.0));
    };
    let mean_impressions = f64::midpoint(before.impressions, now.impressions);
    let demand = (now.impressions - before.impressions) * f64::midpoint(early, late);
    let positions = now.position().zip(before.position());
    let position = curve.zip(positions).map(|(curve, (p1, p0))| (curve.at(p1) - curve.at(p0)) * mean_impressions);
    split(demand, (late - early) * mean_impressions, position)
}

/// The effects behind the change of the whole. `queries` are the summed effects of its queries.
#[must_use]
pub fn whole_effects(whole: &Pair, queries: Option<&Effects>) -> Effects {
    let Effects { demand, rate, .. } = effects(whole, None);
    split(demand, rate, queries.and_then(|queries| queries.position))
}

/// The change by branded keywords.
#[must_use]
pub fn brand(whole: &Pair, branded: &Pair, non_branded: &Pair) -> ExplainedBrand {
    let part = |pair: &Pair| BrandChange {
        clicks_change: pair.clicks_change(),
        effects: effects(pair, None),
        current: to_api(&pair.now),
        previous: to_api(&pair.before),
    };
    ExplainedBrand {
        branded: part(branded),
        non_branded: part(non_branded),
        remainder: remainder(whole, &branded.plus(*non_branded)),
    }
}

/// The change by the rows of a table. At most `limit` gains and `limit` losses are listed.
#[must_use]
pub fn table(rows: &PartitionRows<'_>, limit: usize) -> ExplainedTable {
    let (known, unknown): (Vec<Row<'_>>, Vec<Row<'_>>) =
        joined(rows).into_iter().partition(|row| row.presence != Presence::Unknown);
    let sum = known.iter().map(Row::pair).fold(Pair::zero(), Pair::plus);
    let all_effects = known.iter().map(|row| effects(&row.pair(), rows.curve));
    let none = split(0.0, 0.0, rows.curve.map(|_| 0.0));
    let tally = |presence| {
        let of = known.iter().filter(|row| row.presence == presence);
        of.fold(RowTally::default(), |tally, row| RowTally {
            rows: tally.rows + 1,
            clicks_change: tally.clicks_change + row.change(),
        })
    };
    ExplainedTable {
        effects: all_effects.fold(none, plus),
        gains: contributors(&known, rows.curve, limit, Ordering::Greater),
        losses: contributors(&known, rows.curve, limit, Ordering::Less),
        unchanged: known.iter().filter(|row| row.change() == 0).count() as u64,
        both: tally(Presence::Both),
        new: tally(Presence::New),
        lost: tally(Presence::Lost),
        unknown: unknown.len() as u64,
        remainder: remainder(&rows.whole, &sum),
        counting_difference: None,
    }
}

/// The change by rows that are counted in another way than the question. Their totals are `counted`, the totals of the question
/// `whole`.
#[must_use]
pub fn counted_otherwise(table: ExplainedTable, whole: &Pair, counted: &Pair) -> ExplainedTable {
    ExplainedTable { counting_difference: Some(whole.clicks_change() - counted.clicks_change()), ..table }
}

/// A row of one window or both.
#[derive(Clone, Copy)]
struct Row<'r> {
    key: &'r str,
    presence: Presence,
    now: Option<&'r Metrics>,
    before: Option<&'r Metrics>,
}

impl Row<'_> {
    fn pair(&self) -> Pair {
        let or_zero = |side: Option<&Metrics>| side.copied().unwrap_or_else(Metrics::zero);
        Pair { now: or_zero(self.now), before: or_zero(self.before) }
    }

    fn change(&self) -> i64 {
        self.pair().clicks_change()
    }

    fn by_change(&self, other: &Self) -> Ordering {
        let size = |row: &Self| row.change().unsigned_abs();
        size(other).cmp(&size(self)).then_with(|| self.key.cmp(other.key))
    }

    fn to_api(self, curve: Option<&Curve>) -> Contributor {
        Contributor {
            key: self.key.to_owned(),
            presence: self.presence,
            clicks_change: self.change(),
            effects: effects(&self.pair(), curve),
            current: self.now.map(to_api),
            previous: self.before.map(to_api),
        }
    }
}

/// The outer join of both windows' rows.
fn joined<'r>(rows: &PartitionRows<'r>) -> Vec<Row<'r>> {
    let sides = Sides { current: rows.current, previous: Some(rows.previous) };
    let row =
        |row: table::Row<'r>| Some(Row { key: row.key, presence: row.presence?, now: row.now, before: row.before });
    sides.rows().filter_map(row).collect()
}

/// The rows whose clicks moved in `direction`.
fn contributors(known: &[Row<'_>], curve: Option<&Curve>, limit: usize, direction: Ordering) -> Contributors {
    let moved: Vec<Row<'_>> = known.iter().filter(|row| row.change().cmp(&0) == direction).copied().collect();
    let (rows, clicks_change) = (moved.len(), moved.iter().map(Row::change).sum());
    let listed = first(moved, limit, Row::by_change);
    Contributors {
        clicks_change,
        left_out: (rows - listed.len()) as u64,
        rows: listed.into_iter().map(|row| row.to_api(curve)).collect(),
    }
}

fn remainder(whole: &Pair, known: &Pair) -> Remainder {
    let rest = Pair { now: whole.now - known.now, before: whole.before - known.before };
    Remainder {
        clicks_change: rest.clicks_change(),
        clicks: signed(rest.now.clicks),
        impressions: signed(rest.now.impressions),
        previous_clicks: signed(rest.before.clicks),
        previous_impressions: signed(rest.before.impressions),
    }
}

fn split(demand: f64, rate: f64, position: Option<f64>) -> Effects {
    Effects { demand, rate, position, ctr: position.map(|position| rate - position) }
}

fn plus(a: Effects, b: Effects) -> Effects {
    split(a.demand + b.demand, a.rate + b.rate, a.position.zip(b.position).map(|(a, b)| a + b))
}

/// A sum of counts, which may be below 0. Rounding only removes floating-point error.
fn signed(value: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "counts are far below 2^52")]
    let whole = value.round() as i64;
    whole
}

#[cfg(test)]
mod tests;
