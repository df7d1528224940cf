//! `/account/search/{id}/disconnect`: asks first, then ends the connection.

use maud::html;
use poem::{Request, Response, handler, web::Data};

use super::{failed, own, path};
use crate::{
    services::connections::Ended,
    web::account::{Account, redirect},
};

/// Asks whether to disconnect.
#[handler]
pub(super) async fn ask(Data(account): Data<&Account>, request: &Request) -> Response {
    let (_, shown) = match own(account, request).await {
        Ok(own) => own,
        Err(answer) => return answer,
    };
    account.page(format!("Disconnect {}?", shown.name)).render(&html! {
        p { "This service gives up its access to the account at the search engine, and forgets the data that it keeps in memory." }
        p {
            "Its properties stay, with their tags, notes, segments and members, but nobody can read them until you reconnect. "
            "Properties that another of your search accounts can read are read with that one."
        }
        div.actions {
            form method="post" action=(format!("{}/disconnect", path(&shown))) { button.danger { "Disconnect" } }
            a href=(path(&shown)) { "Keep it connected" }
        }
    })
}

/// Disconnects the account.
#[handler]
pub(super) async fn end(Data(account): Data<&Account>, request: &Request) -> Response {
    let (visitor, shown) = match own(account, request).await {
        Ok(own) => own,
        Err(answer) => return answer,
    };
    match account.search.connections.disconnect(visitor.member.user.id, shown.id).await {
        Ok(Ended::There) => redirect(&path(&shown)),
        Ok(Ended::HereOnly) => redirect(&format!("{}?there=unanswered", path(&shown))),
        Ok(Ended::Shared) => redirect(&format!("{}?there=shared", path(&shown))),
        Err(error) => failed(&error),
    }
}
