//! The headline of an explanation: a sentence that is chosen by what changed most, and by whether the change is usual.
//!
//! A change is usual if the clicks of the window lie within the sum of the usual ranges of its days, and its last days are usual, too. The
//! sentence names the effect that moved most clicks in the direction of the change. It says what the split says, and no cause.

use std::cmp::Reverse;

use api::{
    analytics::{
        Direction, ExplainedEvent, ExplainedHeadline, ExplainedTable, Explanation, HeadlineCheck, HeadlineCheckCode,
        HeadlinePart, OverlappedWindow, Unusual, UsualMetric,
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

/// What a headline is made of, besides the explanation.
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
    shares.sort_by_key(|(share, _)| Reverse(ordered(*share)));
    shares
}

/// The row of a table that carries most of the change.
fn row(
    explanation: &Explanation,
    facts: &Facts<'_>,
    dimension: Dimension,
    table: &ExplainedTable,
) -> Option<(f64, HeadlinePart)> {
    let side = if explanation.clicks_change < 0 { &table.losses } else { &table.gains };
    let row = side.rows.first()?;
    // Pages count otherwise than the question, so their share is one of the change that is counted by page.
    let whole = explanation.clicks_change - table.counting_difference.unwrap_or_default();
    let share = share(row.clicks_change, whole)?;
    let condition =
        FilterCondition { dimension, operator: FilterOperator::Equals, value: row.key.clone(), logic: None };
    let name = cut(&(facts.name)(dimension, &row.key), MOST_OF_NAME);
    Some((share, part(&name, row.clicks_change, share, whole, Some(vec![condition]), None)))
}

/// The branded queries, if they carry a share of the change.
fn brand(explanation: &Explanation) -> Option<(f64, HeadlinePart)> {
    let change = explanation.brand.as_ref()?.branded.clicks_change;
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

/// A share as a key to sort by.
fn ordered(share: f64) -> u64 {
    // Positive numbers are in the order of their bits.
    share.to_bits()
}

#[cfg(test)]
mod tests {
    use api::{
        analytics::{
            BrandChange, Contributor, Contributors, Effects, ExplainedBrand, ExplanationCoverage, Remainder, RowTally,
        },
        models::{Metrics, Presence},
    };
    use proptest::prelude::*;

    use super::*;
    use crate::coverage::unavailable;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn effects(demand: f64, position: Option<f64>, ctr: f64) -> Effects {
        let rate = position.unwrap_or_default() + ctr;
        Effects { demand, rate, position, ctr: position.map(|_| ctr) }
    }

    fn remainder() -> Remainder {
        Remainder { clicks_change: 0, clicks: 0, impressions: 0, previous_clicks: 0, previous_impressions: 0 }
    }

    fn explanation(clicks_change: i64, effects: Effects) -> Explanation {
        let none = || unavailable("none");
        Explanation {
            clicks_change,
            headline: ExplainedHeadline::default(),
            effects,
            curve: None,
            brand: None,
            queries: None,
            pages: None,
            countries: None,
            devices: None,
            events: Vec::new(),
            events_left_out: 0,
            coverage: ExplanationCoverage { queries: none(), pages: none(), countries: none(), devices: none() },
        }
    }

    /// A table with one row.
    fn table(key: &str, clicks_change: i64) -> ExplainedTable {
        let none = || Contributors { clicks_change: 0, rows: Vec::new(), left_out: 0 };
        let row = Contributor {
            key: key.to_owned(),
            presence: Presence::Both,
            clicks_change,
            effects: effects(0.0, None, 0.0),
            current: None,
            previous: None,
        };
        let some = Contributors { clicks_change, rows: vec![row], left_out: 0 };
        let (gains, losses) = if clicks_change > 0 { (some, none()) } else { (none(), some) };
        ExplainedTable {
            effects: effects(0.0, None, 0.0),
            gains,
            losses,
            unchanged: 0,
            both: RowTally::default(),
            new: RowTally::default(),
            lost: RowTally::default(),
            unknown: 0,
            remainder: remainder(),
            counting_difference: None,
        }
    }

    fn brand(impressions: [u64; 2], positions: [f64; 2], clicks_change: i64) -> ExplainedBrand {
        let metrics = |impressions, position| Metrics { clicks: 0, impressions, ctr: None, position: Some(position) };
        let change = |clicks_change| BrandChange {
            clicks_change,
            effects: effects(0.0, None, 0.0),
            current: metrics(impressions[0], positions[0]),
            previous: metrics(impressions[1], positions[1]),
        };
        ExplainedBrand { branded: change(clicks_change), non_branded: change(0), remainder: remainder() }
    }

    fn name(_: Dimension, key: &str) -> String {
        if key == "nld" { "Netherlands".to_owned() } else { key.to_owned() }
    }

    fn facts(clicks: [u64; 2]) -> Facts<'static> {
        let window = Window { start_date: date("2026-10-26"), end_date: date("2026-11-22") };
        Facts { site: "mapledock.example", clicks, window, usual: None, unusual: None, searched: true, name: &name }
    }

    fn sentence(effects: Effects, facts: &Facts<'_>) -> String {
        let [now, before] = facts.clicks.map(|clicks| i64::try_from(clicks).unwrap());
        headline(&explanation(now - before, effects), facts).text
    }

    #[test]
    fn the_sentence_names_the_largest_effect_and_says_whether_the_change_is_usual() {
        let feed = |clicks| Facts { searched: false, ..facts(clicks) };
        let within = |clicks| Facts { usual: Some([900.0, 1100.0]), ..facts(clicks) };
        let last_days =
            Unusual { metric: UsualMetric::Clicks, direction: Direction::Down, since: date("2026-11-20"), days: 3 };
        for (effects, facts, expected) in [
            (
                effects(-3513.0, Some(-3.0), -67.0),
                facts([2_247, 5_830]),
                "mapledock.example lost 3,583 clicks (−61%), because search shows it less often. It ranks where it did.",
            ),
            (
                effects(-80.0, Some(-15.0), -5.0),
                facts([400, 500]),
                "mapledock.example lost 100 clicks (−20%), because search shows it less often.",
            ),
            (
                effects(-20.0, Some(-70.0), -10.0),
                facts([400, 500]),
                "mapledock.example lost 100 clicks (−20%), mostly because it ranks lower.",
            ),
            (
                effects(100.0, Some(0.0), -200.0),
                facts([400, 500]),
                "mapledock.example lost 100 clicks (−20%), because fewer click it at the same position.",
            ),
            (
                effects(10.0, None, 90.0),
                facts([600, 500]),
                "mapledock.example gained 100 clicks (+20%), because more of those who see it click.",
            ),
            (
                effects(100.0, None, 0.0),
                feed([600, 500]),
                "mapledock.example gained 100 clicks (+20%), because the feed shows it more often.",
            ),
            (
                effects(10.0, Some(90.0), 0.0),
                facts([600, 500]),
                "mapledock.example gained 100 clicks (+20%), because it ranks higher.",
            ),
            (effects(-13.0, Some(0.0), 0.0), facts([24_959, 24_972]), "Clicks hardly changed (−0.1%)."),
            (
                effects(-90.0, Some(0.0), 0.0),
                within([910, 1_000]),
                "mapledock.example lost 90 clicks (−9.0%), which is usual for it.",
            ),
            (
                effects(-90.0, Some(-40.0), 0.0),
                Facts { unusual: Some(last_days), ..within([910, 1_000]) },
                "mapledock.example lost 90 clicks (−9.0%), because search shows it less often.",
            ),
        ] {
            assert_eq!(sentence(effects, &facts), expected);
        }
    }

    #[test]
    fn few_clicks_before_are_named_and_none_and_as_many_have_their_own_sentence() {
        for (effects, facts, expected) in [
            (
                effects(1.0, None, 0.0),
                facts([2, 1]),
                "mapledock.example gained 1 click (+100%), because search shows it more often.",
            ),
            (
                effects(5_000.0, None, 0.0),
                facts([5_012, 12]),
                "mapledock.example gained 5,000 clicks (from 12), because search shows it more often.",
            ),
            (effects(0.0, None, 0.0), facts([7, 7]), "mapledock.example had 7 clicks, as many as before."),
            (effects(0.0, None, 0.0), facts([0, 0]), "mapledock.example had no clicks, neither now nor before."),
            (effects(1.0, None, 0.0), facts([1, 0]), "mapledock.example had 1 click, and none before."),
            (effects(-9.0, None, 0.0), facts([0, 9]), "mapledock.example had no clicks, and 9 before."),
        ] {
            assert_eq!(sentence(effects, &facts), expected);
        }
    }

    #[test]
    fn parts_are_the_rows_that_carry_a_quarter_of_the_change_and_the_questions_about_them() {
        let mut explained = explanation(-3583, effects(-3513.0, Some(-3.0), -67.0));
        explained.countries = Some(table("nld", -2017));
        explained.devices = Some(table("DESKTOP", -2456));
        let pages = table("https://mapledock.example/", -1365);
        explained.pages = Some(ExplainedTable { counting_difference: Some(-853), ..pages });
        explained.brand = Some(brand([410, 1_000], [1.2, 1.1], -600));
        let since = date("2026-10-31");
        let unusual = Unusual { metric: UsualMetric::Clicks, direction: Direction::Down, since, days: 20 };
        let found = headline(&explained, &Facts { unusual: Some(unusual), ..facts([2_247, 5_830]) });
        let texts: Vec<&str> = found.parts.iter().map(|part| part.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "Below the usual clicks since 31 Oct",
                "DESKTOP: −2,456 clicks, 69% of the loss",
                "Netherlands: −2,017 clicks, 56% of the loss",
                // Of 2,730 by page.
                "https://mapledock.example/: −1,365 clicks, 50% of the loss",
            ]
        );
        assert_eq!((found.parts[0].start_date, found.parts[0].end_date), (Some(since), Some(date("2026-11-22"))));
        let condition = &found.parts[2].filters.as_ref().unwrap()[0];
        assert_eq!(
            (condition.dimension, condition.operator, &*condition.value),
            (Dimension::Country, FilterOperator::Equals, "nld")
        );
        let checks: Vec<(HeadlineCheckCode, &str)> =
            found.checks.iter().map(|check| (check.code, &*check.text)).collect();
        assert_eq!(
            checks,
            [
                (
                    HeadlineCheckCode::BrandShownLess,
                    "Even searches for your name show you 59% less often: check indexing, robots.txt and the search engine's messages."
                ),
                (HeadlineCheckCode::OnePart, "Look there first: DESKTOP: −2,456 clicks, 69% of the loss."),
            ]
        );
    }

    #[test]
    fn checks_follow_from_the_numbers() {
        let event = |source, overlaps| ExplainedEvent {
            id: "00000000-0000-0000-0000-000000000000".parse().unwrap(),
            date: date("2026-11-01"),
            end_date: None,
            text: "Core update.".to_owned(),
            category: None,
            source,
            source_url: None,
            overlaps,
        };
        let loss = || explanation(-100, effects(-100.0, Some(0.0), 0.0));
        let codes = |explained: &Explanation, clicks| {
            headline(explained, &facts(clicks)).checks.into_iter().map(|check| check.code).collect::<Vec<_>>()
        };
        let with_brand =
            |impressions, positions| Explanation { brand: Some(brand(impressions, positions, -1)), ..loss() };
        let with_event = |source, overlaps| Explanation { events: vec![event(source, overlaps)], ..loss() };
        let (system, user) = (AnnotationSource::System, AnnotationSource::User);
        for (explained, clicks, expected) in vec![
            (loss(), [400, 500], &[][..]),
            (with_brand([70, 100], [1.0, 1.0]), [400, 500], &[HeadlineCheckCode::BrandShownLess]),
            (with_brand([71, 100], [1.0, 1.0]), [400, 500], &[]),
            (with_brand([10, 100], [2.0, 1.0]), [400, 500], &[]),
            (with_brand([10, 0], [1.0, 1.0]), [400, 500], &[]),
            (with_event(system, OverlappedWindow::Both), [400, 500], &[HeadlineCheckCode::KnownEvent]),
            (with_event(system, OverlappedWindow::Previous), [400, 500], &[]),
            (with_event(user, OverlappedWindow::Current), [400, 500], &[]),
            (explanation(-100, effects(0.0, Some(0.0), -100.0)), [400, 500], &[HeadlineCheckCode::ClickedLess]),
            (explanation(100, effects(0.0, Some(0.0), 100.0)), [600, 500], &[]),
            (explanation(-100, effects(0.0, None, -100.0)), [400, 500], &[]),
            (Explanation { countries: Some(table("nld", -50)), ..loss() }, [400, 500], &[HeadlineCheckCode::OnePart]),
            (Explanation { countries: Some(table("nld", -49)), ..loss() }, [400, 500], &[]),
            // A row that lost more than all rows together carries no share.
            (Explanation { countries: Some(table("nld", -101)), ..loss() }, [400, 500], &[]),
            // What is usual needs no check.
            (Explanation { countries: Some(table("nld", -50)), ..loss() }, [99_900, 100_000], &[]),
        ] {
            assert_eq!(codes(&explained, clicks), expected, "{explained:?}");
        }
    }

    proptest! {
        #[test]
        fn a_sentence_is_short_and_its_numbers_are_those_of_the_answer(
            now in 0_u64..1_000_000_000,
            before in 0_u64..1_000_000_000,
            demand in -1e9..1e9_f64,
            position in prop::option::of(-1e9..1e9_f64),
            site in "[a-z]{1,80}",
            searched: bool,
        ) {
            let [after, earlier] = [now, before].map(|clicks| i64::try_from(clicks).unwrap());
            let change = after - earlier;
            let ctr = change as f64 - demand - position.unwrap_or_default();
            let facts = Facts { site: &site, searched, ..facts([now, before]) };
            let text = sentence(effects(demand, position, ctr), &facts);
            prop_assert!(text.chars().count() <= MOST_CHARACTERS, "{}", text);
            prop_assert!(text.ends_with('.'));
            let percent = percent([now, before]).map(signed_percent).unwrap_or_default();
            let known = [count(now), count(before), count(change.unsigned_abs()), percent.trim_start_matches(['+', '−']).trim_end_matches('%').to_owned()];
            let numbers = text.split(|letter: char| !letter.is_ascii_digit() && !",.".contains(letter));
            for number in numbers.map(|number| number.trim_matches([',', '.'])).filter(|number| !number.is_empty()) {
                prop_assert!(known.iter().any(|known| known == number), "{} in {}", number, text);
            }
        }
    }
}
