//! The page for a forgotten password. Its answer is the same, and takes the same time, whether or not there is an account.

use entity::{account, account_link::Purpose};
use maud::html;
use pages::{client_address::client_address, page::Page};
use poem::{Body, Request, Response, handler, web::Data};

use super::{
    page::{Problem, notice, titled},
    sign_in::FORGOTTEN,
};
use crate::{
    IdentityProvider,
    accounts::{
        links::{self, Letter},
        with_email,
    },
    mail::Mailer,
    response::OAuthError,
};

/// Shows the form, or whom to ask.
#[handler]
pub(super) fn show(Data(provider): Data<&IdentityProvider>, request: &Request) -> Response {
    form(provider, request, None)
}

/// Sends a link, if there is an account.
#[handler]
pub(super) async fn send(
    Data(provider): Data<&IdentityProvider>,
    request: &Request,
    body: Body,
) -> Result<Response, OAuthError> {
    let sent = match provider.own_form(request, body, "Open the page again and repeat the request.").await {
        Ok(sent) => sent,
        Err(page) => return Ok(page),
    };
    let Some(mailer) = &provider.mailer else { return Ok(form(provider, request, None)) };
    let Some(email) = sent.get("email") else {
        return Ok(form(provider, request, Some(Problem::with_input("Enter your e-mail address."))));
    };
    match provider.attempts.ask_for_link(&client_address(request)).await {
        Ok(()) => {}
        Err(OAuthError::TooMany(seconds)) => {
            return Ok(form(provider, request, Some(Problem::too_many(seconds, ""))));
        }
        Err(error) => return Err(error),
    }
    // Beyond the limit of the address nothing is sent and nothing else is said: a stranger must not learn of the mails of others.
    match provider.attempts.mail_link(email).await {
        Ok(()) => {
            let (provider, mailer, email) = (provider.clone(), mailer.clone(), email.to_owned());
            tokio::spawn(async move { provider.mail_link(&mailer, &email).await });
        }
        Err(OAuthError::TooMany(_)) => {}
        Err(error) => return Err(error),
    }
    Ok(Page::new("Look into your mail").render(&html! {
        p role="status" { "If there is an account with this address, a link is on its way. It can be used for an hour." }
        p { "Nothing has come? Look among the unwanted mail, or ask the operator of this service." }
    }))
}

impl IdentityProvider {
    /// Mails a link to the holder of the address. Failures go to the log, without the address.
    async fn mail_link(&self, mailer: &Mailer, email: &str) {
        let account = match with_email(&self.db, email).await {
            Ok(Some(account)) => account,
            Ok(None) => return,
            Err(error) => return tracing::error!(%error, "a link for a forgotten password was not made"),
        };
        // A password would let the person in after the other provider has shut them out.
        if account.password_hash.is_none() && account.upstream_subject.is_some() {
            let provider = account.upstream_issuer.as_deref().unwrap_or_default();
            let letter = links::letter_without_link(self.base_url(), provider);
            return self.post(mailer, &account, letter).await;
        }
        let token = match links::make(&self.db, &self.random, account.id, Purpose::Forgotten, self.clock.now()).await {
            Ok(token) => token,
            Err(error) => return tracing::error!(%error, "a link for a forgotten password was not made"),
        };
        self.post(mailer, &account, links::letter_with_link(self.base_url(), &token)).await;
    }

    async fn post(&self, mailer: &Mailer, account: &account::Model, letter: Letter) {
        let sent = mailer.send(&account.email, letter.subject, letter.text).await;
        self.events.note_message(sent.is_ok());
        if let Err(error) = sent {
            tracing::error!(%error, "mail for a forgotten password was not sent");
        }
    }
}

fn form(provider: &IdentityProvider, request: &Request, problem: Option<Problem>) -> Response {
    let token = provider.form_token(request.headers());
    let body = html! {
        (notice(problem.as_ref()))
        @if provider.mailer.is_some() {
            p { "Enter your e-mail address. If there is an account, you get a link to set a new password." }
            form method="post" action=(FORGOTTEN) {
                (token.field())
                label for="email" { "E-mail address" }
                input #email type="email" name="email" autocomplete="username" required;
                div.actions { button { "Send the link" } }
            }
        } @else {
            p { "Ask the operator of this service for a new link. They make one with " code { "sightline user reset EMAIL" } "." }
        }
    };
    let mut response = provider.render(&titled("Forgotten your password?", problem.as_ref()), &token, &body);
    if let Some(problem) = problem {
        problem.tell(&mut response);
    }
    response
}
