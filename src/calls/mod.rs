//! Operations that pages of this service call by function, and not by a request.
//!
//! A call has what the layers give a request: the rights that the operation table names, a time limit, a count, a span, and the form
//! of a refusal. The visitor was admitted once, for the page.

mod reads;

use std::{sync::Arc, time::Duration};

use api::{
    answer::Answered,
    error::{ApiError, Code},
    operation::{self, Operation},
    params::{self, QueryParams},
};
use futures_util::{FutureExt as _, future::BoxFuture};
use poem::http::{Extensions, StatusCode};
use serde::Serialize;
use telemetry::{requests::RequestMeter, traces::Span};
use tokio::time::timeout;
use url::form_urlencoded::Serializer;

use crate::{
    admission::{Admissions, Admitted, OpenedLink},
    error::{RequestId, caught, finished, unanswered, with_plans},
    handlers::App,
    services::{
        access::{PropertyAccess, SharedProperty},
        analyses::{prepared::Prepared, search_data::SearchData},
        users::Member,
        waiting::Waiting,
    },
};

/// The time limit of an operation that a tool or a page calls. It is shorter than that of their own request, so they can report its failure.
pub const OF_CALL: Duration = Duration::from_secs(50);

/// The parameters of an operation, by name.
pub type Query<'n> = [(&'n str, String)];

/// The operations, for pages.
pub struct Calls {
    /// The state of the operations.
    pub app: Arc<App>,
    /// Opens share links.
    pub admissions: Admissions,
    /// Counts and times calls. `None` if metrics are not served.
    pub meter: Option<Arc<RequestMeter>>,
    /// The page where a plan is bought.
    pub subscribe_url: String,
}

/// The operations, for the visitor of a page.
#[derive(Clone, Copy)]
pub struct Visitor<'c> {
    calls: &'c Calls,
    /// Notified when a reading of the page waits.
    waiting: &'c Waiting,
    /// The request data of the page: the admission, the opened share link, the id.
    known: &'c Extensions,
}

/// A call of one operation.
#[derive(Clone, Copy)]
struct Call<'c> {
    app: &'c App,
    visitor: Visitor<'c>,
    operation: &'static Operation,
}

impl Calls {
    /// Calls operations for the visitor of a page. `known` is the request data of the page, whose readings announce in `waiting` that they
    /// wait.
    #[must_use]
    pub fn of<'c>(&'c self, known: &'c Extensions, waiting: &'c Waiting) -> Visitor<'c> {
        Visitor { calls: self, waiting, known }
    }
}

impl<'c> Visitor<'c> {
    /// Begins a call of the operation `id`.
    fn call(self, id: &str) -> Answered<Call<'c>> {
        let unknown = || ApiError::new(Code::Internal).hint(format!("there is no operation {id}"));
        let operation = operation::named(id).ok_or_else(unknown)?;
        Ok(Call { app: &self.calls.app, visitor: self, operation })
    }
}

impl<'c> Call<'c> {
    /// Answers with the result of `work`. The future is on the heap, because a page awaits many of them at once.
    fn answer<T: Send + 'c>(self, work: impl Future<Output = Answered<T>> + Send + 'c) -> BoxFuture<'c, Answered<T>> {
        let limited = async { timeout(OF_CALL, work).await.unwrap_or_else(|_| Err(unanswered(OF_CALL))) };
        let work = caught(limited).boxed();
        async move {
            let calls = self.visitor.calls;
            let under_way = calls.meter.as_deref().map(|meter| meter.begin(self.operation.id));
            let span = Span::part(self.operation.id);
            let id = self.visitor.known.get::<RequestId>();
            let refused = |refusal| finished(with_plans(refusal, &calls.subscribe_url), id);
            let answer = span.around(work).await.map_err(refused);
            let status = answer.as_ref().map_or_else(|refusal| refusal.code.status(), |_| StatusCode::OK);
            if let Some(under_way) = under_way {
                under_way.answered(status.as_u16(), None);
            }
            span.status(status.as_u16());
            span.fail_if(status.is_server_error());
            answer
        }
        .boxed()
    }

    /// Returns the person who opened the page, if their credential has the operation's scope.
    fn admitted(&self) -> Answered<&Admitted> {
        let admitted: &Admitted = self.visitor.known.get().ok_or_else(|| ApiError::new(Code::Unauthorized))?;
        match self.operation.scope {
            Some(scope) if !admitted.granted.allowed.contains(scope) => Err(ApiError::new(Code::InsufficientScope)),
            _ => Ok(admitted),
        }
    }

    /// Returns the visitor, if the plan includes the operation, which names no property.
    fn member(&self) -> Answered<Arc<Member>> {
        let admitted = self.admitted()?;
        admitted.check_plan(self.operation)?;
        Ok(admitted.member.clone())
    }

    /// Returns the visitor's access to the property of the page, if role and plan allow the operation.
    fn access(&self) -> Answered<PropertyAccess> {
        let admitted = self.admitted()?;
        Ok(admitted.access(&self.app.config, self.operation, self.app.clock.now())?)
    }

    /// Returns the property of the page's share link.
    fn link(&self) -> Answered<SharedProperty> {
        let opened = self.visitor.known.get::<OpenedLink>().cloned();
        opened.unwrap_or_else(|| Err(ApiError::new(Code::NotFound)))
    }

    /// Computes the answer of an analysis, unless that was done before.
    async fn value<T>(&self, answer: Prepared<T>) -> Answered<T>
    where
        T: Serialize + Clone + Send + Sync + 'static,
    {
        Ok(Arc::unwrap_or_clone(self.app.search.answers.value(answer).await?))
    }

    /// Returns the reader of search data whose readings announce to the page that they wait.
    fn search(&self) -> SearchData {
        self.app.search.watched_by(self.visitor.waiting)
    }

    /// Reads the parameters of the operation.
    fn params<T: QueryParams>(&self, query: &Query<'_>) -> Answered<T> {
        params::read(self.operation, &Serializer::new(String::new()).extend_pairs(query).finish())
    }
}
