//! `GET /`: people go to their account page, programs to the documentation.

use identity::Credential;
use pages::{page, paths::Paths};
use poem::{EndpointExt as _, Request, Response, get, handler, http::header, web::Data};

use super::{
    account::{self, redirect},
    documentation,
};
use crate::admission::{AdmissionError, Admissions};

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
        Some(admissions) if page::is_wanted(request.headers()) => {
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
