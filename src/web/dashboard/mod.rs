//! The dashboard: pages that show people their numbers. Every state of a page is an address.
//!
//! Pages call the operations (`src/calls/`), with the rights that every request for them needs. So they show the same numbers, to the same
//! people. There is no other way to data here. Forms send requests through the layers of operations.
//!
//! Signed-in people open `/` and `/p/{id}`; readers of a share link open `/share/{token}`.

mod address;
mod ask;
mod door;
mod draw;
mod forms;
mod kind;
mod labels;
mod opened;
mod parts;
mod place;
mod refused;
mod shared_csv;
mod sites;
mod table;
mod view;
mod write;

use std::{future::Future, sync::Arc};

use api::error::{ApiError, Code};
use chrono::NaiveDate;
use common::{base_url::BaseUrl, clock::Clock, names::sites::SiteName, random::Random};
use futures_util::{
    FutureExt as _,
    future::{BoxFuture, join, ready},
};
use maud::{Markup, html};
use pages::{
    fixed::fixed,
    own_host::on_own_host,
    page::{self, Navigation, Page},
};
use poem::{
    Body, EndpointExt as _, Request, Response, Route,
    endpoint::BoxEndpoint,
    get, handler,
    http::{HeaderValue, StatusCode, header},
    web::Data,
};

use self::{
    ask::{Asker, Visit},
    door::{Door, Site},
    forms::Sent,
    opened::Opened,
    parts::Part,
    place::Place,
    refused::Refused,
    view::View,
};
use super::{
    documentation, site_words,
    strangers::{self, redirect},
};
use crate::{
    caller_limits::{CallerLimits, LaterCount},
    calls::Calls,
    operations::Operations,
    services::{
        access::parse_id,
        waiting::{self, Progress, Waiting},
        warming::opened::OpenedPages,
    },
};

/// The page of all sites.
const SITES: &str = "/";
/// The overview of a property.
const OVERVIEW: &str = "/p/:id";
/// Another page of a property.
const PART: &str = "/p/:id/:part";
/// A page of a property with conditions in its address.
const NARROWED: &str = "/p/:id/where/*conditions";
/// The page behind a share link.
const SHARED: &str = "/share/:token";
/// The page behind a share link with conditions in its address.
const SHARED_NARROWED: &str = "/share/:token/where/*conditions";
/// The script.
const SCRIPT: &str = "/assets/dashboard.js";

/// The title of the page of all sites.
const ALL_SITES: &str = "All sites";

/// An address below that of a property which opens no page. Its refusal is for people, too.
const NO_PAGE: &str = "/p/:id/*rest";

/// Whom a page is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// People who are signed in. The path of a page of a property names its id.
    People,
    /// Readers of the page of a share link. The path names its token.
    Readers,
    /// Readers of a share link, who take a file. The path names its token.
    Takers,
}

/// The paths with their methods. Each page of a property has its own, and comes before the pattern of all.
pub fn paths() -> impl Iterator<Item = (&'static str, &'static str)> {
    routes().map(|(pattern, methods, _)| (pattern, methods)).chain([(SCRIPT, "GET, HEAD")])
}

/// The patterns of pages with their audiences, of which the first that matches counts.
pub fn audiences() -> impl Iterator<Item = (&'static str, Audience)> {
    routes().map(|(pattern, _, audience)| (pattern, audience)).chain([(NO_PAGE, Audience::People)])
}

/// The patterns of pages with their methods and audiences.
fn routes() -> impl Iterator<Item = (&'static str, &'static str, Audience)> {
    Part::patterns().map(|pattern| (pattern, "GET, HEAD, POST", Audience::People)).chain([
        (SITES, "GET, HEAD, POST", Audience::People),
        (NARROWED, "GET, HEAD, POST", Audience::People),
        (PART, "GET, HEAD, POST", Audience::People),
        (SHARED, "GET, HEAD", Audience::Readers),
        (SHARED_NARROWED, "GET, HEAD", Audience::Readers),
        (shared_csv::QUERIES, "GET, HEAD", Audience::Takers),
        (shared_csv::PAGES, "GET, HEAD", Audience::Takers),
    ])
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
    /// The source of the keys of forms.
    pub random: Random,
    /// Counts views of share links.
    pub limits: Option<CallerLimits>,
    /// True if people can sign in with a browser.
    pub signs_in: bool,
    /// Notes what is opened, if it is read ahead.
    pub opened: OpenedPages,
    /// The operations that pages call.
    pub calls: Arc<Calls>,
}

impl Dashboard {
    /// Adds the pages, which ask the `operations`. These have their layers and answer errors as responses.
    #[must_use]
    pub fn mount(self, routes: Route, operations: BoxEndpoint<'static>) -> Route {
        let (base_url, operations) = (self.base_url.clone(), Operations::new(operations));
        let shared = || get(read).data(self.clone());
        let file = || get(shared_csv::show).data(self.calls.clone());
        let own =
            |endpoint: poem::RouteMethod| on_own_host(endpoint.data(self.clone()).data(operations.clone()), &base_url);
        routes
            .at(SITES, own(get(list).post(send)))
            .at(OVERVIEW, own(get(open).post(send)))
            .at(PART, own(get(open).post(send)))
            .at(NARROWED, own(get(open).post(send)))
            .at(SHARED, shared())
            .at(SHARED_NARROWED, shared())
            .at(shared_csv::QUERIES, file())
            .at(shared_csv::PAGES, file())
            .at(SCRIPT, fixed("text/javascript; charset=utf-8", include_str!("dashboard.js")))
    }

    /// The page of an address that opens nothing.
    fn nothing(&self) -> Response {
        let frame = Frame::People(self.navigation.clone());
        refused::page(|title| frame.page(title), &ApiError::new(Code::NotFound).into())
    }

    /// Answers a stranger: a browser that asks for a page is led to sign-in and back, and a form comes back.
    fn to_sign_in(&self, request: &Request) -> Response {
        if !self.signs_in {
            return redirect(documentation::addresses::API);
        }
        let back = request.uri().path_and_query().map_or(SITES, |target| target.as_str());
        if request.method().is_safe() { strangers::to_sign_in(back) } else { strangers::give_back(back) }
    }
}

/// A page that was drawn.
struct Drawn {
    /// The name of the site that it is about.
    site: Option<SiteName>,
    body: Markup,
}

/// A page, or the reason why there is none.
type Shown = Result<Drawn, Refused>;

/// The audience of a page, which decides its frame.
#[derive(Clone)]
enum Frame {
    People(Navigation),
    Readers(Option<(LaterCount, CallerLimits)>),
}

impl Frame {
    fn page(&self, title: impl Into<String>) -> Page {
        match self {
            Self::People(navigation) => Page::new(title).signed_in(navigation),
            Self::Readers(_) => Page::new(title),
        }
    }

    /// Answers with the page that `work` makes, under its `name` and that of its site. If that announces in `waiting` that it waits for the
    /// search engine, the head is sent before, with the name that `site` finds; what is refused later is said inside.
    async fn answer_with(
        self,
        status: StatusCode,
        name: &'static str,
        site: impl Future<Output = Option<SiteName>>,
        waiting: &Waiting,
        work: BoxFuture<'static, Shown>,
    ) -> Response {
        let page = |site: Option<&SiteName>| {
            let title = site.map_or_else(|| name.to_owned(), |site| format!("{name} · {site}"));
            self.page(title).heading(heading(site, name)).status(status).dashboard(SCRIPT)
        };
        let rest = match waiting.settled(work).await {
            Progress::Done(Ok(Drawn { site, body })) => return page(site.as_ref()).render(&body),
            Progress::Done(Err(refused)) => return refused::page(|title| self.page(title), &refused),
            Progress::Waits(rest) => rest,
        };
        let counted = async {
            let Self::Readers(Some((later, limits))) = &self else { return None };
            later.count(limits).await?.retry_after
        };
        let (rest, (retry_after, site)) = waiting::beside(rest, join(counted, site)).await;
        if let Some(seconds) = retry_after {
            let refusal = ApiError::new(Code::RateLimited).retry_after(seconds);
            return refused::page(|title| self.page(title), &refusal.into());
        }
        let waiting = html! { p.waiting role="status" { "Reading from the search engine…" } };
        let rest = rest.map(move |shown| {
            let (heading, body) = match shown {
                Ok(Drawn { site, body }) => (heading(site.as_ref(), name), body),
                Err(refused) => refused::late(&refused),
            };
            html! { h1 { (heading) } (body) }
        });
        page(site.as_ref()).streamed(&waiting, rest)
    }
}

/// The first heading of a page: the name of its site, or else its own.
fn heading(site: Option<&SiteName>, name: &str) -> Markup {
    site.map_or_else(|| html! { (name) }, site_words::name)
}

/// Shows all sites to people. Programs get the documentation.
#[handler]
async fn list(Data(dashboard): Data<&Dashboard>, page: &Request) -> Response {
    let mut response = if page::is_wanted(page.headers()) {
        Place::Sites.show(dashboard, page).await
    } else {
        redirect(documentation::addresses::API)
    };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept, Cookie"));
    response
}

/// Shows a page of a property.
#[handler]
async fn open(Data(dashboard): Data<&Dashboard>, page: &Request) -> Response {
    match Place::at(page.uri().path()) {
        Some(place) => place.show(dashboard, page).await,
        None => dashboard.nothing(),
    }
}

/// Takes a form of a page of a person who is signed in.
#[handler]
async fn send(
    Data(dashboard): Data<&Dashboard>,
    Data(operations): Data<&Operations>,
    page: &Request,
    body: Body,
) -> Response {
    match Place::at(page.uri().path()) {
        Some(place) => place.take(dashboard, operations, page, body).await,
        None => dashboard.nothing(),
    }
}

/// Shows the page of a share link.
#[handler]
async fn read(Data(dashboard): Data<&Dashboard>, page: &Request) -> Response {
    let path = address::without_conditions(page.uri().path());
    // The token as it was sent: another spelling of a token is another token.
    let Some(token) = path.strip_prefix("/share/").filter(|token| !token.contains('/')) else {
        return dashboard.nothing();
    };
    let door = Door::Shared(token.to_owned());
    let visit = Visit::from(page);
    let waiting = visit.waiting.clone();
    let work = contents(dashboard.clone(), visit, door, Part::Overview, None);
    let counted = page.data::<LaterCount>().cloned().zip(dashboard.limits.clone());
    let frame = Frame::Readers(counted);
    let view = View::read(page.uri().path(), page.uri().query().unwrap_or_default(), Part::Overview.names());
    if let Some(address) = view.ok().and_then(|view| view.elsewhere()) {
        return redirect(&address);
    }
    let mut response =
        frame.answer_with(StatusCode::OK, "Search performance", ready(None), &waiting, work.boxed()).await;
    // A link is for the people who were given it.
    response.headers_mut().insert("x-robots-tag", HeaderValue::from_static("noindex, nofollow"));
    response
}

/// Returns the contents of a page of a property.
async fn contents(dashboard: Dashboard, visit: Visit, door: Door, part: Part, sent: Option<Sent>) -> Shown {
    let asker = Asker::of(&dashboard.calls, &visit);
    let again = address::without_question(visit.path());
    let written = sent.as_ref().map(Sent::written).unwrap_or_default();
    let today = dashboard.clock.pacific_today();
    let view = View::read(visit.path(), visit.query(), part.names()).and_then(|view| view.checked(today));
    let found = match view {
        Ok(view) => property(asker, &door, part, &view).await.map(|(site, last)| (view, site, last.unwrap_or(today))),
        Err(refusal) => Err(refusal),
    };
    let (view, site, last_final) = match found {
        Ok(found) => found,
        Err(refusal) => return Err(Refused { refusal, door: Some(door), kept: None, again, written }),
    };
    let key = dashboard.random.token();
    let opened = Opened { asker, door, site, view, today, last_final, base_url: &dashboard.base_url, key, sent };
    let body = match part.page(&opened).await {
        // A link that was revoked meanwhile shows nothing.
        Ok(body) => match &opened.door {
            Door::Shared(token) => dashboard.calls.admissions.open(token).await.map(|_| body).map_err(ApiError::from),
            Door::Signed(_) => Ok(body),
        },
        refused => refused,
    };
    match body {
        Ok(body) => {
            if let (Door::Signed(id), Some(kind)) = (&opened.door, part.kind())
                && let Some(property) = parse_id(id)
            {
                dashboard.opened.note(property, kind);
            }
            Ok(Drawn { site: Some(opened.site.name), body })
        }
        Err(refusal) => Err(Refused { refusal, door: Some(opened.door), kept: opened.site.kept, again, written }),
    }
}

/// Asks for the property of a page. While its last final day is being read, the rest of the page's question is judged.
async fn property(
    asker: Asker<'_>,
    door: &Door,
    part: Part,
    view: &View,
) -> Result<(Site, Option<NaiveDate>), ApiError> {
    let judged = part.judged(view)?;
    let [of_property, of_question] = [Waiting::watched(), Waiting::watched()];
    let found = door.property(asker.watched_by(&of_property), judged.is_some());
    let rest = match of_property.settled(found).await {
        Progress::Done(found) => return found,
        Progress::Waits(rest) => rest,
    };
    let Some((judged, mut query)) = judged else { return asker.waiting.announced(rest).await };
    if matches!(door, Door::Shared(_)) && view.text("compare").is_none() {
        // A link may show fixed days, which are compared with no others. Which it shows is being read.
        query.retain(|(name, _)| *name != "compare");
    }
    // It waits for the same reading, so it is asked no further than that.
    let question = of_question.settled(door.judge(asker.watched_by(&of_question), judged, &query));
    match waiting::beside(rest, question).await {
        (_, Progress::Done(Err(refusal))) => Err(refusal),
        (rest, _) => asker.waiting.announced(rest).await,
    }
}
