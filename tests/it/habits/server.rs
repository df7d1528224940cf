//! A server in front of the simulated search engine that has one odd habit after another. It writes the bytes of HTTP itself.

use std::{
    io,
    sync::{Arc, Mutex},
};

use common::clock::Clock;
use serde_json::json;
use simulator::{Settings, Simulator};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

use crate::support::whole::Whole as _;

/// The bytes that are sent in place of an answer.
pub enum Said {
    /// An answer. The connection stays open.
    Whole(Vec<u8>),
    /// Bytes after which the connection ends.
    Last(Vec<u8>),
    /// Bytes after which nothing comes, and the connection stays open.
    Stuck(Vec<u8>),
}

/// Makes of a good body what goes over the wire.
pub type Habit = fn(&str) -> Said;

/// The server.
#[derive(Clone)]
pub struct Server {
    pub root: String,
    state: Arc<Mutex<State>>,
    simulator: Arc<Simulator>,
    http: reqwest::Client,
}

#[derive(Default)]
struct State {
    habit: Option<(&'static str, Habit)>,
    /// The number of further answers that the habit changes.
    left: usize,
    /// The answers that a habit changed.
    changed: usize,
}

/// An answer as HTTP 1.1 writes it, with its length.
pub fn http(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// A good answer with this body.
pub fn ok(body: impl AsRef<[u8]>) -> Said {
    Said::Whole(http("200 OK", "content-type: application/json\r\n", body))
}

impl Server {
    /// Starts the server and a search engine behind it, whose time is that of `clock`.
    pub async fn start(clock: Clock) -> Self {
        let simulator = Arc::new(simulator::start(Settings::default(), clock).await.unwrap());
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let root = format!("http://{}", socket.local_addr().unwrap());
        let http = sightline::app::local_http_client().unwrap();
        let server = Self { root, state: Arc::default(), simulator, http };
        let accepting = server.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = socket.accept().await {
                let server = accepting.clone();
                tokio::spawn(async move { server.serve(client).await });
            }
        });
        server
    }

    /// From now on the next `times` answers at paths with this end are as the habit makes them.
    pub fn takes_to(&self, path: &'static str, habit: Habit, times: usize) {
        *self.state.lock().unwrap() = State { habit: Some((path, habit)), left: times, changed: 0 };
    }

    /// Ends the habit. Returns the number of answers that it changed.
    pub fn is_well(&self) -> usize {
        std::mem::take(&mut *self.state.lock().unwrap()).changed
    }

    async fn serve(&self, client: TcpStream) -> io::Result<()> {
        let mut client = BufReader::new(client);
        while let Some(request) = Request::read(&mut client).await? {
            let (status, body) = self.answer(&request).await;
            let said = match self.habit_at(&request.path) {
                Some(habit) => habit(&body),
                None => Said::Whole(http(&status, "content-type: application/json\r\n", body)),
            };
            match said {
                Said::Whole(bytes) => client.write_all(&bytes).await?,
                Said::Last(bytes) => {
                    client.write_all(&bytes).await?;
                    return client.shutdown().await;
                }
                Said::Stuck(bytes) => {
                    client.write_all(&bytes).await?;
                    tokio::io::copy(&mut client, &mut tokio::io::sink()).await?;
                }
            }
        }
        Ok(())
    }

    fn habit_at(&self, path: &str) -> Option<Habit> {
        let mut state = self.state.lock().unwrap();
        let (_, habit) = state.habit.filter(|(end, _)| path.ends_with(end) && state.left > 0)?;
        state.left -= 1;
        state.changed += 1;
        Some(habit)
    }

    /// The status and the body of a good answer.
    async fn answer(&self, request: &Request) -> (String, String) {
        let scope = "https://www.googleapis.com/auth/webmasters.readonly";
        let said = match request.path.as_str() {
            "/token" => {
                json!({ "access_token": "sim-stranger", "expires_in": 3599, "scope": scope, "refresh_token": "1//0" })
            }
            "/userinfo" => json!({ "sub": "110", "email": "me@search.test", "email_verified": true }),
            "/revoke" => json!({}),
            path => return self.forward(path, request).await,
        };
        ("200 OK".to_owned(), said.to_string())
    }

    async fn forward(&self, path: &str, request: &Request) -> (String, String) {
        let asked = self.http.request(request.method.parse().unwrap(), format!("{}{path}", self.simulator.url()));
        let asked = asked.header("authorization", &request.authorization).header("content-type", "application/json");
        let answer = asked.body(request.body.clone()).send().await.unwrap();
        (answer.status().to_string(), answer.whole_text().await.unwrap())
    }
}

/// A request.
struct Request {
    method: String,
    path: String,
    authorization: String,
    body: Vec<u8>,
}

impl Request {
    /// Reads the next request, or `None` at the end of the connection.
    async fn read(client: &mut BufReader<TcpStream>) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if client.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let mut words = line.split(' ').map(str::to_owned);
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        let (mut authorization, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            client.read_line(&mut line).await?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            match name.to_ascii_lowercase().as_str() {
                "authorization" => value.clone_into(&mut authorization),
                "content-length" => length = value.parse().unwrap(),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        client.read_exact(&mut body).await?;
        Ok(Some(Self { method, path, authorization, body }))
    }
}
