//! Memory after many different large answers, beside the cache's budget.

use crate::{
    Measured,
    figure::Figure,
    setting::{Engine, LARGE, Setting, window},
};

/// Bytes of a mebibyte.
pub const MIB: u64 = 1024 * 1024;

/// The cache's budget, in bytes.
const BUDGET: u64 = 64 * MIB;

/// Memory that the process may use beyond the budget, in bytes: for answers being made, for the database's pages, and
/// what the allocator keeps.
const BESIDE: u64 = 64 * MIB;

/// Number of different questions of each kind; their answers are several times the budget.
const QUESTIONS: u64 = 50;

/// Runs the measurement.
pub async fn measure() -> Measured<Vec<Figure>> {
    let engine = Engine::start(0)?;
    // The pace towards the search engine is not measured.
    let (budget, pace) = (BUDGET.to_string(), "10000");
    let settings = [
        ("CACHE__MAX_BYTES", budget.as_str()),
        ("SEARCH_ENGINE__BUCKET", pace),
        ("SEARCH_ENGINE__REFILL_PER_SECOND", pace),
    ];
    let setting = Setting::start(&engine, LARGE, &settings).await?;
    setting.get("/api/properties/tracking").await?;
    let before = setting.server.memory("VmRSS");
    let mut bodies = 0;
    for back in 0..QUESTIONS {
        bodies += setting.get(&setting.path(window(back, 28))).await?.len();
        // A small answer whose readings are as large.
        setting.get(&setting.path(window(back, 27)).replace("Limit=5000", "Limit=1")).await?;
    }
    let (after, peak) = (setting.server.memory("VmRSS"), setting.server.memory("VmHWM"));
    let growth = before.zip(after).map(|(before, after)| after.saturating_sub(before));
    Ok(vec![
        Figure {
            name: format!(
                "growth of memory by {QUESTIONS} large answers ({} MB) and as many small ones",
                bodies / 1_000_000
            ),
            value: format!("{} (from {} to {})", mebibytes(growth), mebibytes(before), mebibytes(after)),
            baseline: format!("{} cache budget", mebibytes(Some(BUDGET))),
            ratio: growth.map_or_else(String::new, |growth| format!("{:.2}", growth as f64 / BUDGET as f64)),
            aim: growth.map(|growth| ("≤ budget + 64 MiB".to_owned(), growth <= BUDGET + BESIDE)),
        },
        Figure::note("the same at its peak", mebibytes(peak)),
    ])
}

/// `12 MiB`
pub fn mebibytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "not measured".to_owned(), |bytes| format!("{:.0} MiB", bytes as f64 / MIB as f64))
}
