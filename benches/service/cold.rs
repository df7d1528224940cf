//! Latency of the first answer, with nothing cached, and of a different answer a second later. The baseline is one
//! request to a search engine that takes 200 ms.

use std::time::{Duration, Instant};

use common::bounded;
use sightline::app::http_client;

use crate::{
    Measured,
    figure::{Figure, median, milliseconds},
    setting::{Engine, LARGE, MIDDLING, Setting, window},
};

/// Time that the search engine takes for an answer, in milliseconds.
const LATENCY_MS: u32 = 200;

/// Number of services started, each of which is asked once.
const SAMPLES: u64 = 5;

/// Days of a window. The comparison window ends right before it.
const DAYS: u64 = 28;

/// Time between the first question and the second.
const PAUSE: Duration = Duration::from_secs(1);

/// `[{"dimension":"query","operator":"contains","value":"a"}]`: the shares of coverage then need one more request.
const FILTERED: &str =
    "&filters=%5B%7B%22dimension%22%3A%22query%22%2C%22operator%22%3A%22contains%22%2C%22value%22%3A%22a%22%7D%5D";

/// The measured questions: description, property and filters.
const QUESTIONS: [(&str, &str, &str); 3] = [
    ("middling property", MIDDLING, ""),
    ("middling property, filtered by query", MIDDLING, FILTERED),
    ("largest answer", LARGE, ""),
];

/// Medians of the measured times.
struct Times {
    bare: Duration,
    first: Duration,
    second: Duration,
}

/// Runs the measurement.
pub async fn measure() -> Measured<Vec<Figure>> {
    let mut figures = Vec::new();
    for (question, site, filters) in QUESTIONS {
        let engine = Engine::start(LATENCY_MS)?;
        draw_days(&engine, site).await?;
        let delayed = samples(&engine, site, filters).await?;
        let immediate = Engine::start(0)?;
        draw_days(&immediate, site).await?;
        let own = samples(&immediate, site, filters).await?;
        for (which, cold, own) in
            [("cold answer", delayed.first, own.first), ("another a second later", delayed.second, own.second)]
        {
            let ratio = cold.as_secs_f64() / delayed.bare.as_secs_f64();
            figures.push(Figure {
                name: format!("{which} with comparison, {question}"),
                value: milliseconds(cold),
                baseline: format!("{} one upstream request", milliseconds(delayed.bare)),
                ratio: format!("{ratio:.2}"),
                aim: Some(("≤ 1.3".to_owned(), ratio <= 1.3)),
            });
            figures.push(Figure::note("the same, search engine without latency", milliseconds(own)));
        }
    }
    Ok(figures)
}

/// Makes the search engine generate its days by asking for all of them at once, because its own work is not measured.
/// The service that asks is dropped with its cache.
async fn draw_days(engine: &Engine, site: &str) -> Measured<()> {
    let setting = Setting::start(engine, site, &[]).await?;
    setting.get(&setting.path(window(0, 2 * (DAYS + SAMPLES)))).await?;
    Ok(())
}

/// Medians of one bare request, of a cold answer and of a second one. Each sample uses a new service, so that nothing
/// is cached and the pace is new. Its user is signed in and its search account has an access token.
async fn samples(engine: &Engine, site: &str, filters: &str) -> Measured<Times> {
    let (mut bare, mut first, mut second) = (Vec::new(), Vec::new(), Vec::new());
    for sample in 0..SAMPLES {
        let setting = Setting::start(engine, site, &[]).await?;
        setting.get("/api/properties/tracking").await?;
        bare.push(bare_request(engine).await?);
        first.push(answer(&setting, sample, filters).await?);
        tokio::time::sleep(PAUSE).await;
        second.push(answer(&setting, sample + SAMPLES, filters).await?);
    }
    Ok(Times { bare: median(bare), first: median(first), second: median(second) })
}

/// Time of an answer about windows that end `back` days ago.
async fn answer(setting: &Setting, back: u64, filters: &str) -> Measured<Duration> {
    let (path, (compare_start, compare_end)) = (setting.path(window(back, DAYS)), window(back + DAYS, DAYS));
    let begun = Instant::now();
    setting.get(&format!("{path}&compareStart={compare_start}&compareEnd={compare_end}{filters}")).await?;
    Ok(begun.elapsed())
}

/// Time that the search engine takes for one request on an open connection. It refuses the request for lack of
/// credentials, but with the usual delay.
async fn bare_request(engine: &Engine) -> Measured<Duration> {
    let (http, url) = (http_client()?, format!("{}/webmasters/v3/sites", engine.url));
    let mut time = Duration::ZERO;
    for _ in 0..2 {
        let begun = Instant::now();
        bounded::bytes(http.get(&url).send().await?, bounded::DOCUMENT).await?;
        time = begun.elapsed();
    }
    Ok(time)
}
