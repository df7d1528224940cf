//! The expected parts of an explanation, computed from the generator's cells by their definitions.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use serde_json::{Value, json};

use super::super::{checks::metrics, curve::Curve};
use crate::{
    analytics::case::{Case, Rows},
    support::oracle::{Count, Sum, Tally, tally},
};

/// Sums of the same traffic in both windows.
#[derive(Debug, Clone, Copy, Default)]
pub struct Both {
    pub now: Sum,
    pub before: Sum,
}

/// Demand, rate, position and CTR.
pub type Effects = [f64; 4];

impl Both {
    pub fn of(case: &Case, count: Count) -> Self {
        let [now, before] = case.compared().unwrap().map(|window| case.total(count, window));
        Self { now, before }
    }

    fn plus(self, other: Self) -> Self {
        Self { now: self.now.plus(other.now), before: self.before.plus(other.before) }
    }

    pub fn change(self) -> i64 {
        self.now.clicks.cast_signed() - self.before.clicks.cast_signed()
    }

    /// The effects by their formulas.
    pub fn effects(self, curve: &Curve) -> Effects {
        let Both { now, before } = self;
        let (Some(late), Some(early)) = (now.ctr(), before.ctr()) else { return [self.change() as f64, 0.0, 0.0, 0.0] };
        let (seen, seen_before) = (now.impressions as f64, before.impressions as f64);
        let rate = (late - early) * (seen_before + seen) / 2.0;
        let curves = curve.at(now.position().unwrap()) - curve.at(before.position().unwrap());
        let position = curves * (seen_before + seen) / 2.0;
        [(seen - seen_before) * (early + late) / 2.0, rate, position, rate - position]
    }
}

#[track_caller]
pub fn close(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{found} is not {expected}"));
    assert!((found - expected).abs() <= 1e-9 * (1.0 + expected.abs()), "{found} is not {expected}");
}

/// Checks effects. Only queries have a position effect.
#[track_caller]
pub fn check_effects(found: &Value, [demand, rate, position, ctr]: Effects, of_queries: bool) {
    close(&found["demand"], demand);
    close(&found["rate"], rate);
    if of_queries {
        close(&found["position"], position);
        close(&found["ctr"], ctr);
    } else {
        assert_eq!((&found["position"], &found["ctr"]), (&Value::Null, &Value::Null));
    }
}

fn check_remainder(found: &Value, whole: Both, known: Both) {
    let minus = |a: u64, b: u64| a.cast_signed() - b.cast_signed();
    let expected = json!({
        "clicksChange": whole.change() - known.change(),
        "clicks": minus(whole.now.clicks, known.now.clicks),
        "impressions": minus(whole.now.impressions, known.now.impressions),
        "previousClicks": minus(whole.before.clicks, known.before.clicks),
        "previousImpressions": minus(whole.before.impressions, known.before.impressions),
    });
    assert_eq!(*found, expected);
}

/// The rows of a partition in both windows.
pub struct Partition {
    pub now: Rows,
    pub before: Rows,
}

impl Partition {
    fn keys(&self) -> BTreeSet<&String> {
        self.now.keys().chain(self.before.keys()).collect()
    }

    fn row(&self, key: &str) -> Both {
        let of = |rows: &Rows| rows.get(key).copied().unwrap_or_default();
        Both { now: of(&self.now), before: of(&self.before) }
    }

    /// The rows of both windows, with their clicks in the window, and the number of rows whose clicks changed.
    pub fn tallies(&self) -> (Tally, usize) {
        let rows: Vec<Both> = self.keys().into_iter().map(|key| self.row(key)).collect();
        (tally(rows.iter().map(|row| row.now)), rows.iter().filter(|row| row.change() != 0).count())
    }

    fn presence(&self, key: &str) -> &'static str {
        match (self.now.contains_key(key), self.before.contains_key(key)) {
            (true, true) => "both",
            (true, false) => "new",
            (false, _) => "lost",
        }
    }

    fn check_row(&self, found: &Value, curve: &Curve, of_queries: bool) {
        let key = found["key"].as_str().unwrap();
        let row = self.row(key);
        assert_eq!((&found["presence"], &found["clicksChange"]), (&self.presence(key).into(), &row.change().into()));
        check_effects(&found["effects"], row.effects(curve), of_queries);
        for (side, rows) in [("current", &self.now), ("previous", &self.before)] {
            match rows.get(key) {
                Some(sum) => metrics(&found[side], *sum),
                None => assert!(found.get(side).is_none(), "absent, not zeros: {found}"),
            }
        }
    }

    /// Checks the gains or the losses: who they are, in which order, and how many are left out.
    fn check_side(&self, found: &Value, sign: i64, limit: usize, curve: &Curve, of_queries: bool) {
        let mut moved: Vec<(&String, i64)> = self.keys().into_iter().map(|key| (key, self.row(key).change())).collect();
        moved.retain(|(_, change)| change.signum() == sign);
        moved.sort_by_key(|(key, change)| (Reverse(change.abs()), *key));
        assert_eq!(found["clicksChange"], moved.iter().map(|(_, change)| change).sum::<i64>());
        assert_eq!(found["leftOut"], moved.len().saturating_sub(limit));
        let rows = found["rows"].as_array().unwrap();
        let keys: Vec<&str> = rows.iter().map(|row| row["key"].as_str().unwrap()).collect();
        assert_eq!(keys, moved.iter().take(limit).map(|(key, _)| key.as_str()).collect::<Vec<_>>());
        for row in rows {
            self.check_row(row, curve, of_queries);
        }
    }

    /// Checks the table of the partition, and returns the position effect of its rows.
    pub fn check(&self, found: &Value, whole: Both, limit: usize, curve: &Curve, of_queries: bool) -> f64 {
        self.check_side(&found["gains"], 1, limit, curve, of_queries);
        self.check_side(&found["losses"], -1, limit, curve, of_queries);
        let (mut known, mut effects) = (Both::default(), Effects::default());
        let mut tallies: BTreeMap<&str, (u64, i64)> = [("both", (0, 0)), ("new", (0, 0)), ("lost", (0, 0))].into();
        for key in self.keys() {
            let row = self.row(key);
            known = known.plus(row);
            effects.iter_mut().zip(row.effects(curve)).for_each(|(sum, effect)| *sum += effect);
            let tally = tallies.get_mut(self.presence(key)).unwrap();
            *tally = (tally.0 + 1, tally.1 + row.change());
        }
        for (name, (rows, change)) in tallies {
            assert_eq!(found[name], json!({ "rows": rows, "clicksChange": change }), "{name}");
        }
        check_effects(&found["effects"], effects, of_queries);
        let unchanged = self.keys().into_iter().filter(|key| self.row(key).change() == 0).count();
        assert_eq!((&found["unchanged"], &found["unknown"]), (&unchanged.into(), &0.into()));
        check_remainder(&found["remainder"], whole, known);
        effects[2]
    }
}

pub fn check_brand(case: &Case, found: &Value, whole: Both, queries: &Partition, curve: &Curve) {
    let sum = |rows: &Rows, branded: bool| {
        let part = rows.iter().filter(|(query, _)| case.is_branded(query) == branded);
        part.fold(Sum::default(), |sum, (_, row)| sum.plus(*row))
    };
    let of = |branded: bool| Both { now: sum(&queries.now, branded), before: sum(&queries.before, branded) };
    for (name, part) in [("branded", of(true)), ("nonBranded", of(false))] {
        assert_eq!(found[name]["clicksChange"], part.change(), "{name}");
        check_effects(&found[name]["effects"], part.effects(curve), false);
        metrics(&found[name]["current"], part.now);
        metrics(&found[name]["previous"], part.before);
    }
    check_remainder(&found["remainder"], whole, of(true).plus(of(false)));
}
