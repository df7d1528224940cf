//! Answers that several pages of the issuer share.

use maud::{Markup, html};
use pages::page::Page;
use poem::{Response, http::StatusCode};

use crate::{accounts::sign_in::Rejected, response::OAuthError};

/// The reason why a form is shown again.
pub(super) struct Problem {
    pub status: StatusCode,
    pub text: String,
    retry_after: Option<u64>,
}

impl Problem {
    /// A problem with the input.
    pub fn with_input(text: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, text: text.into(), retry_after: None }
    }

    /// Too many attempts, with the advice for someone who is not the reason.
    pub fn too_many(seconds: u64, advice: &str) -> Self {
        let text = format!("There were too many attempts. Try again in {}. {advice}", waiting(seconds));
        Self { status: StatusCode::TOO_MANY_REQUESTS, text, retry_after: Some(seconds) }
    }

    /// The problem of a password that was not accepted. `wrong` is the text for a wrong one.
    pub fn of(rejected: Rejected, wrong: &str) -> Result<Self, OAuthError> {
        match rejected {
            Rejected::Wrong => Ok(Self::with_input(wrong)),
            Rejected::Unwelcome => {
                Ok(Self::with_input("You may no longer sign in here. Ask the operator of this service."))
            }
            Rejected::TooMany(seconds) => Ok(Self::too_many(
                seconds,
                "A browser in which you have signed in before does not have to wait for the attempts of others.",
            )),
            Rejected::Busy => Ok(Self {
                status: StatusCode::SERVICE_UNAVAILABLE,
                text: "The service is busy at the moment. Try again in a few seconds.".to_owned(),
                retry_after: Some(5),
            }),
            Rejected::Failed(error) => Err(error),
        }
    }

    /// The text above the form. Screen readers say it at once.
    pub fn notice(&self) -> Markup {
        html! { p.notice.bad role="alert" { (self.text) } }
    }

    /// Tells clients when to try again.
    pub fn tell(&self, response: &mut Response) {
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert("Retry-After", seconds.into());
        }
    }
}

/// The text above a form, if there is a problem.
pub(super) fn notice(problem: Option<&Problem>) -> Markup {
    html! { @if let Some(problem) = problem { (problem.notice()) } }
}

/// The page with this status, or that of a problem.
pub(super) fn titled(title: &str, problem: Option<&Problem>) -> Page {
    Page::new(title).status(problem.map_or(StatusCode::OK, |problem| problem.status))
}

/// The page for a request with an invalid client or redirect URI, which must not be sent on.
pub(super) fn error(reason: &str) -> Response {
    Page::new("You cannot sign in from here").status(StatusCode::BAD_REQUEST).render(&html! { p { (reason) } })
}

/// The page for a form or query that cannot be read, with the reason.
pub(super) fn unreadable(reason: &str) -> Response {
    let page = Page::new("The form cannot be read").status(StatusCode::BAD_REQUEST);
    page.render(&html! {
        p role="alert" { (reason) }
        p { "Go back and send it again." }
    })
}

/// The page for a form of another browser, or of another hour.
pub(super) fn expired(advice: &str) -> Response {
    Page::new("The form has expired").status(StatusCode::BAD_REQUEST).render(&html! { p role="alert" { (advice) } })
}

/// 303, so that a browser never repeats the form with its content to the client.
pub(super) fn redirect(to: &str) -> Response {
    Response::builder()
        .status(StatusCode::SEE_OTHER)
        .header("Location", to)
        .header("Cache-Control", "no-store")
        .header("Referrer-Policy", "no-referrer")
        .finish()
}

fn waiting(seconds: u64) -> String {
    match seconds {
        0..=1 => "a second".to_owned(),
        2..=90 => format!("{seconds} seconds"),
        _ => format!("{} minutes", seconds.div_ceil(60)),
    }
}
