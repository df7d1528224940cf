//! The names of drawn sites: two words, and a domain reserved for examples and tests.

use super::rng::{child, index, unit};

/// No pair of words is the name of a site that every world has.
const FIRST: [&str; 80] = [
    "amber", "ash", "autumn", "beech", "birch", "blue", "bold", "brass", "brook", "cedar", "clear", "cliff", "clover",
    "coast", "copper", "coral", "crest", "crown", "dawn", "deep", "east", "elder", "elm", "ember", "fair", "fern",
    "field", "finch", "flint", "forest", "fox", "frost", "glen", "gold", "grand", "granite", "green", "harbor",
    "hazel", "heron", "high", "hill", "iron", "ivory", "juniper", "kestrel", "lake", "lark", "laurel", "linden",
    "long", "maple", "marble", "marsh", "meadow", "mill", "misty", "moss", "noble", "olive", "opal", "orchard",
    "otter", "pearl", "pine", "prime", "raven", "red", "ridge", "river", "robin", "rose", "silver", "sky", "stone",
    "summer", "swift", "thistle", "willow", "winter",
];

const SECOND: [&str; 80] = [
    "acre", "arbor", "bank", "barn", "bay", "beam", "bell", "bench", "bloom", "board", "bridge", "cabin", "canvas",
    "cart", "chapel", "corner", "court", "craft", "cross", "dale", "desk", "dock", "door", "farm", "ferry", "fold",
    "ford", "forge", "gate", "grove", "guild", "hall", "harvest", "haven", "hearth", "house", "inn", "kitchen",
    "ladder", "lamp", "landing", "lantern", "leaf", "light", "lodge", "loft", "loom", "market", "mast", "mint", "nest",
    "outfit", "parcel", "path", "pier", "point", "port", "press", "quay", "quill", "rail", "reach", "rest", "room",
    "sail", "shed", "shelf", "spring", "square", "studio", "supply", "table", "terrace", "thread", "timber", "trail",
    "union", "watch", "works", "yard",
];

const ENDINGS: [&str; 2] = ["example", "test"];

/// The number of names.
const NAMES: usize = FIRST.len() * SECOND.len() * ENDINGS.len();

/// The step from one name to the next. It shares no factor with [`NAMES`], so it visits each name once.
const STEP: usize = 4_967;

const _: () = assert!(NAMES >= super::MAX_SITES as usize);

/// The name of a site.
pub(super) struct Name {
    /// `harborlight.example`
    pub domain: String,
    /// `harborlight`
    pub joined: String,
    /// `harbor light`
    pub apart: String,
}

/// The name of site number `rank`. No two of the first 10,000 are equal.
pub(super) fn draw(seed: u64, rank: u32) -> Name {
    let number = (index(unit(child(seed, 0xA3E5)), NAMES) + rank as usize * STEP) % NAMES;
    let (first, rest) = (FIRST[number % FIRST.len()], number / FIRST.len());
    let (second, ending) = (SECOND[rest % SECOND.len()], ENDINGS[rest / SECOND.len()]);
    let joined = format!("{first}{second}");
    Name { domain: format!("{joined}.{ending}"), joined, apart: format!("{first} {second}") }
}
