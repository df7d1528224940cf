//! The page on which a signed-in person changes the password. It always asks for the current one.

use entity::account;
use maud::html;
use pages::{client_address::client_address, page::Page};
use poem::{Body, Request, Response, handler, web::Data};
use sea_orm::EntityTrait as _;
use uuid::Uuid;

use super::{
    page::{Problem, notice, redirect, titled},
    sign_in::{FORGOTTEN, set_cookies},
};
use crate::{IdentityProvider, accounts::policy, parameters::Parameters, response::OAuthError, sessions::SignedIn};

/// The path of the page.
pub(super) const PATH: &str = "/account/password";

/// Leads password managers to the page (W3C, A Well-Known URL for Changing Passwords).
#[handler]
pub(super) fn lead() -> Response {
    redirect(PATH)
}

/// Shows the form.
#[handler]
pub(super) async fn show(Data(provider): Data<&IdentityProvider>, request: &Request) -> poem::Result<Response> {
    let (_, account) = provider.holder(request).await?;
    Ok(form(provider, request, &account.email, None))
}

/// Changes the password.
#[handler]
pub(super) async fn change(
    Data(provider): Data<&IdentityProvider>,
    request: &Request,
    body: Body,
) -> poem::Result<Response> {
    let sent = match provider.own_form(request, body, "Open the page again and repeat the change.").await {
        Ok(sent) => sent,
        Err(page) => return Ok(page),
    };
    let (signed_in, account) = provider.holder(request).await?;
    let again = |problem| Ok(form(provider, request, &account.email, Some(problem)));
    let current = sent.get("current").unwrap_or_default();
    let new = match new_password(&sent, &account.email) {
        Ok(new) => new,
        Err(problem) => return again(problem),
    };
    if new == current {
        return again(Problem::with_input("The new password is the current one. Choose another."));
    }
    let address = client_address(request);
    match provider.change_password(request.headers(), &address, &signed_in, &account, (current, new)).await {
        Ok(entered) => {
            let mut response = Page::new("Your password has been changed").signed_in(&provider.navigation).render(&html! {
                p role="status" {
                    "Every other browser has been signed out, and every application has lost its access. You stay signed in here."
                }
                p { a href="/account" { "Your account" } }
            });
            set_cookies(provider, &mut response, &entered);
            Ok(response)
        }
        Err(rejected) => again(Problem::of(rejected, "The current password is wrong.")?),
    }
}

impl IdentityProvider {
    /// Returns the holder of an account who is signed in.
    ///
    /// # Errors
    /// The answer to anybody else.
    async fn holder(&self, request: &Request) -> poem::Result<(SignedIn, account::Model)> {
        let Some(signed_in) = self.signed_in(request.headers()).await.map_err(OAuthError::from)? else {
            return Err(poem::Error::from_response(redirect(&format!("/auth/login?return_to={PATH}"))));
        };
        let account = match Uuid::try_parse(&signed_in.person.subject) {
            Ok(id) => account::Entity::find_by_id(id).one(&self.db).await.map_err(OAuthError::from)?,
            Err(_) => None,
        };
        match account.filter(|account| account.password_hash.is_some()) {
            Some(account) => Ok((signed_in, account)),
            None => Err(poem::Error::from_response(
                Page::new("You have no password").signed_in(&self.navigation).render(&html! {
                    p { "You sign in as " strong { (signed_in.person.email) } " without a password of this service." }
                    p { a href="/account" { "Your account" } }
                }),
            )),
        }
    }
}

/// Returns the new password of a form, or the reason why it may not be set.
pub(super) fn new_password<'a>(sent: &'a Parameters, email: &str) -> Result<&'a str, Problem> {
    let new = sent.get("new").unwrap_or_default();
    policy::judge(new, email).map_err(Problem::with_input)?;
    if sent.get("repeated") == Some(new) {
        Ok(new)
    } else {
        Err(Problem::with_input("The two new passwords differ. Enter the same one twice."))
    }
}

fn form(provider: &IdentityProvider, request: &Request, email: &str, problem: Option<Problem>) -> Response {
    let token = provider.form_token(request.headers());
    let body = html! {
        (notice(problem.as_ref()))
        form method="post" action=(PATH) {
            (token.field())
            input type="email" name="email" value=(email) autocomplete="username" readonly hidden;
            label for="current" { "Current password" }
            input #current type="password" name="current" autocomplete="current-password" required;
            (new_password_fields())
            div.actions {
                button { "Change the password" }
                a href="/account" { "Cancel" }
            }
        }
        p { "Every other browser will be signed out, and every application will lose its access." }
        p { a href=(FORGOTTEN) { "Forgotten your password?" } }
    };
    let page = titled("Change your password", problem.as_ref()).signed_in(&provider.navigation);
    let mut response = provider.render(&page, &token, &body);
    if let Some(problem) = problem {
        problem.tell(&mut response);
    }
    response
}

/// The two fields of a new password.
pub(super) fn new_password_fields() -> maud::Markup {
    html! {
        label for="new" { "New password" }
        input #new type="password" name="new" autocomplete="new-password" minlength=(policy::MIN_CHARS) required
            aria-describedby="rule";
        small #rule { "At least " (policy::MIN_CHARS) " characters. Several words in a row are fine." }
        label for="repeated" { "New password again" }
        input #repeated type="password" name="repeated" autocomplete="new-password" required;
    }
}
