//! Tests of the headline: its sentence, its parts and its checks.

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

/// A table whose first row changed, and that has another.
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
        unchanged: 1,
        both: RowTally { rows: 2, clicks_change },
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
            // The loss by page is 2,730.
            "https://mapledock.example/: −1,365 clicks, 50% of the loss",
        ]
    );
    assert_eq!((found.parts[0].start_date, found.parts[0].end_date), (Some(since), Some(date("2026-11-22"))));
    let condition = &found.parts[2].filters.as_ref().unwrap()[0];
    assert_eq!(
        (condition.dimension, condition.operator, &*condition.value),
        (Dimension::Country, FilterOperator::Equals, "nld")
    );
    let checks: Vec<(HeadlineCheckCode, &str)> = found.checks.iter().map(|check| (check.code, &*check.text)).collect();
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
fn a_row_that_is_all_there_is_narrows_nothing() {
    let loss = || explanation(-100, effects(-100.0, Some(0.0), 0.0));
    let alone =
        || ExplainedTable { unchanged: 0, both: RowTally { rows: 1, clicks_change: -100 }, ..table("nld", -100) };
    let unnamed = ExplainedTable { unknown: 1, ..alone() };
    let brand = |others: u64| {
        let mut brand = brand([90, 100], [1.0, 1.0], -100);
        for metrics in [&mut brand.non_branded.current, &mut brand.non_branded.previous] {
            metrics.impressions = others;
        }
        Some(brand)
    };
    for (explained, parts) in [
        (Explanation { countries: Some(table("nld", -100)), ..loss() }, 1),
        (Explanation { countries: Some(alone()), ..loss() }, 0),
        (Explanation { countries: Some(unnamed), ..loss() }, 1),
        (Explanation { brand: brand(7), ..loss() }, 1),
        (Explanation { brand: brand(0), ..loss() }, 0),
    ] {
        let found = headline(&explained, &facts([400, 500]));
        assert_eq!((found.parts.len(), found.checks.len()), (parts, parts), "{explained:?}");
    }
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
    let with_brand = |impressions, positions| Explanation { brand: Some(brand(impressions, positions, -1)), ..loss() };
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
        // A usual change needs no check.
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
