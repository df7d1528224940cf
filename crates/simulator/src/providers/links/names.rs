//! Names of the domains that link. All lie in domains reserved for examples and tests.

const FIRST: [&str; 24] = [
    "amber", "brisk", "cedar", "daily", "early", "field", "grand", "harbor", "inland", "jolly", "keen", "lively",
    "maple", "north", "open", "plain", "quiet", "river", "silver", "town", "upland", "valley", "willow", "yonder",
];

const SECOND: [&str; 24] = [
    "almanac",
    "beacon",
    "courier",
    "digest",
    "echo",
    "forum",
    "gazette",
    "herald",
    "index",
    "journal",
    "ledger",
    "magazine",
    "notes",
    "observer",
    "post",
    "quarterly",
    "record",
    "signal",
    "times",
    "union",
    "voice",
    "weekly",
    "wire",
    "yearbook",
];

const TOP: [&str; 2] = ["example", "test"];

/// The number of names without a number.
const NAMES: usize = FIRST.len() * SECOND.len() * TOP.len();

/// Shares no factor with the number of names, so that a walk visits each name once.
const STEP: usize = 577;

/// Name number `n` of a walk that begins at `start`. Two numbers never have the same name.
pub(super) fn name(start: usize, n: usize) -> String {
    let place = (start % NAMES + n % NAMES * STEP) % NAMES;
    let (top, rest) = (TOP[place % TOP.len()], place / TOP.len());
    let (first, second) = (FIRST[rest % FIRST.len()], SECOND[rest / FIRST.len()]);
    match n / NAMES {
        0 => format!("{first}{second}.{top}"),
        round => format!("{first}{second}{}.{top}", round + 1),
    }
}
