//! Signing in in a person's browser, which comes back to a port of this machine.

use std::{
    net::Ipv4Addr,
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use common::random::Random;
use poem::{Endpoint, Request, Response, Route, Server, endpoint::make, http::header, listener::TcpAcceptor};
use tokio::{net::TcpListener, sync::mpsc};
use url::Url;

use super::{
    error::RemoteError,
    login::{Attempt, Issuer, Tokens},
};
use crate::cli::terminal::{Text, is_watched, note};

/// The time for a person to sign in.
const TIMEOUT: Duration = Duration::from_mins(10);

const PATH: &str = "/callback";

/// The page at the end. It holds nothing of the request.
const PAGE: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>Sightline</title>\
    <p>The terminal says what came of the sign-in. You can close this window.</p></html>";

/// Signs a person in at `issuer`, and returns the tokens for `scope`. Says where on stderr, and opens a browser on a terminal.
///
/// # Errors
/// The person refuses, or does not sign in within ten minutes; the issuer does not answer.
pub async fn sign_in(
    issuer: &Issuer,
    client: &str,
    scope: &str,
    http: &reqwest::Client,
    random: &Random,
) -> Result<Tokens, RemoteError> {
    let failed = |error: std::io::Error| RemoteError::Failed(format!("no port of this machine can be used: {error}"));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    let attempt = Attempt::new(client, format!("http://127.0.0.1:{port}{PATH}"), random);
    let address = attempt.address(issuer, scope)?;
    let (told, mut arrived) = mpsc::channel(1);
    let server = Server::new_with_acceptor(TcpAcceptor::from_tokio(listener).map_err(failed)?);
    let serving = tokio::spawn(server.run(Route::new().at(PATH, callback(told))));
    let invitation = Text::line("Open this address in a browser of this machine within ten minutes to sign in:");
    note(&invitation.and("").and(format!("  {address}")).and(""));
    if is_watched() {
        open(address.as_str());
    }
    let code = async {
        while let Some(redirect) = arrived.recv().await {
            match attempt.code(&redirect, issuer) {
                // Any page can send a browser to this port.
                Err(RemoteError::Failed(_)) => {}
                settled => return settled,
            }
        }
        Err(RemoteError::TimedOut)
    };
    let code = tokio::time::timeout(TIMEOUT, code).await.unwrap_or(Err(RemoteError::TimedOut));
    // Later requests find the channel closed, and are answered at once.
    drop(arrived);
    let tokens = attempt.exchange(&code?, issuer, http).await;
    serving.abort();
    tokens
}

/// The endpoint that the browser comes back to.
fn callback(told: mpsc::Sender<Url>) -> impl Endpoint<Output = Response> {
    let told = Arc::new(told);
    make(move |request: Request| {
        let told = told.clone();
        async move {
            let query = request.uri().query().unwrap_or_default();
            if let Ok(redirect) = Url::parse(&format!("http://127.0.0.1{PATH}?{query}")) {
                // Waits for room in the channel: another redirect must not push out that of the person.
                let _ = told.send(redirect).await;
            }
            Response::builder()
                .content_type("text/html; charset=utf-8")
                .header(header::CACHE_CONTROL, "no-store")
                .header(header::REFERRER_POLICY, "no-referrer")
                .body(PAGE)
        }
    })
}

/// Opens an address in the person's browser. They can open it themselves if that fails.
fn open(address: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = || Stdio::null();
    let _ = Command::new(program).arg(address).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_redirect_pushes_another_out() {
        let (told, mut arrived) = mpsc::channel(1);
        let endpoint = callback(told);
        let come = |code: &str| endpoint.call(Request::builder().uri_str(format!("{PATH}?code={code}")).finish());
        let taken = async {
            let mut codes = Vec::new();
            for _ in 0..3 {
                codes.push(arrived.recv().await.unwrap().query().unwrap().to_owned());
            }
            codes
        };
        let all = async { tokio::join!(come("x"), come("y"), come("z"), taken).3 };
        let codes = tokio::time::timeout(Duration::from_secs(20), all).await.unwrap();
        assert_eq!(codes, ["code=x", "code=y", "code=z"]);
    }
}
