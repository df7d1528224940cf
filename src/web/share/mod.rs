//! `GET /share/{token}`: the page behind a share link, for people. It shows totals and a chart of clicks. It takes no parameters.
//!
//! The page asks the operation `getSharedPerformance`, through the layers that every request for it passes. So it opens for the same
//! links, counts for the same limits and shows the same numbers.

mod chart;

use std::sync::Arc;

use api::{error::ApiError, params::decoded};
use chrono::{DateTime, NaiveDate, Utc};
use maud::{Markup, html};
use pages::page::{
    Page,
    words::{decimal, grouped, time},
};
use poem::{
    Endpoint, EndpointExt as _, Request, Response, Result,
    endpoint::BoxEndpoint,
    get, handler,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header},
    web::Data,
};
use serde::Deserialize;

use crate::error::Error;

/// The path of the page.
pub const PATH: &str = "/share/:token";

/// The path of the page up to the token.
const START: &str = "/share/";

/// The headers of the operation's answer that the page's answer has, too.
static KEPT: [HeaderName; 4] = [
    header::RETRY_AFTER,
    HeaderName::from_static("x-ratelimit-limit"),
    HeaderName::from_static("x-ratelimit-remaining"),
    HeaderName::from_static("x-ratelimit-reset"),
];

/// The operations behind their layers.
#[derive(Clone)]
struct Operations(Arc<BoxEndpoint<'static>>);

/// The part of an answer of `getSharedPerformance` that the page shows.
#[derive(Debug, Deserialize)]
struct Shared {
    data: Figures,
    meta: Meta,
}

#[derive(Debug, Deserialize)]
struct Figures {
    totals: Option<Metrics>,
    series: Vec<Day>,
}

#[derive(Debug, Deserialize)]
struct Metrics {
    clicks: f64,
    impressions: f64,
    ctr: Option<f64>,
    position: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Day {
    date: NaiveDate,
    #[serde(flatten)]
    metrics: Metrics,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    site: String,
    link_name: Option<String>,
    link_expires_at: Option<DateTime<Utc>>,
    window: Window,
    #[serde(default)]
    warnings: Vec<Warning>,
}

#[derive(Debug, Deserialize)]
struct Warning {
    text: String,
    url: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Window {
    start_date: NaiveDate,
    end_date: NaiveDate,
}

/// The page over the operations, which have their layers and answer errors as responses.
#[must_use]
pub fn page(operations: BoxEndpoint<'static>) -> impl Endpoint {
    get(show).data(Operations(Arc::new(operations)))
}

/// Shows the page. Parameters are refused, because the page would ignore them.
#[handler]
async fn show(Data(operations): Data<&Operations>, request: &Request) -> Result<Response> {
    without_parameters(request.uri().query().unwrap_or_default())?;
    let mut response = match operations.ask(request).await {
        Ok((StatusCode::OK, kept, body)) => match serde_json::from_slice::<Shared>(&body) {
            Ok(shared) => with(kept, Page::new(shared.meta.site.as_str()).render(&contents(&shared))),
            Err(error) => broken(&Error::internal(error)),
        },
        Ok((status, kept, _)) => with(kept, refused(status)),
        Err(error) => broken(&error),
    };
    // A link is for the people who were given it.
    response.headers_mut().insert("x-robots-tag", HeaderValue::from_static("noindex, nofollow"));
    Ok(response)
}

fn without_parameters(query: &str) -> Result<(), ApiError> {
    let pairs = decoded(query).ok_or_else(|| ApiError::invalid("query string", "must be percent-encoded UTF-8"))?;
    match pairs.first() {
        None => Ok(()),
        Some((name, _)) => {
            Err(ApiError::invalid(name, "not a parameter here; this page takes none, so open the link without it"))
        }
    }
}

impl Operations {
    /// Asks the operation about the link that the path of `page` names. Returns the status, the headers to keep and the body.
    async fn ask(&self, page: &Request) -> Result<(StatusCode, HeaderMap, Vec<u8>), Error> {
        // The token as it was sent: another spelling of a token is another token.
        let token = page.uri().path().strip_prefix(START).unwrap_or_default();
        let uri: Uri = format!("/api/share/{token}/performance?scope=series").parse().map_err(Error::internal)?;
        let mut request = Request::builder().uri(uri).finish();
        // The caller's address and the request's id.
        *request.extensions_mut() = page.extensions().clone();
        let mut response = self.0.call(request).await.map_err(|error| Error::internal(error.to_string()))?;
        let kept = KEPT.iter().filter_map(|name| Some((name.clone(), response.headers().get(name)?.clone())));
        let (status, kept) = (response.status(), kept.collect());
        let body = response.take_body().into_vec().await.map_err(Error::internal)?;
        Ok((status, kept, body))
    }
}

fn with(kept: HeaderMap, mut response: Response) -> Response {
    response.headers_mut().extend(kept);
    response
}

fn contents(shared: &Shared) -> Markup {
    let Shared { data: Figures { totals, series }, meta } = shared;
    html! {
        @if let Some(name) = &meta.link_name { p.quiet-text { (name) } }
        p {
            "Search performance from " (day(meta.window.start_date)) " to " (day(meta.window.end_date)) ", as far as the search engine's data is final."
        }
        @for warning in &meta.warnings {
            p.card { (warning.text) @if let Some(url) = &warning.url { " " a href=(url) rel="noreferrer" { "Source" } } }
        }
        @if let Some(totals) = totals {
            dl.card {
                dt { "Clicks" } dd { (grouped(totals.clicks)) }
                dt { "Impressions" } dd { (grouped(totals.impressions)) }
                dt { "Click-through rate" } dd { (rate(totals.ctr)) }
                dt { "Average position" } dd { (position(totals.position)) }
            }
        } @else {
            p.card { "The search engine is still counting these days." }
        }
        h2 { "Clicks per day" }
        (chart::clicks(series))
        details {
            summary { "Days as a table" }
            (table(series))
        }
        @if let Some(end) = meta.link_expires_at { p.quiet-text { "This link works until " (time(end)) "." } }
    }
}

fn table(series: &[Day]) -> Markup {
    html! {
        table.figures {
            thead {
                tr {
                    @for name in ["Day", "Clicks", "Impressions"] { th scope="col" { (name) } }
                    th scope="col" { abbr title="Click-through rate" { "CTR" } }
                    th scope="col" { "Position" }
                }
            }
            tbody {
                @for Day { date, metrics } in series {
                    tr {
                        th scope="row" { (date.format("%-d %b %Y")) }
                        td { (grouped(metrics.clicks)) }
                        td { (grouped(metrics.impressions)) }
                        td { (rate(metrics.ctr)) }
                        td { (position(metrics.position)) }
                    }
                }
            }
        }
    }
}

fn day(date: NaiveDate) -> String {
    date.format("%-d %B %Y").to_string()
}

fn rate(ctr: Option<f64>) -> String {
    ctr.map_or_else(|| "–".to_owned(), |ctr| format!("{} %", decimal(ctr * 100.0)))
}

fn position(position: Option<f64>) -> String {
    position.map_or_else(|| "–".to_owned(), decimal)
}

/// The page instead of the dashboard. It names nobody, and never says why a link opens nothing.
fn refused(status: StatusCode) -> Response {
    let (title, text) = match status {
        StatusCode::NOT_FOUND => (
            "This link opens nothing",
            "It is unknown, has expired or was revoked, or the site is no longer shared. Ask the person who gave it to you for a new one.",
        ),
        StatusCode::TOO_MANY_REQUESTS => {
            ("Too many requests", "Too many pages were opened from here or by this link. Try again in a moment.")
        }
        StatusCode::CONFLICT => (
            "The data cannot be read",
            "The search engine does not let this service read the site at the moment. Its owner has to connect it again.",
        ),
        _ => (
            "The data cannot be read at the moment",
            "The search engine or this service does not answer in time. Try again in a few minutes.",
        ),
    };
    Page::new(title).status(status).render(&html! { p { (text) } })
}

fn broken(error: &Error) -> Response {
    tracing::error!(%error, "the page of a share link cannot be shown");
    refused(StatusCode::INTERNAL_SERVER_ERROR)
}
