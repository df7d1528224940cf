//! Tests of the parts of a change in clicks.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// Clicks, impressions above the clicks, and position.
type Side = (u32, u32, u32);

fn metrics((clicks, more, position): Side) -> Metrics {
    Metrics::of_row(f64::from(clicks), f64::from(clicks + more), Some(f64::from(position)))
}

fn pair(before: Side, now: Side) -> Pair {
    Pair { now: metrics(now), before: metrics(before) }
}

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * (1.0 + found.abs().max(expected.abs()))
}

fn sides() -> impl Strategy<Value = Side> {
    // A third without clicks, some without impressions.
    (prop_oneof![Just(0), 0..900_u32], prop_oneof![Just(0), 0..90_000_u32], 1..60_u32)
}

/// The rows of a window by key. Few keys, so that many are in both windows.
fn listings() -> impl Strategy<Value = BTreeMap<String, Side>> {
    prop::collection::btree_map("[a-h]{1,2}", sides(), 0..30)
}

fn rows_of(sides: &BTreeMap<String, Side>) -> Vec<(&str, Metrics)> {
    sides.iter().map(|(key, side)| (key.as_str(), metrics(*side))).collect()
}

fn sum(rows: &[(&str, Metrics)]) -> Metrics {
    rows.iter().map(|(_, metrics)| *metrics).sum()
}

proptest! {
    #[test]
    fn effects_add_up_to_the_change_of_clicks(before in sides(), now in sides()) {
        let (pair, curve) = (pair(before, now), Curve::published());
        let change = pair.now.clicks - pair.before.clicks;
        let found = effects(&pair, Some(&curve));
        prop_assert!(near(found.demand + found.rate, change), "{found:?} {change}");
        prop_assert!(near(found.position.unwrap() + found.ctr.unwrap(), found.rate), "{found:?}");
        let plain = effects(&pair, None);
        prop_assert_eq!((plain.demand, plain.rate), (found.demand, found.rate));
        prop_assert_eq!((plain.position, plain.ctr), (None, None));
    }

    #[test]
    fn swapped_windows_change_the_signs_only(before in sides(), now in sides()) {
        let curve = Curve::published();
        let (there, back) = (effects(&pair(before, now), Some(&curve)), effects(&pair(now, before), Some(&curve)));
        prop_assert!(near(there.demand, -back.demand) && near(there.rate, -back.rate));
        prop_assert!(near(there.position.unwrap(), -back.position.unwrap()));
    }

    #[test]
    fn every_partition_adds_up_to_the_whole(
        before in listings(),
        now in listings(),
        hidden in (sides(), sides()),
        by_page in (sides(), sides()),
        cut in any::<(bool, bool)>(),
        limit in 1_usize..8,
    ) {
        let (before, now) = (rows_of(&before), rows_of(&now));
        let whole = Pair { now: sum(&now) + metrics(hidden.1), before: sum(&before) + metrics(hidden.0) };
        let curve = Curve::published();
        let rows = PartitionRows {
            current: Listing { rows: &now, capped: cut.1 },
            previous: Listing { rows: &before, capped: cut.0 },
            whole,
            curve: Some(&curve),
        };
        let table = table(&rows, limit);
        let known = table.gains.clicks_change + table.losses.clicks_change;
        prop_assert_eq!(known + table.remainder.clicks_change, whole.clicks_change());
        let tallies = [table.both, table.new, table.lost];
        prop_assert_eq!(tallies.iter().map(|tally| tally.clicks_change).sum::<i64>(), known);
        let moved = |side: &Contributors| side.rows.len() as u64 + side.left_out;
        let counted = moved(&table.gains) + moved(&table.losses) + table.unchanged;
        prop_assert_eq!(counted, tallies.iter().map(|tally| tally.rows).sum::<u64>());
        prop_assert!(near(table.effects.demand + table.effects.rate, known as f64));
        prop_assert!(near(table.effects.position.unwrap() + table.effects.ctr.unwrap(), table.effects.rate));
        for side in [&table.gains, &table.losses] {
            let listed: i64 = side.rows.iter().map(|row| row.clicks_change).sum();
            prop_assert!(side.left_out > 0 || listed == side.clicks_change);
            prop_assert!(side.rows.len() <= limit);
            prop_assert!(side.rows.is_sorted_by_key(|row| (-row.clicks_change.abs(), row.key.clone())));
        }
        let headline = whole_effects(&whole, Some(&table.effects));
        prop_assert!(near(headline.demand + headline.position.unwrap() + headline.ctr.unwrap(), whole.clicks_change() as f64));

        let property = pair(by_page.0, by_page.1);
        let pages = counted_otherwise(table, &property, &whole);
        let all = pages.gains.clicks_change + pages.losses.clicks_change + pages.remainder.clicks_change;
        prop_assert_eq!(all + pages.counting_difference.unwrap(), property.clicks_change());
    }

    #[test]
    fn the_brand_and_its_remainder_add_up(parts in prop::array::uniform3((sides(), sides()))) {
        let [branded, other, hidden] = parts.map(|(before, now)| pair(before, now));
        let whole = branded.plus(other).plus(hidden);
        let brand = brand(&whole, &branded, &other);
        let known = brand.branded.clicks_change + brand.non_branded.clicks_change;
        prop_assert_eq!(known + brand.remainder.clicks_change, whole.clicks_change());
        prop_assert_eq!(brand.remainder.clicks_change, hidden.clicks_change());
        for (part, of) in [(&brand.branded, branded), (&brand.non_branded, other)] {
            prop_assert!(near(part.effects.demand + part.effects.rate, of.clicks_change() as f64));
        }
    }
}

#[test]
fn the_split_equals_the_formulas() {
    let published = |position: u32| Curve::published().at(f64::from(position));
    let cases = [
        ("twice the impressions at the same CTR", (10, 90, 3), (20, 180, 3), (10.0, 0.0, 0.0)),
        ("twice the CTR at the same position", (10, 90, 3), (20, 80, 3), (0.0, 10.0, 0.0)),
        ("a better position", (10, 190, 3), (30, 170, 1), (0.0, 20.0, 200.0 * (published(1) - published(3)))),
        (
            "more impressions, lower CTR",
            (30, 70, 2),
            (40, 160, 4),
            (25.0, -15.0, 150.0 * (published(4) - published(2))),
        ),
        ("a new query", (0, 0, 1), (7, 50, 2), (7.0, 0.0, 0.0)),
        ("a lost query", (7, 50, 2), (0, 0, 1), (-7.0, 0.0, 0.0)),
        ("nothing at all", (0, 0, 1), (0, 0, 1), (0.0, 0.0, 0.0)),
        ("no clicks", (0, 50, 2), (0, 90, 2), (0.0, 0.0, 0.0)),
    ];
    for (name, before, now, (demand, rate, position)) in cases {
        let found = effects(&pair(before, now), Some(&Curve::published()));
        assert!(near(found.demand, demand) && near(found.rate, rate), "{name}: {found:?}");
        assert!(near(found.position.unwrap(), position), "{name}: {found:?}");
        assert!(near(found.ctr.unwrap(), rate - position), "{name}: {found:?}");
    }
}

#[test]
fn traffic_without_positions_has_no_position_effect() {
    let side = |clicks, impressions| Metrics::of_row(clicks, impressions, None);
    let feed = Pair { now: side(9.0, 100.0), before: side(5.0, 80.0) };
    let found = effects(&feed, Some(&Curve::published()));
    assert_eq!((found.position, found.ctr), (None, None));
    assert_eq!(whole_effects(&feed, None).position, None);
}

#[test]
fn a_row_beyond_a_cut_list_is_part_of_the_remainder() {
    let (now, before) = ([("a", metrics((5, 5, 1))), ("b", metrics((3, 5, 1)))], [("a", metrics((2, 5, 1)))]);
    let whole = Pair { now: metrics((10, 10, 1)), before: metrics((4, 8, 1)) };
    let rows = |capped| PartitionRows {
        current: Listing { rows: &now, capped: false },
        previous: Listing { rows: &before, capped },
        whole,
        curve: None,
    };
    let (cut, complete) = (table(&rows(true), 10), table(&rows(false), 10));
    assert_eq!((cut.unknown, cut.new.rows, cut.gains.clicks_change, cut.remainder.clicks_change), (1, 0, 3, 3));
    assert_eq!((cut.remainder.clicks, cut.remainder.previous_clicks), (5, 2), "the unknown row's clicks are in it");
    let found = (complete.unknown, complete.new.rows, complete.gains.clicks_change, complete.remainder.clicks_change);
    assert_eq!(found, (0, 1, 6, 0));
    assert_eq!(complete.gains.rows[0].key, "a", "equal changes are ordered by key");
}
