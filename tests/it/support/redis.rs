//! A Redis that refuses everything.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
};

/// Starts a Redis that answers every command with `error`, such as `NOAUTH Authentication required.`
pub fn refusing(error: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming() {
            thread::spawn(move || refuse(client.unwrap(), error));
        }
    });
    address
}

/// Each command is an array, which begins with an asterisk on a line of its own.
fn refuse(mut client: TcpStream, error: &str) {
    let lines = BufReader::new(client.try_clone().unwrap()).lines().map_while(Result::ok);
    for _ in lines.filter(|line| line.starts_with('*')) {
        if client.write_all(format!("-{error}\r\n").as_bytes()).is_err() {
            return;
        }
    }
}
