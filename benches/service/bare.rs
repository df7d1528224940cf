//! The baseline of reads: a bare poem route that sends the same bytes, in its own process.

use std::{io::Write as _, process::Command};

use poem::{
    Response, Route, Server as PoemServer,
    endpoint::make_sync,
    listener::{Acceptor as _, Listener as _, TcpListener},
};
use tempfile::NamedTempFile;

use crate::{Measured, child::Server};

/// Command-line argument that starts the process.
pub const COMMAND: &str = "serve-bare";

/// Starts a process that serves `body` at `/`.
pub fn start(body: &[u8]) -> Measured<(Server, NamedTempFile)> {
    let mut file = NamedTempFile::new()?;
    file.write_all(body)?;
    let server = Server::start(Command::new(std::env::current_exe()?).arg(COMMAND).arg(file.path()))?;
    Ok((server, file))
}

/// Serves the bytes of `file` until it is killed.
pub async fn serve(file: &str) -> Measured<()> {
    let body = bytes::Bytes::from(std::fs::read(file)?);
    let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await?;
    let address = acceptor.local_addr().first().and_then(|local| local.as_socket_addr().copied());
    println!("listening on http://{}", address.ok_or("no address")?);
    let answer = make_sync(move |_| Response::builder().content_type("application/json").body(body.clone()));
    PoemServer::new_with_acceptor(acceptor).run(Route::new().at("/", answer)).await?;
    Ok(())
}
