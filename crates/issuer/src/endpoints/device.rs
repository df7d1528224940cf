//! The page on which a person allows or denies a machine without a browser what it asks for. The person types the code that the machine
//! shows: no address holds it.

use common::addresses::ClientAddress;
use common::scope::Scopes;
use entity::device_code::Model;
use maud::{Markup, html};
use pages::client_address::client_address;
use pages::page::{
    Page,
    permissions::{Permissions, choice_field, words},
    words::time,
};
use poem::{Body, Request, Response, handler, http::StatusCode, web::Data};
use sea_orm::DbErr;

use super::page::{Problem, notice, redirect, titled};
use crate::{
    IdentityProvider,
    clients::{AskingError, Client},
    consents::{MachineQuestion, NOTHING_HELD, held},
    device_codes::{Settled, access_of},
    parameters::Parameters,
    request::Access,
    response::OAuthError,
    scope,
    sessions::SignedIn,
    user_code::UserCode,
};

/// The path of the page.
pub(super) const PATH: &str = "/device";

/// A machine that waits, and the client that it is.
struct Waiting {
    code: UserCode,
    asked: Model,
    client: Client,
    access: Access,
}

/// The reason why nobody can decide about a machine.
enum NotWaiting {
    /// No machine waits with the code.
    Unknown,
    /// The person can do something about it.
    Told(Problem),
    Failed(OAuthError),
}

impl From<DbErr> for NotWaiting {
    fn from(error: DbErr) -> Self {
        Self::Failed(error.into())
    }
}

/// Shows the form for the code.
#[handler]
pub(super) async fn show(Data(provider): Data<&IdentityProvider>, request: &Request) -> poem::Result<Response> {
    Ok(match provider.signed_in(request.headers()).await.map_err(OAuthError::from)? {
        Some(signed_in) => code_form(provider, request, &signed_in, None),
        None => to_sign_in(),
    })
}

/// Receives a code, and shows who asks; or receives the decision with it.
#[handler]
pub(super) async fn decide(
    Data(provider): Data<&IdentityProvider>,
    request: &Request,
    body: Body,
) -> poem::Result<Response> {
    let form = match provider.own_form(request, body, "Open the page again and enter the code.").await {
        Ok(form) => form,
        Err(page) => return Ok(page),
    };
    let Some(signed_in) = provider.signed_in(request.headers()).await.map_err(OAuthError::from)? else {
        return Ok(to_sign_in());
    };
    let waiting = match provider.waiting(request, &signed_in, form.get("code").unwrap_or_default()).await {
        Ok(waiting) => waiting,
        // The answer to a page that was shown while it waited.
        Err(NotWaiting::Unknown) if form.get("decision").is_some() => {
            return Ok(provider.answered_before(request, &signed_in, form.get("code").unwrap_or_default()).await?);
        }
        Err(NotWaiting::Unknown) => return Ok(code_form(provider, request, &signed_in, Some(unknown()))),
        Err(NotWaiting::Told(problem)) => return Ok(code_form(provider, request, &signed_in, Some(problem))),
        Err(NotWaiting::Failed(error)) => return Err(error.into()),
    };
    // A script that sends a form names no button.
    let Some(decision @ ("allow" | "deny")) = form.get("decision") else {
        let question = provider.question_of(&signed_in, &waiting).await?;
        return Ok(details(provider, request, &signed_in, &waiting, &question));
    };
    // It counts for the session that the page named: another one may have begun in another tab.
    if form.get("session") != Some(signed_in.session.id.to_string().as_str()) {
        return Ok(redirect(PATH));
    }
    if decision == "allow" {
        return Ok(provider.allow_waiting(request, &signed_in, &waiting, &form).await?);
    }
    if provider.deny_device(&waiting.asked).await.map_err(OAuthError::from)? {
        return Ok(denied(provider));
    }
    Ok(provider.answered_before(request, &signed_in, &waiting.code.to_string()).await?)
}

impl IdentityProvider {
    /// Returns the machine that shows the code in `typed`, or the reason why this person cannot decide about one. Each code counts as a
    /// guess.
    async fn waiting(&self, request: &Request, signed_in: &SignedIn, typed: &str) -> Result<Waiting, NotWaiting> {
        let here = client_address(request);
        match self.attempts.enter_user_code(&signed_in.person.subject, &here).await {
            Ok(()) => {}
            Err(OAuthError::TooMany(seconds)) => {
                let problem = Problem::too_many(seconds, "Compare the code with the machine's meanwhile.");
                return Err(NotWaiting::Told(problem));
            }
            Err(error) => return Err(NotWaiting::Failed(error)),
        }
        let told = |problem| NotWaiting::Told(Problem::with_input(problem));
        let code = UserCode::parse(typed).ok_or(NotWaiting::Unknown)?;
        let asked = self.waiting_device(&code).await?.ok_or(NotWaiting::Unknown)?;
        if self.settings.demo_by_subject(&signed_in.person.subject).is_some() && !is_local(&asked, &here) {
            return Err(told("A demo person allows programs on this computer only."));
        }
        match self.asking_client(&asked.client_id, Some(&here)).await {
            Ok(client) => Ok(Waiting { code, access: access_of(&asked), asked, client }),
            Err(AskingError::Refused(_)) => Err(NotWaiting::Unknown),
            Err(AskingError::Database(error)) => Err(error.into()),
        }
    }

    async fn question_of(&self, signed_in: &SignedIn, waiting: &Waiting) -> Result<MachineQuestion, OAuthError> {
        let Waiting { client, access, .. } = waiting;
        Ok(self.machine_question(&signed_in.person.subject, &client.id, access).await?)
    }

    async fn allow_waiting(
        &self,
        request: &Request,
        signed_in: &SignedIn,
        waiting: &Waiting,
        form: &Parameters,
    ) -> Result<Response, OAuthError> {
        let question = self.question_of(signed_in, waiting).await?;
        // What the person chose rests on what the page said.
        let is_current = form.get("held").unwrap_or(NOTHING_HELD) == held(question.before);
        let Some(allowance) = question.answer(form.get("allowance")).filter(|_| is_current) else {
            return match self.waiting_device(&waiting.code).await? {
                Some(_) => Ok(details(self, request, signed_in, waiting, &question)),
                None => self.answered_before(request, signed_in, &waiting.code.to_string()).await,
            };
        };
        if !self.counts_authorization(&signed_in.person.subject).await? {
            let problem = Problem::with_input("You have allowed too much in an hour. Try again later.");
            return Ok(code_form(self, request, signed_in, Some(problem)));
        }
        if !self.allow_device(&waiting.asked, &waiting.client, signed_in, allowance, question.before).await? {
            return self.answered_before(request, signed_in, &waiting.code.to_string()).await;
        }
        Ok(Page::new("The machine has access").signed_in(&self.navigation).render(&html! {
            p role="status" { strong { (waiting.name()) } " goes on within seconds. You can close this page." }
            p { a href="/account" { "Your account" } " shows the access, and ends it." }
        }))
    }

    /// Says what holds for a machine about which another answer was taken: one of another window, or of a second click.
    async fn answered_before(
        &self,
        request: &Request,
        signed_in: &SignedIn,
        typed: &str,
    ) -> Result<Response, OAuthError> {
        let settled = match UserCode::parse(typed) {
            Some(code) => self.settled(&code, &signed_in.person.subject).await?,
            None => Settled::Gone,
        };
        let page = |title: &str| Page::new(title).signed_in(&self.navigation);
        Ok(match settled {
            Settled::Allowed => page("The machine has access").render(&html! {
                p role="status" { "You allowed it before this answer came." }
                p { a href="/account" { "Your account" } " shows the access, and ends it." }
            }),
            Settled::Denied => denied(self),
            Settled::Expired => {
                let problem = Problem::with_input("The machine does not wait any more. Let it ask for a new code.");
                code_form(self, request, signed_in, Some(problem))
            }
            Settled::Gone => page("No machine waits with this code").status(StatusCode::BAD_REQUEST).render(&html! {
                p role="alert" { "It was answered before, or has expired. If you allowed it, the machine has access." }
                p { a href="/account" { "Your account" } " shows what has access, and ends it." }
            }),
        })
    }
}

fn unknown() -> Problem {
    Problem::with_input("No machine waits with this code. Compare it, or let the machine ask for a new one.")
}

impl Waiting {
    fn name(&self) -> &str {
        self.client.name.as_deref().unwrap_or(&self.client.id)
    }

    /// The access to the API that it asks for.
    fn rights(&self) -> Scopes {
        scope::rights(&self.access.scope)
    }
}

/// Returns whether the machine and the browser are both this computer.
fn is_local(asked: &Model, here: &ClientAddress) -> bool {
    here.is_loopback() && asked.asked_from.as_deref().is_some_and(|from| ClientAddress::stored(from).is_loopback())
}

fn to_sign_in() -> Response {
    redirect(&format!("/auth/login?return_to={PATH}"))
}

fn code_form(
    provider: &IdentityProvider,
    request: &Request,
    signed_in: &SignedIn,
    problem: Option<Problem>,
) -> Response {
    let token = provider.form_token(request.headers());
    let body = html! {
        (notice(problem.as_ref()))
        p { "A program on a machine without a browser shows a code. Enter it here to let the program use your account "
            strong { (signed_in.person.email) } "." }
        (warning())
        form method="post" action=(PATH) {
            (token.field())
            label for="code" { "Code" }
            input #code name="code" autocomplete="off" autocapitalize="characters" spellcheck="false" required
                placeholder="XXXX-XXXX" aria-describedby="rule";
            small #rule { "Eight letters. Capitals and dashes do not matter." }
            div.actions { button { "Continue" } }
        }
    };
    let page = titled("Connect a machine", problem.as_ref()).signed_in(&provider.navigation);
    let mut response = provider.render(&page, &token, &body);
    if let Some(problem) = problem {
        problem.tell(&mut response);
    }
    response
}

fn warning() -> Markup {
    html! {
        p.notice {
            "Go on only if you started this yourself, on your own machine. Whoever sends you a code wants your access for themselves."
        }
    }
}

/// Says who asks, for what, from where and since when.
fn details(
    provider: &IdentityProvider,
    request: &Request,
    signed_in: &SignedIn,
    waiting: &Waiting,
    question: &MachineQuestion,
) -> Response {
    let token = provider.form_token(request.headers());
    let Waiting { code, asked, client, access } = waiting;
    let name = waiting.name();
    let scopes: Vec<String> = access.scope.split(' ').map(str::to_owned).collect();
    let permissions = Permissions { scopes: &scopes, rights: waiting.rights(), opens_api: provider.opens_api(access) };
    let body = html! {
        p { strong { (name) } " asks for access to your account " strong { (signed_in.person.email) } "." }
        (warning())
        h2 { "Who asks" }
        dl {
            dt { "Name" } dd { (name) }
            @if let Some(host) = client.host() { dt { "Address" } dd { strong { (host) } } }
            dt { "Code" } dd { code { (code) } }
            @if let Some(from) = &asked.asked_from { dt { "Asks from" } dd { strong { (ClientAddress::stored(from).in_words()) } } }
            dt { "Since" } dd { (time(asked.created_at)) }
        }
        @if !client.trusted {
            p.quiet-text { "The application chose its name itself." }
        }
        h2 { "What it asks for" }
        (permissions.list())
        form method="post" action=(PATH) {
            (token.field())
            input type="hidden" name="code" value=(code);
            input type="hidden" name="session" value=(signed_in.session.id);
            input type="hidden" name="held" value=(held(question.before));
            (extent(question))
            div.actions {
                button name="decision" value="allow" { "Allow" }
                button.secondary name="decision" value="deny" { "Deny" }
            }
        }
    };
    let page = Page::new(format!("Allow {name}?")).signed_in(&provider.navigation);
    provider.render(&page, &token, &body)
}

/// Says how much the person allows the application elsewhere, and asks how much to allow this machine.
fn extent(question: &MachineQuestion) -> Markup {
    html! {
        @if let Some(before) = question.before {
            p { "Until now you allow this application, wherever you use it: " strong { (words(before)) } "." }
        }
        @if !question.choices.is_empty() {
            (choice_field(&question.choices, question.preset()))
            @if question.may_widen() {
                p.quiet-text { "A choice beyond that widens the access that the application has already in browsers, too. In all, it has asked for this:" }
                (Permissions { scopes: &[], rights: question.rights_elsewhere, opens_api: question.opens_api_elsewhere }.list_rights())
            }
        }
    }
}

fn denied(provider: &IdentityProvider) -> Response {
    Page::new("You have allowed nothing").signed_in(&provider.navigation).status(StatusCode::OK).render(&html! {
        p role="status" { "The machine gets no access to your account." }
    })
}
