//! `GET /account`: all sections on one page.

use maud::{Markup, html};
use poem::{Request, Response, handler, web::Data};

use super::{
    Account, Visitor, applications, failed, notice, person, plan, privacy, providers, search, sessions, sites,
};
use crate::{
    error::Error,
    web::documentation::{addresses::GUIDES, guides},
};

/// Shows the page.
#[handler]
pub(super) async fn show(Data(account): Data<&Account>, request: &Request) -> Response {
    let visitor = match account.visitor(request).await {
        Ok(visitor) => visitor,
        Err(answer) => return answer,
    };
    match sections(account, &visitor).await {
        Ok(sections) => account.page("Your account").render(&html! {
            (notice::of(request))
            (sections)
        }),
        Err(error) => failed(&error),
    }
}

async fn sections(account: &Account, visitor: &Visitor) -> Result<Markup, Error> {
    let plan = plan::section(account, visitor).await?;
    let providers = providers::section(account, visitor).await?;
    let applications = applications::section(account, visitor).await?;
    let sessions = sessions::section(account, visitor).await?;
    let (sites, has_sites) = sites::section(account, visitor).await?;
    let search = search::section(account, visitor, has_sites).await;
    let person = person::section(account, visitor).await?;
    Ok(html! {
        (sites) (search) (person) (providers) (plan) (applications) (sessions) (privacy::section()) (help())
    })
}

/// The links to the guides, which explain the page.
fn help() -> Markup {
    html! {
        section aria-labelledby="guides" {
            h2 #guides { "Guides" }
            (guides::list())
            p { a href=(GUIDES) { "Which guide is for whom" } }
        }
    }
}
