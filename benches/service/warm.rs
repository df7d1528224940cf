//! Throughput of an answer that is in the cache, beside the same bytes served by a bare route of the same HTTP stack.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use poem::{
    Response, Route, Server,
    endpoint::make_sync,
    listener::{Acceptor as _, Listener as _, TcpListener},
};
use serde_json::Value;

use crate::{
    Measured,
    connection::Connection,
    figure::{Figure, median},
    setting::{Engine, LARGE, Setting, window},
};

/// Connections at once.
const CONNECTIONS: usize = 4;

/// Requests on each connection in a round.
const REQUESTS: usize = 250;

/// Rounds, the two sides by turns, so that what else the machine does falls on both.
const ROUNDS: usize = 5;

/// Measures.
pub async fn measure() -> Measured<Vec<Figure>> {
    let engine = Engine::start(0)?;
    let setting = Setting::start(&engine, LARGE, |_| {}).await?;
    let path = setting.path(window(0, 28));
    let body = setting.get(&path).await?;
    let json: Value = serde_json::from_slice(&body)?;
    let rows = |table: &str| json["data"]["tables"][table].as_array().map_or(0, Vec::len);
    let (queries, pages) = (rows("queries"), rows("pages"));
    if (queries, pages) != (5_000, 5_000) {
        return Err(format!("the answer has {queries} queries and {pages} pages").into());
    }
    let size = body.len();
    let bare = serve(body).await?;
    let (mut of_service, mut of_bare) = (Vec::new(), Vec::new());
    for _ in 0..=ROUNDS {
        of_bare.push(round(bare, "/", "", size).await?);
        of_service.push(round(setting.service.address, &path, &setting.token, size).await?);
    }
    // The first round of each warms up.
    let (bare, service) = (median(of_bare.split_off(1)), median(of_service.split_off(1)));
    setting.service.shutdown().await;
    let per_second = |time: Duration| (CONNECTIONS * REQUESTS) as f64 / time.as_secs_f64();
    let ratio = per_second(service) / per_second(bare);
    Ok(vec![Figure {
        name: format!("warm answer, 5,000 + 5,000 rows, {:.2} MB", size as f64 / 1e6),
        value: format!("{:.0}/s", per_second(service)),
        baseline: format!("{:.0}/s static body", per_second(bare)),
        ratio: format!("{ratio:.2}"),
        aim: Some(("≥ 0.7", ratio >= 0.7)),
    }])
}

/// Serves `body` at `/`, bare.
async fn serve(body: bytes::Bytes) -> Measured<SocketAddr> {
    let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await?;
    let address = acceptor.local_addr().first().and_then(|local| local.as_socket_addr().copied());
    let answer = make_sync(move |_| Response::builder().content_type("application/json").body(body.clone()));
    tokio::spawn(Server::new_with_acceptor(acceptor).run(Route::new().at("/", answer)));
    address.ok_or_else(|| "no address".into())
}

/// How long all requests of one round take. The connections are opened before the clock starts.
async fn round(address: SocketAddr, path: &str, token: &str, size: usize) -> Measured<Duration> {
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        connections.push(Connection::open(address, path, token)?);
    }
    let start = Instant::now();
    let asking = connections.into_iter().map(|mut connection| {
        tokio::task::spawn_blocking(move || {
            for _ in 0..REQUESTS {
                if connection.get()? != size {
                    return Err("another body".into());
                }
            }
            Measured::Ok(())
        })
    });
    for outcome in futures_util::future::join_all(asking).await {
        outcome??;
    }
    Ok(start.elapsed())
}
