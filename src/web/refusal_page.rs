//! Refusals as pages, for people who opened an address of their own in a browser.

use api::error::{ApiError, Code};
use maud::html;
use pages::page::{Page, unsent::Unsent};
use poem::{Response, http::header};

/// Returns the page of a refusal. Its hint may quote the request.
#[must_use]
pub fn page(refusal: &ApiError) -> Response {
    page_with(refusal, None)
}

/// Returns the page of a refusal with the form that was refused, if one comes back.
#[must_use]
pub fn page_with(refusal: &ApiError, unsent: Option<&Unsent>) -> Response {
    let (title, advice) = match unsent {
        Some(unsent) if unsent.needs_sign_in() => (
            "You are no longer signed in",
            "Nothing was changed, and nothing that you wrote is lost. Sign in, come back to this tab, and send it again.".to_owned(),
        ),
        _ => words(refusal),
    };
    let page = Page::new(title).status(refusal.code.status());
    let page = if unsent.is_some() { page.sending() } else { page };
    let mut response = page.render(&html! {
        p role="alert" { (advice) }
        @if let Some(unsent) = unsent { (unsent.draw()) }
        @if let Some(id) = &refusal.correlation_id {
            p { "If it happens again, tell the operator of this service the number of your request: " code { (id) } }
        }
        p { a href="/" { "Go to the start page" } }
    });
    if let Some(seconds) = refusal.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

/// The title of the page, and the advice.
fn words(refusal: &ApiError) -> (&'static str, String) {
    match refusal.code {
        Code::NotFound => ("Not found", "There is no page at this address.".to_owned()),
        Code::MethodNotAllowed => (
            "This address is not a page",
            "It takes what a form or a program sends. Go back, and use the links and buttons there.".to_owned(),
        ),
        Code::RateLimited => {
            let seconds = refusal.retry_after.unwrap_or(1);
            let when = if seconds == 1 { "a second".to_owned() } else { format!("{seconds} seconds") };
            ("Too many requests", format!("Too many pages were opened from here. Try again in {when}."))
        }
        code if code.status().is_server_error() => (
            "Something went wrong here",
            "The page cannot be shown at the moment. Try again in a few seconds.".to_owned(),
        ),
        code => (code.text(), refusal.hint.clone().unwrap_or_else(|| "The request was refused.".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn shown(refusal: &ApiError) -> (u16, Option<String>, String) {
        let response = page(refusal);
        let retry = response.header("retry-after").map(str::to_owned);
        (response.status().as_u16(), retry, response.into_body().into_string().await.unwrap())
    }

    #[tokio::test]
    async fn every_refusal_has_a_page_with_its_status_and_a_way_on() {
        for code in Code::ALL {
            let (status, _, html) = shown(&ApiError::new(*code)).await;
            assert_eq!(status, code.status().as_u16());
            assert!(html.contains("<h1>") && html.contains("<a href=\"/\">"), "{html}");
        }
    }

    #[tokio::test]
    async fn a_quoted_name_is_text_and_a_limit_says_when_it_ends() {
        let (_, _, html) = shown(&ApiError::invalid("<script>", "not a parameter here")).await;
        assert!(html.contains("&lt;script&gt;: not a parameter here") && !html.contains("<script"), "{html}");
        let (status, retry, html) = shown(&ApiError::new(Code::RateLimited).retry_after(7)).await;
        assert_eq!((status, retry.as_deref()), (429, Some("7")));
        assert!(html.contains("in 7 seconds"));
        let named = ApiError { correlation_id: Some("abc-1".to_owned()), ..ApiError::new(Code::Internal) };
        assert!(shown(&named).await.2.contains("<code>abc-1</code>"));
    }
}
