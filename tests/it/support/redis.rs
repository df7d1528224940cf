//! A Redis that refuses everything, one whose clock is wrong, and the names of keys in one that does not.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
};

use chrono::{DateTime, Utc};
use url::Url;

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

/// Starts a Redis whose clock shows `now`, and which knows nothing else.
pub fn with_time(now: DateTime<Utc>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming() {
            thread::spawn(move || say_time(client.unwrap(), now));
        }
    });
    address
}

/// The name of a command is the first element of its array, in a line after that of its length.
fn say_time(mut client: TcpStream, now: DateTime<Utc>) {
    let mut lines = BufReader::new(client.try_clone().unwrap()).lines().map_while(Result::ok);
    while let Some(line) = lines.next() {
        if !line.starts_with('*') {
            continue;
        }
        let seconds = now.timestamp().to_string();
        let answer = match lines.nth(1).as_deref() {
            Some("TIME") => format!("*2\r\n${}\r\n{seconds}\r\n$1\r\n0\r\n", seconds.len()),
            Some("INFO") => "$0\r\n\r\n".to_owned(),
            Some("CONFIG") => "*0\r\n".to_owned(),
            // The number of replicas that live.
            Some("EVALSHA") => ":1\r\n".to_owned(),
            _ => "+OK\r\n".to_owned(),
        };
        if client.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// The names of keys at `url` that match `pattern`.
pub fn keys(url: &str, pattern: &str) -> Vec<String> {
    let url: Url = url.parse().unwrap();
    let mut client = TcpStream::connect((url.host_str().unwrap(), url.port().unwrap_or(6379))).unwrap();
    let mut answers = BufReader::new(client.try_clone().unwrap());
    write!(client, "*2\r\n$4\r\nKEYS\r\n${}\r\n{pattern}\r\n", pattern.len()).unwrap();
    let mut names = Vec::new();
    for _ in 0..length(&mut answers, '*') {
        let mut name = vec![0; length(&mut answers, '$') + 2];
        answers.read_exact(&mut name).unwrap();
        names.push(String::from_utf8(name).unwrap().trim_end().to_owned());
    }
    names
}

/// The number in the next line of Redis.
fn length(answers: &mut BufReader<TcpStream>, kind: char) -> usize {
    let mut line = String::new();
    answers.read_line(&mut line).unwrap();
    line.trim_end().strip_prefix(kind).unwrap_or_else(|| panic!("Redis says {line}")).parse().unwrap()
}
