//! Countries as the providers name them: provider A by a number, provider B by two letters.

use crate::world::axes::COUNTRIES;

/// ISO 3166-1 alpha-2, numeric code, name and main language of each country in `COUNTRIES`, in its order, without `zzz`.
const CODES: [(&str, u32, &str, &str); COUNTRIES.len() - 1] = [
    ("ar", 32, "Argentina", "es"),
    ("au", 36, "Australia", "en"),
    ("at", 40, "Austria", "de"),
    ("be", 56, "Belgium", "nl"),
    ("bd", 50, "Bangladesh", "bn"),
    ("br", 76, "Brazil", "pt"),
    ("ca", 124, "Canada", "en"),
    ("ch", 756, "Switzerland", "de"),
    ("cl", 152, "Chile", "es"),
    ("cz", 203, "Czechia", "cs"),
    ("de", 276, "Germany", "de"),
    ("dk", 208, "Denmark", "da"),
    ("eg", 818, "Egypt", "ar"),
    ("es", 724, "Spain", "es"),
    ("fr", 250, "France", "fr"),
    ("gb", 826, "United Kingdom", "en"),
    ("id", 360, "Indonesia", "id"),
    ("in", 356, "India", "en"),
    ("ie", 372, "Ireland", "en"),
    ("it", 380, "Italy", "it"),
    ("jp", 392, "Japan", "ja"),
    ("mx", 484, "Mexico", "es"),
    ("ng", 566, "Nigeria", "en"),
    ("nl", 528, "Netherlands", "nl"),
    ("ph", 608, "Philippines", "en"),
    ("pl", 616, "Poland", "pl"),
    ("pt", 620, "Portugal", "pt"),
    ("ro", 642, "Romania", "ro"),
    ("se", 752, "Sweden", "sv"),
    ("tr", 792, "Turkiye", "tr"),
    ("us", 840, "United States", "en"),
    ("vn", 704, "Vietnam", "vi"),
    ("za", 710, "South Africa", "en"),
];

/// Numeric codes of the other countries that provider A knows.
const OTHER_NUMBERS: [u32; 61] = [
    8, 12, 24, 31, 48, 51, 68, 70, 100, 104, 112, 116, 120, 144, 170, 188, 191, 196, 214, 218, 222, 233, 246, 268, 288,
    300, 320, 344, 348, 376, 384, 398, 400, 404, 410, 428, 440, 442, 458, 470, 492, 498, 504, 554, 558, 578, 586, 591,
    600, 604, 682, 686, 688, 702, 703, 705, 764, 784, 788, 804, 858,
];

/// Two-letter codes of the other countries that provider B knows.
const OTHER_LETTERS: &str = "ad ae af ag ai al am ao as aw az ba bb bf bg bh bi bj bn bo bs bt bw by bz cd cf cg ci ck \
    cm cn co cr cu cv cy dj dm do dz ec ee et fi fj fm fo ga gd ge gf gg gh gi gl gm gn gp gq gr gt gu gy hk hn hr ht \
    hu il im iq is je jm jo ke kg kh ki kn kr kw ky kz la lb lc li lk ls lt lu lv ly ma mc md me mg mk ml mm mn mq mr \
    ms mt mu mv mw my mz na nc ne ni no np nr nu nz om pa pe pf pg pk pn pr ps py qa re rs ru rw sa sb sc sg sh si sk \
    sl sm sn so sr st sv td tg th tj tk tl tm tn to tt tw tz ua ug uy uz vc ve vg vi vu ws ye yt zm zw";

/// The part of the world that a figure is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Region {
    World,
    /// An index of `COUNTRIES`.
    Country(usize),
    /// A country that sends the simulated sites next to nothing.
    Elsewhere,
}

/// The place with provider A's location code: the country's ISO number plus 2000.
pub(super) fn by_location_code(code: u64) -> Option<Region> {
    let number = u32::try_from(code.checked_sub(2000)?).ok()?;
    let listed = CODES.iter().position(|(_, known, ..)| *known == number).map(Region::Country);
    listed.or_else(|| OTHER_NUMBERS.contains(&number).then_some(Region::Elsewhere))
}

/// The place with provider A's location name, and its location code.
pub(super) fn by_location_name(name: &str) -> Option<(Region, u32)> {
    let index = CODES.iter().position(|(_, _, known, _)| known.eq_ignore_ascii_case(name))?;
    Some((Region::Country(index), CODES[index].1 + 2000))
}

/// The place with provider B's code: two lower-case letters.
pub(super) fn by_letters(code: &str) -> Option<Region> {
    let listed = CODES.iter().position(|(known, ..)| *known == code).map(Region::Country);
    listed.or_else(|| OTHER_LETTERS.split(' ').any(|known| known == code).then_some(Region::Elsewhere))
}

/// Provider B's code of a country of `COUNTRIES`.
pub(super) fn letters(country: usize) -> &'static str {
    CODES.get(country).map_or("us", |code| code.0)
}

/// The main language of a country of `COUNTRIES`.
pub(super) fn language(country: usize) -> &'static str {
    CODES.get(country).map_or("en", |code| code.3)
}

/// Language codes and names that provider A knows.
const LANGUAGES: [(&str, &str); 31] = [
    ("ar", "Arabic"),
    ("bg", "Bulgarian"),
    ("bn", "Bengali"),
    ("cs", "Czech"),
    ("da", "Danish"),
    ("de", "German"),
    ("el", "Greek"),
    ("en", "English"),
    ("es", "Spanish"),
    ("et", "Estonian"),
    ("fi", "Finnish"),
    ("fr", "French"),
    ("he", "Hebrew"),
    ("hi", "Hindi"),
    ("hr", "Croatian"),
    ("hu", "Hungarian"),
    ("id", "Indonesian"),
    ("it", "Italian"),
    ("ja", "Japanese"),
    ("ko", "Korean"),
    ("nb", "Norwegian (Bokmal)"),
    ("nl", "Dutch"),
    ("pl", "Polish"),
    ("pt", "Portuguese"),
    ("ro", "Romanian"),
    ("sk", "Slovak"),
    ("sv", "Swedish"),
    ("th", "Thai"),
    ("tr", "Turkish"),
    ("uk", "Ukrainian"),
    ("vi", "Vietnamese"),
];

/// The language code with this code or English name.
pub(super) fn language_code(text: &str) -> Option<&'static str> {
    LANGUAGES.iter().find(|(code, name)| *code == text || name.eq_ignore_ascii_case(text)).map(|(code, _)| *code)
}
