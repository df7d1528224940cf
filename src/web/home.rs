//! `GET /`: people go to their account page, programs to the documentation.

use poem::{
    EndpointExt as _, Request, Response, get, handler,
    http::{HeaderMap, header},
    web::Data,
};

use super::{
    account::{self, redirect},
    documentation,
    paths::Paths,
};
use crate::{
    admission::{AdmissionError, Admissions},
    identity::Credential,
};

/// The root of the service.
#[derive(Clone)]
pub struct Home {
    /// Admits the session cookie. `None` if browsers cannot sign in.
    pub admissions: Option<Admissions>,
}

impl Home {
    /// Adds the root.
    #[must_use]
    pub fn mount(self, paths: Paths) -> Paths {
        paths.at("/", "GET, HEAD", get(lead).data(self))
    }
}

#[handler]
async fn lead(Data(home): Data<&Home>, request: &Request) -> Response {
    let mut response = match &home.admissions {
        Some(admissions) if wants_page(request.headers()) => {
            let admitted = admissions.admit(request.method(), request.headers(), None, None).await;
            match admitted {
                Ok(Some(admitted)) if matches!(admitted.credential, Credential::Session { .. }) => {
                    redirect(account::PATH)
                }
                // The account page says that the service is unavailable.
                Err(AdmissionError::Database(_)) => redirect(account::PATH),
                _ => redirect(&format!("/auth/login?return_to={}", account::PATH)),
            }
        }
        _ => redirect(documentation::PATH),
    };
    response.headers_mut().insert(header::VARY, header::HeaderValue::from_static("Accept, Cookie"));
    response
}

/// Returns whether a client names HTML among what it accepts, as browsers do.
fn wants_page(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("text/html"))
            && !parts.any(|parameter| matches!(parameter, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_known_by_what_it_accepts() {
        let wants = |accept: &'static str| {
            wants_page(&HeaderMap::from_iter([(header::ACCEPT, header::HeaderValue::from_static(accept))]))
        };
        for page in ["text/html", "text/html,application/xhtml+xml,*/*;q=0.8", "application/json, Text/HTML; q=0.5"] {
            assert!(wants(page), "{page}");
        }
        for other in ["*/*", "application/json", "text/*", "text/html;q=0", ""] {
            assert!(!wants(other), "{other}");
        }
        assert!(!wants_page(&HeaderMap::new()));
    }
}
