//! `GET /share/{token}`: the page behind a share link, for people. It shows totals and a chart of clicks. It takes no parameters.
//!
//! The page asks the operation `getSharedPerformance`, through the layers that every request for it passes. So it opens for the same
//! links, counts for the same limits and shows the same numbers.

mod chart;

use api::{analytics::SeriesPoint, error::ApiError, params::decoded, sharing::SharedPerformanceAnswer};
use bytes::Bytes;
use chrono::NaiveDate;
use maud::{Markup, html};
use pages::page::{
    Page,
    words::{decimal, grouped, time},
};
use poem::{
    Endpoint, EndpointExt as _, Request, Response, Result,
    endpoint::BoxEndpoint,
    get, handler,
    http::{HeaderName, HeaderValue, StatusCode, Uri, header},
    web::Data,
};
use poem_openapi::types::ParseFromJSON as _;

use crate::{error::Error, operations::Operations};

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

/// The page over the operations, which have their layers and answer errors as responses.
#[must_use]
pub fn page(operations: BoxEndpoint<'static>) -> impl Endpoint {
    get(show).data(Operations::new(operations))
}

/// Shows the page. Parameters are refused, because the page would ignore them.
#[handler]
async fn show(Data(operations): Data<&Operations>, request: &Request) -> Result<Response> {
    without_parameters(request.uri().query().unwrap_or_default())?;
    let mut response = answer(operations, request).await.unwrap_or_else(|error| {
        tracing::error!(%error, "the page of a share link cannot be shown");
        refused(StatusCode::INTERNAL_SERVER_ERROR)
    });
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

/// Asks the operation about the link that the path of `page` names, and shows its answer.
async fn answer(operations: &Operations, page: &Request) -> Result<Response, Error> {
    // The token as it was sent: another spelling of a token is another token.
    let token = page.uri().path().strip_prefix(START).unwrap_or_default();
    let uri: Uri = format!("/api/share/{token}/performance?scope=series").parse().map_err(Error::internal)?;
    let (parts, body) = operations.ask(Request::builder().uri(uri).finish(), page.extensions()).await?;
    let mut response = match parts.status {
        StatusCode::OK => {
            let shared = read(&body)?;
            Page::new(shared.meta.site.as_str()).render(&contents(&shared))
        }
        status => refused(status),
    };
    let kept = KEPT.iter().filter_map(|name| Some((name.clone(), parts.headers.get(name)?.clone())));
    response.headers_mut().extend(kept);
    Ok(response)
}

fn read(body: &Bytes) -> Result<SharedPerformanceAnswer, Error> {
    let answer = SharedPerformanceAnswer::parse_from_json(serde_json::from_slice(body).map_err(Error::internal)?);
    answer.map_err(|error| Error::internal(error.into_message()))
}

fn contents(SharedPerformanceAnswer { data, meta }: &SharedPerformanceAnswer) -> Markup {
    let (window, warnings) = (meta.answer.window, meta.answer.warnings.iter().flatten());
    let series = data.series.as_deref().unwrap_or_default();
    html! {
        @if let Some(name) = &meta.link_name { p.quiet-text { (name) } }
        p {
            "Search performance from " (day(window.start_date)) " to " (day(window.end_date)) ", as far as the search engine's data is final."
        }
        @for warning in warnings {
            p.card { (warning.text) @if let Some(url) = &warning.url { " " a href=(url) rel="noreferrer" { "Source" } } }
        }
        @if let Some(totals) = &data.totals {
            dl.card {
                dt { "Clicks" } dd { (grouped(totals.clicks as f64)) }
                dt { "Impressions" } dd { (grouped(totals.impressions as f64)) }
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
        @if let Some(end) = meta.link_expires_at { p.quiet-text { "This link works until " (time(end.into())) "." } }
    }
}

fn table(series: &[SeriesPoint]) -> Markup {
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
                @for point in series {
                    tr {
                        th scope="row" { (point.period.date.format("%-d %b %Y")) }
                        td { (grouped(point.clicks as f64)) }
                        td { (grouped(point.impressions as f64)) }
                        td { (rate(point.ctr)) }
                        td { (position(point.position)) }
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
