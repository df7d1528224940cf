//! Why clicks changed: impressions, position and click-through, and the queries that carry the change.

use api::{
    analytics::{Contributor, Explanation},
    models::Dimension,
};
use maud::{Markup, html};

use super::{rows, svg::balance, words};
use crate::web::dashboard::view::View;

/// The number of queries with a gain, and of those with a loss, that are named.
const NAMED: usize = 3;

/// Draws the parts of the change.
pub fn panel(explanation: &Explanation, view: &View) -> Markup {
    let parts = parts(explanation, view.has(Dimension::Query));
    let most = parts.iter().map(|(.., value)| value.abs()).fold(0.0, f64::max);
    let change = explanation.clicks_change;
    let title = if change == 0 {
        "Why as many clicks as before?".to_owned()
    } else {
        let (size, way) = (words::count(change.unsigned_abs()), if change > 0 { "more" } else { "fewer" });
        format!("Why {size} {way} clicks?")
    };
    let queries = explanation.queries.as_ref();
    let [losses, gains] = [queries.map(|table| &table.losses), queries.map(|table| &table.gains)];
    html! {
        section.card.why aria-labelledby="why" {
            h2 #why { (title) }
            dl {
                @for (name, words, value) in &parts {
                    div {
                        dt { (name) small { (words) } }
                        dd { (balance(*value, most)) strong { (words::signed(*value)) } }
                    }
                }
            }
            @for (name, rows) in [("Most lost", losses), ("Most gained", gains)] {
                @if let Some(rows) = rows.map(|table| &table.rows).filter(|rows| !rows.is_empty()) {
                    p { (name) ": " (named(rows, view)) }
                }
            }
            p.quiet-text { "Arithmetic, not causes: the " (if parts.len() == 2 { "two" } else { "three" }) " parts add up to the change." }
        }
    }
}

/// The parts as whole clicks that add up to the change: click-through takes what rounding leaves. `searched` is true where people search;
/// a feed is shown to them. Fewer impressions have two causes that numbers cannot tell apart: fewer searches, or a site that is shown less,
/// such as one that is blocked.
fn parts(explanation: &Explanation, searched: bool) -> Vec<(&'static str, &'static str, f64)> {
    let effects = &explanation.effects;
    let (demand, change) = (effects.demand.round(), explanation.clicks_change as f64);
    let words = if searched {
        [
            "fewer searches, or search shows you less",
            "as many searches that show you",
            "more searches, or search shows you more",
        ]
    } else {
        ["the feed shows you less", "the feed shows you as much", "the feed shows you more"]
    };
    let name = way(demand, ["Shown less often", "Shown as often", "Shown more often"]);
    let demanded = (name, way(demand, words), demand);
    let Some(position) = effects.position.map(f64::round) else {
        let rate = change - demand;
        let words = [
            "of those who saw you, fewer clicked",
            "of those who saw you, as many clicked",
            "of those who saw you, more clicked",
        ];
        return vec![demanded, ("Click-through", way(rate, words), rate)];
    };
    let rate = change - demand - position;
    let stood = ["you stood lower", "you stood where you were", "you stood higher"];
    let clicked = [
        "at the same position fewer clicked",
        "at the same position as many clicked",
        "at the same position more clicked",
    ];
    vec![demanded, ("Position", way(position, stood), position), ("Click-through", way(rate, clicked), rate)]
}

/// The words for a loss, for neither, or for a gain.
fn way(value: f64, [loss, neither, gain]: [&'static str; 3]) -> &'static str {
    if value < 0.0 {
        loss
    } else if value > 0.0 {
        gain
    } else {
        neither
    }
}

fn named(rows: &[Contributor], view: &View) -> Markup {
    let shown = rows.iter().take(NAMED).enumerate();
    html! {
        @for (index, row) in shown {
            @if index > 0 { ", " }
            @let name = rows::cut(&row.key);
            @match view.narrowed(None, Dimension::Query, &row.key) {
                Some(link) => a href=(link) { bdi { (name) } },
                None => bdi { (name) },
            }
            " " span.number { (words::signed(row.clicks_change as f64)) }
        }
    }
}
