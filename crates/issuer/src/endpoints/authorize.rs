//! The authorization endpoint. It decides what comes next: sign-in, consent, or the answer to the client. GET shows the page, POST
//! receives its form, or leads to GET what a client posts.

use common::addresses::ClientAddress;
use poem::{Body, Request, Response, handler, http::HeaderMap, web::Data};

use super::{
    consent, form,
    page::{self, redirect},
    sign_in,
    valid_request::{ValidRequest, address_of},
};
use crate::{
    IdentityProvider,
    clients::{self, AskingError},
    consents::{NOTHING_HELD, held},
    demo,
    grants::Basis,
    parameters::Parameters,
    people::Person,
    request::{self, RequestError},
    response::OAuthError,
    sessions::SignedIn,
};

/// Checks an authorization request and shows the next page, or answers the client.
#[handler]
pub(super) async fn show(Data(provider): Data<&IdentityProvider>, request: &Request) -> poem::Result<Response> {
    let asked = provider.asked(request).await?;
    if let Some(person) = person_without_page(provider, &asked, request.headers()) {
        return Ok(provider.authorize(&asked, request.headers(), &person, None, Basis::Unasked).await?);
    }
    Ok(provider.go_on(&asked, request).await?)
}

/// Receives the form of a page, or an authorization request.
#[handler]
pub(super) async fn decide(
    Data(provider): Data<&IdentityProvider>,
    request: &Request,
    body: Body,
) -> poem::Result<Response> {
    let form = match form::read(request, body).await {
        Ok(form) => form,
        Err(page) => return Ok(page),
    };
    // OpenID Connect Core 1.0, section 3.1.2.1. The forms of pages name the client in their address, and hold the token of the browser.
    if form.get("client_id").is_some() && form.get("csrf").is_none() {
        return Ok(address_of(&form).map_or_else(|| page::unreadable("The request is too long."), |to| redirect(&to)));
    }
    if !provider.is_own(request, &form) {
        return Ok(page::expired("Go back to the application and sign in again."));
    }
    let asked = provider.asked(request).await?;
    if let Some(name) = form.get("person") {
        return Ok(provider.choose(&asked, request, name).await?);
    }
    let answer = match form.get("decision") {
        Some("elsewhere") => provider.leave(&asked, request).await,
        Some("enter") => sign_in::enter(provider, &asked, request, &form).await,
        Some("switch") => Ok(redirect(&asked.with_other_account())),
        Some("allow") => provider.allow(&asked, request, &form).await,
        Some("cancel") => provider.decline(&asked, request).await,
        // A script that sends a form, as password managers do, names no button.
        None if form.get("password").is_some() => sign_in::enter(provider, &asked, request, &form).await,
        _ => Ok(redirect(&asked.action())),
    };
    Ok(answer?)
}

impl IdentityProvider {
    /// Reads an authorization request.
    ///
    /// # Errors
    /// The answer to a request that cannot be granted.
    async fn asked(&self, request: &Request) -> poem::Result<ValidRequest> {
        self.asked_in(request.uri().query().unwrap_or_default(), request).await
    }

    /// Reads the authorization request in a query. `sent` is what the person's browser has sent.
    ///
    /// # Errors
    /// The answer to a request that cannot be granted.
    pub(super) async fn asked_in(&self, query: &str, sent: &Request) -> poem::Result<ValidRequest> {
        let told = |reason: &str| poem::Error::from_response(page::error(reason));
        let parameters = Parameters::parse(query.as_bytes()).map_err(|why| told(&why.to_string()))?;
        let address = self.return_address(&parameters, sent.data::<ClientAddress>()).await;
        let address = address.map_err(|error| match error {
            AskingError::Refused(reason) => told(reason),
            AskingError::Database(error) => OAuthError::from(error).into(),
        })?;
        match request::judge(&parameters, &address.client, &self.settings) {
            Ok(judged) => Ok(ValidRequest { address, request: judged, query: query.to_owned() }),
            Err(refusal) => {
                let silent = parameters.get("prompt") == Some("none");
                Err(poem::Error::from_response(self.refuse(&address, sent.headers(), silent, &refusal).await?))
            }
        }
    }

    /// Tells the client that the person did not agree.
    async fn decline(&self, asked: &ValidRequest, request: &Request) -> Result<Response, OAuthError> {
        let refusal = RequestError("access_denied", "The person did not agree.");
        self.refuse(&asked.address, request.headers(), asked.has_prompt("none"), &refusal).await
    }

    /// Shows the next page, or answers the client if there is nothing left to ask.
    async fn go_on(&self, asked: &ValidRequest, request: &Request) -> Result<Response, OAuthError> {
        let silent = asked.has_prompt("none");
        let Some(signed_in) = self.accepted(asked, request).await? else {
            if silent {
                let refusal = RequestError("login_required", "Nobody is signed in here.");
                return self.refuse(&asked.address, request.headers(), silent, &refusal).await;
            }
            return sign_in::page(self, asked, request, None).await;
        };
        let (subject, client) = (&signed_in.person.subject, &asked.address.client);
        // The service itself needs no consent.
        let basis = if client.id == clients::WEB { Basis::Unasked } else { Basis::Remembered };
        let is_settled = match basis {
            Basis::Unasked => true,
            _ if asked.has_prompt("consent") => false,
            _ => self.is_remembered(&self.db, subject, &asked.address.recipient(), &asked.request.access).await?,
        };
        if is_settled {
            return self.authorize(asked, request.headers(), &signed_in.person, Some(&signed_in), basis).await;
        }
        if silent {
            let refusal = RequestError("consent_required", "The person has not allowed this yet.");
            return self.refuse(&asked.address, request.headers(), silent, &refusal).await;
        }
        consent::page(self, asked, request, &signed_in).await
    }

    /// Returns who is signed in, if the request does not ask for a sign-in.
    async fn accepted(&self, asked: &ValidRequest, request: &Request) -> Result<Option<SignedIn>, OAuthError> {
        let signed_in = self.signed_in(request.headers()).await?;
        Ok(signed_in.filter(|signed_in| asked.accepts(signed_in, self.clock.now())))
    }

    /// Signs a demo person in.
    async fn choose(&self, asked: &ValidRequest, request: &Request, name: &str) -> Result<Response, OAuthError> {
        match self.settings.demo_by_name(name) {
            Some(person) => sign_in::choose(self, asked, request, person).await,
            None => Ok(redirect(&asked.action())),
        }
    }

    /// Remembers the consent and answers the client. The consent counts for the session that the page named: another one may have
    /// begun in another tab.
    async fn allow(&self, asked: &ValidRequest, request: &Request, form: &Parameters) -> Result<Response, OAuthError> {
        let signed_in = self.accepted(asked, request).await?;
        let named = |signed_in: &SignedIn| form.get("session") == Some(signed_in.session.id.to_string().as_str());
        let Some(signed_in) = signed_in.filter(named) else { return Ok(redirect(&asked.action())) };
        let question =
            self.question(&signed_in.person.subject, &asked.address.client.id, &asked.request.access).await?;
        // What the person chose rests on what the page said.
        let is_current = form.get("held").unwrap_or(NOTHING_HELD) == held(question.before);
        let Some(choice) = question.answer(form.get("allowance")).filter(|_| is_current) else {
            return Ok(redirect(&asked.action()));
        };
        let basis = Basis::Allowed(choice);
        self.authorize(asked, request.headers(), &signed_in.person, Some(&signed_in), basis).await
    }

    /// Records the grant and sends the browser back with a code. A browser may ask again and again without a page, so a person has a limit.
    async fn authorize(
        &self,
        asked: &ValidRequest,
        headers: &HeaderMap,
        person: &Person,
        signed_in: Option<&SignedIn>,
        basis: Basis,
    ) -> Result<Response, OAuthError> {
        if !self.counts_authorization(&person.subject).await? {
            let refusal = RequestError("temporarily_unavailable", "Too many sign-ins in an hour; try again later.");
            return self.refuse(&asked.address, headers, asked.has_prompt("none"), &refusal).await;
        }
        let session = signed_in.map(|signed_in| &signed_in.session);
        let code = self.grant(&asked.address, &asked.request, &person.subject, session, basis).await?;
        Ok(match code {
            Some(code) => redirect(&asked.address.with(&[("code", &code)])),
            None => redirect(&asked.action()),
        })
    }
}

fn person_without_page(provider: &IdentityProvider, asked: &ValidRequest, headers: &HeaderMap) -> Option<Person> {
    let person = provider.settings.demo_by_name(asked.request.login_hint.as_deref()?)?;
    let may = demo::may_skip_page(&provider.settings, &asked.address.redirect_uri, headers);
    (!asked.has_prompt("login") && may).then(|| person.into())
}
