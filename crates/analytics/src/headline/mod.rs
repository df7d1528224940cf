//! The headline of an explanation: a sentence that is chosen by what changed most, and by whether the change is usual.
//!
//! A change is usual if the clicks of the window lie within the sum of the usual ranges of its days, and its last days are usual, too. The
//! sentence names the effect that moved most clicks in the direction of the change. It says what the split says, and no cause.

use api::{
    analytics::{
        Direction, ExplainedBrand, ExplainedEvent, ExplainedHeadline, ExplainedTable, Explanation, HeadlineCheck,
        HeadlineCheckCode, HeadlinePart, OverlappedWindow, Unusual, UsualMetric,
    },
    annotations::AnnotationSource,
    models::{Dimension, FilterCondition, FilterOperator, Window},
};
use chrono::NaiveDate;
use common::numbers::grouped;

/// The most characters of a sentence.
const MOST_CHARACTERS: usize = 120;
/// The most characters of a site's name in it, and of a name in a part.
const MOST_OF_SITE: usize = 40;
const MOST_OF_NAME: usize = 80;
/// A change of less than this is none to speak of, in percent.
const HARDLY: f64 = 1.0;
/// An effect that moved less than this share of the change is not all of it.
const MOSTLY: f64 = 0.8;
/// The least share of a change that a part has.
const LEAST_SHARE: f64 = 0.25;
/// The share of a change above which one part carries it.
const CARRIES: f64 = 0.5;
/// A position effect of less than this share of the change means that the site ranks where it did.
const HELD: f64 = 0.05;
/// The loss of branded impressions that is worth a check, in percent, and the change of their position up to which it held.
const BRAND_LOSS: f64 = -30.0;
const BRAND_HELD: f64 = 1.0;
/// The most characters of an event's text.
const MOST_OF_EVENT: usize = 100;

/// The facts behind a headline, besides the explanation.
pub struct Facts<'f> {
    /// The name of the site.
    pub site: &'f str,
    /// Clicks of the compared days, now and before.
    pub clicks: [u64; 2],
    /// The compared days of the window.
    pub window: Window,
    /// The sum of the usual ranges of these days: lowest and highest clicks. `None` if a day has none.
    pub usual: Option<[f64; 2]>,
    /// The last days, if they are not usual.
    pub unusual: Option<Unusual>,
    /// True if people search. A feed is shown to them.
    pub searched: bool,
    /// Returns the name of a row for people.
    pub name: &'f dyn Fn(Dimension, &str) -> String,
}

/// Makes the headline of an explanation.
#[must_use]
pub fn headline(explanation: &Explanation, facts: &Facts<'_>) -> ExplainedHeadline {
    let Some(percent) = percent(facts.clicks).filter(|_| facts.clicks[0] > 0 && explanation.clicks_change != 0) else {
        return ExplainedHeadline { text: from_or_to_nothing(facts), parts: Vec::new(), checks: Vec::new() };
    };
    if percent.abs() < HARDLY || facts.is_usual() {
        return ExplainedHeadline { text: usual(explanation, facts, percent), parts: Vec::new(), checks: Vec::new() };
    }
    let parts = shares(explanation, facts);
    ExplainedHeadline {
        text: unusual(explanation, facts, percent),
        checks: checks(explanation, facts, parts.first()),
        parts: facts.since().into_iter().chain(parts.into_iter().map(|(_, part)| part)).collect(),
    }
}

impl Facts<'_> {
    fn site(&self) -> String {
        cut(self.site, MOST_OF_SITE)
    }

    fn is_usual(&self) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "clicks")]
        let clicks = self.clicks[0] as f64;
        let last_days = self.unusual.is_some_and(|unusual| unusual.metric == UsualMetric::Clicks);
        self.usual.is_some_and(|[low, high]| (low..=high).contains(&clicks)) && !last_days
    }

    /// The part since when the last days are not usual.
    fn since(&self) -> Option<HeadlinePart> {
        let Unusual { metric, direction, since, .. } = self.unusual?;
        let side = if direction == Direction::Up { "Above" } else { "Below" };
        let metric = if metric == UsualMetric::Clicks { "clicks" } else { "impressions" };
        Some(HeadlinePart {
            text: format!("{side} the usual {metric} since {}", day(since)),
            filters: None,
            classification: None,
            start_date: Some(since),
            end_date: Some(self.window.end_date),
        })
    }
}

/// The change in percent. `None` without clicks before.
fn percent([now, before]: [u64; 2]) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "clicks")]
    let [now, before] = [now as f64, before as f64];
    (before > 0.0).then(|| 100.0 * (now - before) / before)
}

/// The sentence where one of the windows has no clicks, or both have as many.
fn from_or_to_nothing(facts: &Facts<'_>) -> String {
    let site = facts.site();
    match facts.clicks {
        [0, 0] => format!("{site} had no clicks, neither now nor before."),
        [now, 0] => format!("{site} had {}, and none before.", clicks(now)),
        [0, before] => format!("{site} had no clicks, and {} before.", count(before)),
        [now, _] => format!("{site} had {}, as many as before.", clicks(now)),
    }
}

/// The sentence of a change that is small, or usual.
fn usual(explanation: &Explanation, facts: &Facts<'_>, percent: f64) -> String {
    if percent.abs() < HARDLY {
        return format!("Clicks hardly changed ({}).", signed_percent(percent));
    }
    format!("{}, which is usual for it.", sized(explanation, facts, percent))
}

/// The sentence of a change that is not usual.
fn unusual(explanation: &Explanation, facts: &Facts<'_>, percent: f64) -> String {
    let cause = Cause::of(explanation);
    let mostly = if cause.share < MOSTLY { "mostly " } else { "" };
    let because = format!(", {mostly}because {}.", cause.words(explanation, facts));
    let moved = [sized(explanation, facts, percent), moved(explanation, facts)];
    let ranks = if cause.holds_position(explanation) { " It ranks where it did." } else { "" };
    let texts = [(0, ranks), (0, ""), (1, "")].map(|(size, ranks)| format!("{}{because}{ranks}", moved[size]));
    let [.., shortest] = &texts;
    texts.iter().find(|text| text.chars().count() <= MOST_CHARACTERS).unwrap_or(shortest).clone()
}

/// `example.com lost 3,583 clicks`.
fn moved(explanation: &Explanation, facts: &Facts<'_>) -> String {
    let way = if explanation.clicks_change < 0 { "lost" } else { "gained" };
    format!("{} {way} {}", facts.site(), clicks(explanation.clicks_change.unsigned_abs()))
}

/// `example.com lost 3,583 clicks (−61%)`.
fn sized(explanation: &Explanation, facts: &Facts<'_>, percent: f64) -> String {
    // A very large change in percent says less than the number that it is from.
    let size = if percent > 999.0 { format!("from {}", count(facts.clicks[1])) } else { signed_percent(percent) };
    format!("{} ({size})", moved(explanation, facts))
}

/// An effect of the split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Demand,
    Position,
    /// Click-through where the position effect is known.
    AtPosition,
    /// Click-through where it is not.
    Rate,
}

/// The effect that moved most clicks in the direction of the change.
struct Cause {
    effect: Effect,
    /// Its share of the change.
    share: f64,
}

impl Cause {
    fn of(explanation: &Explanation) -> Self {
        let effects = &explanation.effects;
        let rate = match (effects.position, effects.ctr) {
            (Some(position), Some(ctr)) => [Some((Effect::Position, position)), Some((Effect::AtPosition, ctr))],
            _ => [Some((Effect::Rate, effects.rate)), None],
        };
        #[expect(clippy::cast_precision_loss, reason = "clicks")]
        let change = explanation.clicks_change as f64;
        let all = [Some((Effect::Demand, effects.demand))].into_iter().chain(rate).flatten();
        let largest = all.map(|(effect, clicks)| (effect, clicks / change)).max_by(|(_, a), (_, b)| a.total_cmp(b));
        let (effect, share) = largest.unwrap_or((Effect::Demand, 1.0));
        Self { effect, share }
    }

    fn words(&self, explanation: &Explanation, facts: &Facts<'_>) -> &'static str {
        let gains = explanation.clicks_change > 0;
        let [loss, gain] = match self.effect {
            Effect::Demand if facts.searched => ["search shows it less often", "search shows it more often"],
            Effect::Demand => ["the feed shows it less often", "the feed shows it more often"],
            Effect::Position => ["it ranks lower", "it ranks higher"],
            Effect::AtPosition => ["fewer click it at the same position", "more click it at the same position"],
            Effect::Rate => ["fewer of those who see it click", "more of those who see it click"],
        };
        if gains { gain } else { loss }
    }

    /// Returns whether the change is one of demand, at the same position.
    fn holds_position(&self, explanation: &Explanation) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "clicks")]
        let change = explanation.clicks_change as f64;
        let position = explanation.effects.position;
        self.effect == Effect::Demand && position.is_some_and(|position| (position / change).abs() < HELD)
    }
}

/// The rows and the brand that carry most of the change, each with its share, largest first.
fn shares(explanation: &Explanation, facts: &Facts<'_>) -> Vec<(f64, HeadlinePart)> {
    let tables = [
        (Dimension::Country, &explanation.countries),
        (Dimension::Device, &explanation.devices),
        (Dimension::Page, &explanation.pages),
    ];
    let rows = tables.into_iter().filter_map(|(dimension, table)| row(explanation, facts, dimension, table.as_ref()?));
    let mut shares: Vec<_> = rows.chain(brand(explanation)).filter(|(share, _)| *share >= LEAST_SHARE).collect();
    shares.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    shares
}

/// The row of a table that carries most of the change. `None` if it is the only row: the question is about it already.
fn row(
    explanation: &Explanation,
    facts: &Facts<'_>,
    dimension: Dimension,
    table: &ExplainedTable,
) -> Option<(f64, HeadlinePart)> {
    let side = if explanation.clicks_change < 0 { &table.losses } else { &table.gains };
    let rows = table.both.rows + table.new.rows + table.lost.rows + table.unknown;
    let row = side.rows.first().filter(|_| rows > 1)?;
    // Pages count otherwise than the question, so their share is one of the change that is counted by page.
    let whole = explanation.clicks_change - table.counting_difference.unwrap_or_default();
    let share = share(row.clicks_change, whole)?;
    let condition =
        FilterCondition { dimension, operator: FilterOperator::Equals, value: row.key.clone(), logic: None };
    let name = cut(&(facts.name)(dimension, &row.key), MOST_OF_NAME);
    Some((share, part(&name, row.clicks_change, share, whole, Some(vec![condition]), None)))
}

/// The branded queries, if they carry a share of the change. `None` without other named queries.
fn brand(explanation: &Explanation) -> Option<(f64, HeadlinePart)> {
    let ExplainedBrand { branded, non_branded, .. } = explanation.brand.as_ref()?;
    if non_branded.current.impressions + non_branded.previous.impressions == 0 {
        return None;
    }
    let change = branded.clicks_change;
    let share = share(change, explanation.clicks_change)?;
    let branded = Some("branded".to_owned());
    Some((share, part("Searches for your name", change, share, explanation.clicks_change, None, branded)))
}

/// The share of a change in its own direction.
fn share(change: i64, whole: i64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "clicks")]
    let share = change as f64 / whole as f64;
    (share.is_finite() && share > 0.0).then_some(share)
}

fn part(
    name: &str,
    change: i64,
    share: f64,
    whole: i64,
    filters: Option<Vec<FilterCondition>>,
    classification: Option<String>,
) -> HeadlinePart {
    let sign = if change < 0 { '−' } else { '+' };
    let of = if whole < 0 { "loss" } else { "gain" };
    // A part that lost more than all parts together is no share of the loss.
    let share = if share <= 1.0 { format!(", {:.0}% of the {of}", share * 100.0) } else { String::new() };
    let text = format!("{name}: {sign}{}{share}", clicks(change.unsigned_abs()));
    HeadlinePart { text, filters, classification, start_date: None, end_date: None }
}

fn checks(explanation: &Explanation, facts: &Facts<'_>, largest: Option<&(f64, HeadlinePart)>) -> Vec<HeadlineCheck> {
    let loses = explanation.clicks_change < 0;
    let brand = brand_shown_less(explanation).filter(|_| loses).map(|percent| HeadlineCheck {
        code: HeadlineCheckCode::BrandShownLess,
        text: format!(
            "Even searches for your name show you {:.0}% less often: check indexing, robots.txt and the search engine's messages.",
            percent.abs()
        ),
    });
    let one = largest.filter(|(share, _)| (CARRIES..=1.0).contains(share)).map(|(_, part)| HeadlineCheck {
        code: HeadlineCheckCode::OnePart,
        text: format!("Look there first: {}.", part.text),
    });
    let is_known = |event: &&ExplainedEvent| {
        event.source == AnnotationSource::System && event.overlaps != OverlappedWindow::Previous
    };
    let event = explanation.events.iter().find(is_known).map(|event| HeadlineCheck {
        code: HeadlineCheckCode::KnownEvent,
        text: format!("Known in these days: {}", cut(&event.text, MOST_OF_EVENT)),
    });
    let clicked =
        (loses && facts.searched && Cause::of(explanation).effect == Effect::AtPosition).then(|| HeadlineCheck {
            code: HeadlineCheckCode::ClickedLess,
            text: "Fewer click at the same position: compare your titles with what stands above and beside you."
                .to_owned(),
        });
    [brand, one, event, clicked].into_iter().flatten().collect()
}

/// The loss of branded impressions in percent, if they lost many at the same position.
fn brand_shown_less(explanation: &Explanation) -> Option<f64> {
    let branded = &explanation.brand.as_ref()?.branded;
    let percent = percent([branded.current.impressions, branded.previous.impressions])?;
    let moved = branded.current.position? - branded.previous.position?;
    (percent <= BRAND_LOSS && moved.abs() < BRAND_HELD).then_some(percent)
}

fn count(number: u64) -> String {
    grouped(&number.to_string())
}

fn clicks(number: u64) -> String {
    format!("{} {}", count(number), if number == 1 { "click" } else { "clicks" })
}

/// `−61%`, and `+3.8%` below ten.
fn signed_percent(percent: f64) -> String {
    let sign = if percent < 0.0 { '−' } else { '+' };
    let size = percent.abs();
    if size < 9.95 { format!("{sign}{size:.1}%") } else { format!("{sign}{size:.0}%") }
}

/// `31 Oct`.
fn day(date: NaiveDate) -> String {
    date.format("%-d %b").to_string()
}

/// Cuts a text where it is too long.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
