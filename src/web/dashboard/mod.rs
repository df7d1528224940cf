//! The dashboard: pages that show people their numbers. Every state of a page is an address.
//!
//! Pages ask the operations, through the layers that every request for them passes. So they show the same numbers, to the same people.
//! There is no other way to data here. Signed-in people open `/` and `/p/{id}`; readers of a share link open `/share/{token}`.

mod ask;
mod door;
mod draw;
mod opened;
mod parts;
mod refused;
mod shared_csv;
mod sites;
mod table;
mod view;

use api::error::{ApiError, Code};
use common::{base_url::BaseUrl, clock::Clock};
use futures_util::{FutureExt as _, future::BoxFuture};
use maud::{Markup, html};
use pages::{
    fixed::fixed,
    own_host::on_own_host,
    page::{self, Navigation, Page},
};
use poem::{
    EndpointExt as _, Request, Response, Route,
    endpoint::BoxEndpoint,
    get, handler,
    http::{HeaderValue, header},
    web::{Data, Path},
};
use url::form_urlencoded;

use self::{
    ask::{Asker, Visit},
    door::Door,
    opened::Opened,
    parts::Part,
    view::View,
};
use super::{account::redirect, documentation};
use crate::{
    admission::Admitted,
    operations::Operations,
    services::waits::{self, Progress},
};

/// The page of all sites.
const SITES: &str = "/";
/// The overview of a property.
const OVERVIEW: &str = "/p/:id";
/// Another page of a property.
const PART: &str = "/p/:id/:part";
/// The page behind a share link.
const SHARED: &str = "/share/:token";
/// The script.
const SCRIPT: &str = "/assets/dashboard.js";

/// The title of the page of all sites.
const ALL_SITES: &str = "All sites";

/// The paths. All of them take `GET` and `HEAD`.
pub const PATHS: [&str; 7] = [SITES, OVERVIEW, PART, SHARED, shared_csv::QUERIES, shared_csv::PAGES, SCRIPT];

/// Whom the pages of a path are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visitors<'p> {
    /// People who are signed in.
    People,
    /// Readers of the share link with this token.
    Readers(&'p str),
}

/// Returns whom the page at `path` is for, or `None` if it is not a page of the dashboard.
#[must_use]
pub fn visitors(path: &str) -> Option<Visitors<'_>> {
    if let Some(rest) = path.strip_prefix("/share/") {
        return Some(Visitors::Readers(rest.split('/').next().unwrap_or_default()));
    }
    (path == SITES || path.starts_with("/p/")).then_some(Visitors::People)
}

/// The dashboard.
#[derive(Clone)]
pub struct Dashboard {
    /// The navigation.
    pub navigation: Navigation,
    /// The service's public root.
    pub base_url: BaseUrl,
    /// The clock.
    pub clock: Clock,
    /// True if people can sign in with a browser.
    pub signs_in: bool,
}

impl Dashboard {
    /// Adds the pages, which ask the `operations`. These have their layers and answer errors as responses.
    #[must_use]
    pub fn mount(self, routes: Route, operations: BoxEndpoint<'static>) -> Route {
        let (base_url, operations) = (self.base_url.clone(), Operations::new(operations));
        let shared = get(read).data(self.clone()).data(operations.clone());
        let file = || get(shared_csv::show).data(operations.clone());
        let own =
            |endpoint: poem::RouteMethod| on_own_host(endpoint.data(self.clone()).data(operations.clone()), &base_url);
        routes
            .at(SITES, own(get(list)))
            .at(OVERVIEW, own(get(open)))
            .at(PART, own(get(open_part)))
            .at(SHARED, shared)
            .at(shared_csv::QUERIES, file())
            .at(shared_csv::PAGES, file())
            .at(SCRIPT, fixed("text/javascript; charset=utf-8", include_str!("dashboard.js")))
    }

    /// Sends a stranger to sign-in and from there back.
    fn to_sign_in(&self, request: &Request) -> Response {
        if !self.signs_in {
            return redirect(documentation::PATH);
        }
        let back = request.uri().path_and_query().map_or(SITES, |target| target.as_str());
        let back: String = form_urlencoded::byte_serialize(back.as_bytes()).collect();
        redirect(&format!("/auth/login?return_to={}", back.replace("%2F", "/")))
    }
}

/// The title and the body of a page, or the refusal at the door.
type Shown = Result<(String, Markup), (ApiError, Option<Door>)>;

/// Whom a page is for, which decides its frame.
#[derive(Clone)]
enum Frame {
    People(Navigation),
    Readers,
}

impl Frame {
    fn page(&self, title: impl Into<String>) -> Page {
        match self {
            Self::People(navigation) => Page::new(title).signed_in(navigation),
            Self::Readers => Page::new(title),
        }
    }

    /// Answers with the page that `work` makes. If that waits for the search engine, the head is sent before, under the `name` of the
    /// page; what is refused later is said inside.
    async fn answer(self, name: &str, work: BoxFuture<'static, Shown>) -> Response {
        let rest = match waits::judged(work).await {
            Progress::Done(Ok((title, body))) => return self.page(title).dashboard(SCRIPT).render(&body),
            Progress::Done(Err((refusal, door))) => {
                return refused::page(|title| self.page(title), &refusal, door.as_ref());
            }
            Progress::Waits(rest) => rest,
        };
        let waiting = html! { p.waiting role="status" { "Reading from the search engine…" } };
        let rest = rest.map(|shown| {
            let (title, body) = shown.unwrap_or_else(|(refusal, door)| refused::late(&refusal, door.as_ref()));
            html! { h1 { (title) } (body) }
        });
        self.page(name).dashboard(SCRIPT).streamed(&waiting, rest)
    }
}

/// Shows all sites to people. Programs get the documentation.
#[handler]
async fn list(Data(dashboard): Data<&Dashboard>, Data(operations): Data<&Operations>, page: &Request) -> Response {
    let mut response = if !page::is_wanted(page.headers()) {
        redirect(documentation::PATH)
    } else if page.data::<Admitted>().is_none() {
        dashboard.to_sign_in(page)
    } else {
        let (operations, visit) = (operations.clone(), Visit::from(page));
        let work = async move {
            let body = sites::page(Asker { operations: &operations, page: &visit }).await;
            body.map(|body| (ALL_SITES.to_owned(), body)).map_err(|refusal| (refusal, None))
        };
        Frame::People(dashboard.navigation.clone()).answer(ALL_SITES, work.boxed()).await
    };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept, Cookie"));
    response
}

/// Shows the overview of a property.
#[handler]
async fn open(
    Data(dashboard): Data<&Dashboard>,
    Data(operations): Data<&Operations>,
    Path(id): Path<String>,
    page: &Request,
) -> Response {
    show(dashboard, operations, page, &id, "").await
}

/// Shows another page of a property.
#[handler]
async fn open_part(
    Data(dashboard): Data<&Dashboard>,
    Data(operations): Data<&Operations>,
    Path((id, part)): Path<(String, String)>,
    page: &Request,
) -> Response {
    show(dashboard, operations, page, &id, &format!("/{part}")).await
}

/// Shows the page of a property at `path` below its overview.
async fn show(dashboard: &Dashboard, operations: &Operations, page: &Request, id: &str, path: &str) -> Response {
    if page.data::<Admitted>().is_none() {
        return dashboard.to_sign_in(page);
    }
    let frame = Frame::People(dashboard.navigation.clone());
    let Some((part, name)) = Part::at(path) else {
        return refused::page(|title| frame.page(title), &ApiError::new(Code::NotFound), None);
    };
    let door = Door::Signed(form_urlencoded::byte_serialize(id.as_bytes()).collect());
    frame.answer(name, contents(dashboard.clone(), operations.clone(), page.into(), door, part).boxed()).await
}

/// Shows the page of a share link.
#[handler]
async fn read(Data(dashboard): Data<&Dashboard>, Data(operations): Data<&Operations>, page: &Request) -> Response {
    // The token as it was sent: another spelling of a token is another token.
    let door = Door::Shared(page.uri().path().strip_prefix("/share/").unwrap_or_default().to_owned());
    let work = contents(dashboard.clone(), operations.clone(), page.into(), door, Part::Overview);
    let mut response = Frame::Readers.answer("Search performance", work.boxed()).await;
    // A link is for the people who were given it.
    response.headers_mut().insert("x-robots-tag", HeaderValue::from_static("noindex, nofollow"));
    response
}

/// Returns the contents of a page of a property.
async fn contents(dashboard: Dashboard, operations: Operations, visit: Visit, door: Door, part: Part) -> Shown {
    let asker = Asker { operations: &operations, page: &visit };
    let today = dashboard.clock.pacific_today();
    let view = View::read(visit.query(), part.names()).and_then(|view| view.checked(today));
    let found = match view {
        Ok(view) => door.property(asker).await.map(|(site, last_final)| (view, site, last_final.unwrap_or(today))),
        Err(refusal) => Err(refusal),
    };
    let (view, site, last_final) = match found {
        Ok(found) => found,
        Err(refusal) => return Err((refusal, Some(door))),
    };
    let opened = Opened { asker, door, site, view, today, last_final, base_url: &dashboard.base_url };
    match part.page(&opened).await {
        Ok(body) => Ok((opened.site.name, body)),
        Err(refusal) => Err((refusal, Some(opened.door))),
    }
}
