//! The pages of people who are signed in, and what answers a visit and a form of each.

use std::sync::Arc;

use api::error::{ApiError, Code};
use common::names::sites::SiteName;
use futures_util::{FutureExt as _, future::BoxFuture};
use poem::{Body, Request, Response, http::StatusCode};
use serde_json::Value;

use super::{
    ALL_SITES, Dashboard, Drawn, Frame, SITES, Shown, address,
    ask::{Asker, Visit},
    contents,
    door::{Door, name_of},
    forms::{self, Sent, Write},
    parts::Part,
    refused::{self, Refused},
    sites,
    view::View,
    write::Writer,
};
use crate::{admission::Admitted, calls::Calls, operations::Operations, web::strangers::redirect};

/// A page of a person who is signed in.
pub enum Place {
    /// All sites.
    Sites,
    /// A page of a property.
    Of { door: Door, part: Part, name: &'static str },
}

impl Place {
    /// The page at a path, if there is one.
    pub fn at(path: &str) -> Option<Self> {
        if path == SITES {
            return Some(Self::Sites);
        }
        let (part, name) = Part::at(path)?;
        let id = path.split('/').nth(2)?;
        Some(Self::Of { door: Door::Signed(id.to_owned()), part, name })
    }

    /// The name of the page.
    fn name(&self) -> &'static str {
        match self {
            Self::Sites => ALL_SITES,
            Self::Of { name, .. } => name,
        }
    }

    fn door(&self) -> Option<&Door> {
        match self {
            Self::Sites => None,
            Self::Of { door, .. } => Some(door),
        }
    }

    /// Returns the write that a form of the page asks for, or `None` if it only asks for the page again.
    fn write(&self, sent: &Sent) -> Result<Option<Write>, ApiError> {
        match self {
            Self::Sites => sites::write(sent).map(Some).ok_or_else(forms::unknown),
            Self::Of { door, part, .. } => part.write(door, sent),
        }
    }

    /// The address of the page after one of its forms was taken: the section of the form, or the site that it is about, without the
    /// parameters that open a form.
    fn back(&self, visit: &Visit, sent: &Sent, done: &str) -> String {
        let names = match self {
            Self::Sites => &sites::NAMES[..],
            Self::Of { part, .. } => part.names(),
        };
        let view = View::read(visit.path(), visit.query(), names).ok();
        let kept = view.map(|view| view.link(&[("edit", None), ("day", None), ("suggest", None)])).unwrap_or_default();
        let mark = if kept.len() > 1 { "&" } else { "?" };
        let entry = sent.segment("id").filter(|_| matches!(self, Self::Sites)).map(|id| format!("#site-{id}"));
        let (section, place) = match sent.section() {
            "" => (String::new(), entry.unwrap_or_default()),
            section => (format!("{section}."), format!("#{section}")),
        };
        format!("{}{}{mark}done={section}{done}{place}", visit.path(), kept.trim_end_matches('?'))
    }

    /// Makes the page.
    fn work(self, dashboard: Dashboard, visit: Visit, sent: Option<Sent>) -> BoxFuture<'static, Shown> {
        match self {
            Self::Sites => all_sites(dashboard, visit, sent).boxed(),
            Self::Of { door, part, .. } => contents(dashboard, visit, door, part, sent).boxed(),
        }
    }

    /// Shows the page.
    pub async fn show(self, dashboard: &Dashboard, page: &Request) -> Response {
        if page.data::<Admitted>().is_none() {
            return dashboard.to_sign_in(page);
        }
        match self.elsewhere(dashboard, page).await {
            Ok(None) => {}
            Ok(Some(address)) => return redirect(&address),
            Err(refusal) => {
                let (frame, door) = (Frame::People(dashboard.navigation.clone()), self.door().cloned());
                let again = address::without_question(page.uri().path());
                return refused::page(|title| frame.page(title), &Refused { door, again, ..refusal.into() });
            }
        }
        self.answer(dashboard, page.into(), StatusCode::OK, None).await
    }

    /// Returns the address of the page with its conditions in the path, where they were sent in the query string, or as saved filters.
    ///
    /// # Errors
    /// 404 for saved filters that the visitor does not have.
    async fn elsewhere(&self, dashboard: &Dashboard, page: &Request) -> Result<Option<String>, ApiError> {
        let Self::Of { part, .. } = self else { return Ok(None) };
        let visit = Visit::from(page);
        // The page says what is wrong with its address.
        let Ok(view) = View::read(visit.path(), visit.query(), part.names()) else { return Ok(None) };
        let Some(id) = &view.preset else { return Ok(view.elsewhere()) };
        let presets = Asker::of(&dashboard.calls, &visit).visitor().filter_presets(&[]).await?;
        let preset = presets.data.into_iter().find(|preset| preset.id.to_string() == *id);
        preset.map(|preset| Some(view.filtered(&preset.filters))).ok_or_else(|| ApiError::new(Code::NotFound))
    }

    /// Takes a form of the page. What changes nothing is shown again, with what was written in it.
    pub async fn take(self, dashboard: &Dashboard, operations: &Operations, page: &Request, body: Body) -> Response {
        let frame = Frame::People(dashboard.navigation.clone());
        let visit = Visit::from(page);
        let writer = Writer { operations, page: &visit };
        let refused = |refusal: ApiError| {
            let (door, again) = (self.door().cloned(), address::without_question(page.uri().path()));
            refused::page(|title| frame.page(title), &Refused { door, again, ..refusal.into() })
        };
        let mut sent = match Sent::read(body).await {
            Ok(sent) => sent,
            Err(refusal) => return refused(refusal),
        };
        let answer = match sent.judge().and_then(|()| self.write(&sent)) {
            Ok(Some(write)) => writer.write(&write, &sent).await.map(|answer| (Some(write), answer)),
            // Nothing judged yet whose form it is.
            Ok(None) if page.data::<Admitted>().is_none() => return dashboard.to_sign_in(page),
            Ok(None) => Ok((None, Value::Null)),
            Err(refusal) => Err(refusal),
        };
        let status = match answer {
            Ok((Some(Write { leaves_to: Some(page), .. }), _)) => return redirect(page),
            Ok((Some(Write { done: Some(done), .. }), _)) => return redirect(&self.back(&visit, &sent, done)),
            Ok((preview, answer)) => {
                sent.preview = preview.map(|_| answer);
                StatusCode::OK
            }
            Err(refusal) if refusal.code == Code::Unauthorized => return dashboard.to_sign_in(page),
            // The page of a stranger's form is not theirs to see.
            Err(refusal) if page.data::<Admitted>().is_none() => return refused(refusal),
            Err(refusal) => {
                let status = refusal.code.status();
                sent.refusal = Some(refusal);
                status
            }
        };
        self.answer(dashboard, visit, status, Some(sent)).await
    }

    /// Answers with the page.
    async fn answer(self, dashboard: &Dashboard, visit: Visit, status: StatusCode, sent: Option<Sent>) -> Response {
        let (frame, name) = (Frame::People(dashboard.navigation.clone()), self.name());
        let site = site_name(dashboard.calls.clone(), visit.clone(), self.door().is_some());
        let waiting = visit.waiting.clone();
        let work = self.work(dashboard.clone(), visit, sent);
        frame.answer_with(status, name, site, &waiting, work).await
    }
}

/// Asks for the name of the site of a page, if it is about one. Nothing is read from the search engine for it.
async fn site_name(calls: Arc<Calls>, visit: Visit, is_of_site: bool) -> Option<SiteName> {
    if !is_of_site {
        return None;
    }
    let visitor = Asker::of(&calls, &visit).visitor();
    let answer = visitor.unmarked_property(&[("headline", "false".to_owned())]).await;
    Some(name_of(visitor, &answer.ok()?.data).await)
}

/// Returns the contents of the page of all sites.
async fn all_sites(dashboard: Dashboard, visit: Visit, sent: Option<Sent>) -> Shown {
    let asker = Asker::of(&dashboard.calls, &visit);
    let home = sites::Home { asker, plans: dashboard.navigation.plans.as_deref(), sent };
    match sites::page(&home).await {
        Ok(body) => Ok(Drawn { site: None, body }),
        Err(refusal) => Err(refusal.into()),
    }
}
