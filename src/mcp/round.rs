//! Rounds the figures of an answer for readers. The answer of the operation keeps them as they were computed.

use serde_json::{Map, Number, Value};

/// The rule in one sentence, for the text of an answer.
pub const RULE: &str = "CTRs, shares and money are rounded to 4 decimals, other figures to 2";

/// The decimals of CTRs, shares and other scores from 0 to 1, and of money.
const FINE: i32 = 4;
/// The decimals of every other figure: positions, percents, indexes, computed clicks.
const COARSE: i32 = 2;
/// The fields with [`FINE`] decimals whose names do not end in `Share` or `Ctr`.
const FINE_FIELDS: [&str; 5] = ["ctr", "hhi", "splitScore", "competition", "amount"];
/// The fields that hold effects on clicks under the names of metrics.
const EFFECTS: &str = "effects";
/// The fields that repeat parameters. A caller may send them again, so they stay as they are.
const REPEATED: [&str; 2] = ["question", "thresholds"];

/// The whole numbers below this one are exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Rounds each figure in `value` by the name of its field. Whole numbers stay as they are. Returns whether any figure changed; rounding
/// again changes none.
pub fn round(value: &mut Value) -> bool {
    walk(value, None)
}

/// Rounds `value`. `decimals` holds for all fields of it.
fn walk(value: &mut Value, decimals: Option<i32>) -> bool {
    let mut changes = false;
    match value {
        Value::Number(number) => changes = replace(number, nearest(number, decimals.unwrap_or(COARSE))),
        Value::Array(items) => {
            for item in items {
                changes |= walk(item, decimals);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut().filter(|(name, _)| !REPEATED.contains(&name.as_str())) {
                changes |= walk(value, decimals.or_else(|| decimals_of(name)));
            }
            changes |= agree(fields);
        }
        _ => {}
    }
    changes
}

/// Computes the changes of rounded metrics from the rounded figures: rounded apart, `0.0861`, `0.0849` and `0.0011` disagree.
fn agree(fields: &mut Map<String, Value>) -> bool {
    let mut changes = false;
    for (name, decimals) in [("ctr", FINE), ("position", COARSE)] {
        // A headline has its metrics in a field of their own.
        let now =
            fields.get("current").and_then(|current| current.get(name)).or(fields.get(name)).and_then(Value::as_f64);
        let before = fields.get("previous").and_then(|previous| previous[name].as_f64());
        let change = fields.get_mut("change").and_then(|change| change.pointer_mut(&format!("/{name}/absolute")));
        let difference = now.zip(before).and_then(|(now, before)| Number::from_f64(now - before));
        if let (Some(Value::Number(change)), Some(difference)) = (change, difference) {
            changes |= replace(change, nearest(&difference, decimals));
        }
    }
    changes
}

/// Returns whether the new number is another one.
fn replace(number: &mut Number, new: Number) -> bool {
    let changes = *number != new;
    *number = new;
    changes
}

/// Returns the decimals of all figures in the field `name`, or `None` if the names of its own fields say.
fn decimals_of(name: &str) -> Option<i32> {
    let is_fine = FINE_FIELDS.contains(&name) || name.ends_with("Share") || name.ends_with("Ctr");
    if is_fine { Some(FINE) } else { (name == EFFECTS).then_some(COARSE) }
}

fn nearest(number: &Number, decimals: i32) -> Number {
    let Some(figure) = number.as_f64().filter(|_| number.is_f64()) else { return number.clone() };
    let scale = 10_f64.powi(decimals);
    whole_number(Number::from_f64((figure * scale).round() / scale).unwrap_or_else(|| number.clone()))
}

/// Returns a number without a fraction of zero: `1` for `1.0`. JSON holds both for the same number.
#[must_use]
pub fn whole_number(number: Number) -> Number {
    match number.as_f64().filter(|figure| number.is_f64() && figure.fract() == 0.0 && figure.abs() < EXACT) {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^53")]
        Some(figure) => Number::from(figure as i64),
        None => number,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn rounded(mut value: Value) -> Value {
        round(&mut value);
        value
    }

    #[test]
    fn a_change_equals_the_difference_of_the_rounded_figures() {
        let row = json!({
            "ctr": 0.086_149, "position": 11.484, "previous": { "ctr": 0.084_951, "position": 11.455 },
            "change": { "ctr": { "absolute": 0.001_198 }, "position": { "absolute": 0.029 } },
        });
        let said = rounded(row);
        assert_eq!(said["change"], json!({ "ctr": { "absolute": 0.0011 }, "position": { "absolute": 0.02 } }));
        assert_eq!((&said["ctr"], &said["previous"]["ctr"]), (&json!(0.0861), &json!(0.085)));
        let headline = json!({
            "current": { "ctr": 0.083_74 }, "previous": { "ctr": 0.082_86 }, "change": { "ctr": { "absolute": 0.000_88 } },
        });
        assert_eq!(rounded(headline)["change"]["ctr"]["absolute"], json!(0.0008));
    }

    #[test]
    fn figures_have_the_decimals_of_their_field() {
        for (given, expected) in [
            (json!({ "clicks": 13_204, "ctr": 0.100_432_766 }), json!({ "clicks": 13_204, "ctr": 0.1004 })),
            (json!({ "position": 11.111_853_127 }), json!({ "position": 11.11 })),
            (json!({ "position": 4.0, "ctr": 1.0 }), json!({ "position": 4, "ctr": 1 })),
            (json!({ "position": -0.001 }), json!({ "position": 0 })),
            (json!({ "ctr": null, "key": "0.123456" }), json!({ "ctr": null, "key": "0.123456" })),
            (
                json!({ "change": { "clicks": { "absolute": -524, "percent": -0.522_234 }, "ctr": { "absolute": 0.000_251_149 } } }),
                json!({ "change": { "clicks": { "absolute": -524, "percent": -0.52 }, "ctr": { "absolute": 0.0003 } } }),
            ),
            (
                json!({ "clicksShare": 0.699_612, "expectedCtr": 0.097_777 }),
                json!({ "clicksShare": 0.6996, "expectedCtr": 0.0978 }),
            ),
            (json!({ "hhi": 0.548_156, "splitScore": 0.451_843 }), json!({ "hhi": 0.5482, "splitScore": 0.4518 })),
            (
                json!({ "effects": { "ctr": 7.721_025, "position": null } }),
                json!({ "effects": { "ctr": 7.72, "position": null } }),
            ),
            (
                json!({ "cost": { "amount": 0.060_06, "unit": "usd" } }),
                json!({ "cost": { "amount": 0.0601, "unit": "usd" } }),
            ),
            (
                json!({ "question": { "minPageShare": 0.123_456 }, "thresholds": { "minPosition": 4.0 } }),
                json!({ "question": { "minPageShare": 0.123_456 }, "thresholds": { "minPosition": 4.0 } }),
            ),
            (
                json!([1e300, 0.005, 18_446_744_073_709_551_615_u64]),
                json!([1e300, 0.01, 18_446_744_073_709_551_615_u64]),
            ),
        ] {
            assert_eq!(rounded(given), expected);
        }
    }

    proptest! {
        #[test]
        fn a_figure_moves_by_half_of_its_last_decimal_at_most(figure in -1e9..1e9_f64, is_ratio in any::<bool>()) {
            let name = if is_ratio { "ctr" } else { "position" };
            let once = rounded(json!({ name: figure }));
            let most = if is_ratio { 0.000_05 } else { 0.005 };
            prop_assert!((once[name].as_f64().unwrap() - figure).abs() <= most * 1.01);
            prop_assert!(!round(&mut once.clone()));
            prop_assert_eq!(rounded(once.clone()), once);
        }
    }
}
