//! Memory after many different large answers, beside the cache's budget.

use crate::{
    Measured,
    figure::Figure,
    setting::{Engine, LARGE, Setting, small_cache, window},
};

const MIB: u64 = 1024 * 1024;

/// The cache's budget.
const BUDGET: u64 = 64 * MIB;

/// What the process may take beyond the budget: answers in the making, the database's pages, what the allocator keeps.
const BESIDE: u64 = 64 * MIB;

/// Different questions of either kind, together several times the budget.
const QUESTIONS: u64 = 50;

/// Measures.
pub async fn measure() -> Measured<Vec<Figure>> {
    let engine = Engine::start(0)?;
    let setting = Setting::start(&engine, LARGE, |config| {
        small_cache(config, BUDGET);
        // The search engine's pace is not what is measured.
        config.search_engine.bucket = 10_000;
        config.search_engine.refill_per_second = 10_000;
    })
    .await?;
    setting.get("/api/properties/tracking").await?;
    let before = resident("VmRSS");
    let mut bodies = 0;
    for back in 0..QUESTIONS {
        bodies += setting.get(&setting.path(window(back, 28))).await?.len();
        // A small answer of readings that are as large.
        setting.get(&setting.path(window(back, 27)).replace("Limit=5000", "Limit=1")).await?;
    }
    let (after, peak) = (resident("VmRSS"), resident("VmHWM"));
    let held = setting.service.reader.cache_use();
    setting.service.shutdown().await;
    let shown = |bytes: Option<u64>| {
        bytes.map_or_else(|| "not measured".to_owned(), |bytes| format!("{:.0} MiB", bytes as f64 / MIB as f64))
    };
    let growth = before.zip(after).map(|(before, after)| after.saturating_sub(before));
    Ok(vec![
        Figure {
            name: format!(
                "growth of memory by {QUESTIONS} large answers ({} MB) and as many small ones",
                bodies / 1_000_000
            ),
            value: format!("{} (from {} to {})", shown(growth), shown(before), shown(after)),
            baseline: format!("{} cache budget", shown(Some(BUDGET))),
            ratio: growth.map_or_else(String::new, |growth| format!("{:.2}", growth as f64 / BUDGET as f64)),
            aim: growth.map(|growth| ("≤ budget + 64 MiB", growth <= BUDGET + BESIDE)),
        },
        Figure::note("the same at its peak", shown(peak)),
        Figure::note(
            "readings in the cache",
            format!("{} entries, {}", held.entries, shown(u64::try_from(held.bytes).ok())),
        ),
    ])
}

/// A size of this process as Linux tells it; nothing elsewhere.
fn resident(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
