//! Profiles of sites in numbers: traffic, audience, seasonality and pages.
//!
//! The numbers are fitted to aggregates of real search-performance exports (weekday curves, device shares, share of clicks
//! with an anonymised query, slopes of clicks by rank) and rounded. Numbers that were not measured are plausible
//! assumptions.

/// The parameters of one kind of site.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Profile {
    /// Impressions a day of visible queries, before growth and season.
    pub impressions: f64,
    /// The number of distinct visible queries.
    pub queries: usize,
    /// Exponent of the rank-frequency law.
    pub slope: f64,
    /// Share of brand queries in the upper half by rank.
    pub brand: f64,
    /// Impression shares of desktop, mobile, tablet.
    pub devices: [f64; 3],
    /// Factors for Monday to Sunday.
    pub weekdays: [f64; 7],
    /// Share of clicks whose query is withheld for privacy.
    pub hidden: f64,
    /// The number of pseudo-queries that stand for all anonymised queries.
    pub anonymised: usize,
    /// Number of pages.
    pub pages: usize,
    /// Growth per year, as a fraction.
    pub growth: f64,
    /// The yearly season: its amplitude, and the day of the year on which it rises through the mean.
    pub season: (f64, f64),
    /// True if the level of traffic changes every few months.
    pub swings: bool,
    /// Impressions of image, video, news, Discover and Google News relative to web.
    pub other_types: [f64; 5],
    /// Path sections and the share of pages under each.
    pub sections: &'static [(&'static str, f64)],
    /// Share of pages with each search appearance, in the order of `APPEARANCES`.
    pub appearances: [f64; 7],
}

const ANONYMISED: usize = 60;
const SEASON: (f64, f64) = (0.08, 40.0);

/// A shop with a well-known name.
pub(crate) static RETAIL: Profile = Profile {
    impressions: 14_000.0,
    queries: 16_000,
    slope: 1.10,
    brand: 0.34,
    devices: [0.42, 0.57, 0.01],
    weekdays: [1.0, 1.02, 1.02, 1.01, 0.99, 0.99, 0.97],
    hidden: 0.30,
    anonymised: ANONYMISED,
    pages: 480,
    growth: 0.10,
    season: SEASON,
    swings: false,
    other_types: [0.15, 0.03, 0.0, 0.05, 0.0],
    sections: &[("products", 0.62), ("blog", 0.2), ("category", 0.1), ("help", 0.08)],
    appearances: [0.12, 0.0, 0.58, 0.05, 0.03, 0.02, 0.05],
};

/// Software for companies.
pub(crate) static SOFTWARE: Profile = Profile {
    impressions: 3_000.0,
    queries: 3_000,
    slope: 1.05,
    brand: 0.06,
    devices: [0.68, 0.31, 0.01],
    weekdays: [1.18, 1.24, 1.22, 1.16, 1.0, 0.58, 0.62],
    hidden: 0.50,
    anonymised: ANONYMISED,
    pages: 260,
    growth: 0.35,
    season: SEASON,
    swings: false,
    other_types: [0.04, 0.02, 0.0, 0.01, 0.0],
    sections: &[("docs", 0.45), ("blog", 0.35), ("features", 0.12), ("customers", 0.08)],
    appearances: [0.0, 0.0, 0.02, 0.04, 0.1, 0.03, 0.06],
};

/// A newspaper.
pub(crate) static PUBLISHER: Profile = Profile {
    impressions: 9_000.0,
    queries: 9_000,
    slope: 1.0,
    brand: 0.03,
    devices: [0.26, 0.72, 0.02],
    weekdays: [1.0, 0.99, 0.98, 0.98, 0.97, 1.03, 1.05],
    hidden: 0.46,
    anonymised: ANONYMISED,
    pages: 12_000,
    growth: -0.15,
    season: SEASON,
    swings: false,
    other_types: [0.08, 0.06, 0.12, 0.6, 0.2],
    sections: &[("news", 0.5), ("sport", 0.2), ("guides", 0.2), ("opinion", 0.1)],
    appearances: [0.0, 0.15, 0.0, 0.02, 0.02, 0.04, 0.12],
};

/// A small local business.
pub(crate) static LOCAL: Profile = Profile {
    impressions: 160.0,
    queries: 260,
    slope: 1.1,
    brand: 0.2,
    devices: [0.35, 0.63, 0.02],
    weekdays: [0.95, 0.97, 1.0, 1.02, 1.06, 1.1, 0.9],
    hidden: 0.35,
    anonymised: ANONYMISED,
    pages: 40,
    growth: 0.2,
    season: SEASON,
    swings: false,
    other_types: [0.1, 0.0, 0.0, 0.0, 0.0],
    sections: &[("services", 0.5), ("blog", 0.35), ("about", 0.15)],
    appearances: [0.0, 0.0, 0.1, 0.05, 0.1, 0.0, 0.02],
};

/// Click-through rate at the topmost position. Positions 1 to 10 are from SISTRIX 2020 (80 million keywords), the tail is
/// fitted. Brand queries are clicked about twice as often.
pub(crate) fn click_through_rate(position: f64, brand: bool) -> f64 {
    const CURVE: [f64; 10] = [0.285, 0.157, 0.110, 0.080, 0.072, 0.051, 0.040, 0.032, 0.028, 0.025];
    let rate = match position {
        p if p < 10.0 => {
            let lower = super::rng::index((p - 1.0) / 9.0, 9);
            CURVE[lower] + (CURVE[lower + 1] - CURVE[lower]) * (p - 1.0 - lower as f64)
        }
        p if p < 20.0 => 0.017,
        p if p < 30.0 => 0.012,
        p if p < 50.0 => 0.006,
        _ => 0.0014,
    };
    (rate * if brand { 1.9 } else { 0.9 }).min(0.6)
}
