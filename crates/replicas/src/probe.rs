//! Asks a Redis server once, over a connection of its own.

use chrono::{DateTime, Utc};
use redis::{Client, ErrorKind, RedisError};
use tokio::time::timeout;

use super::link::{CONNECTING, connect, is_login_refused};

/// Checks the address of a Redis server.
///
/// # Errors
/// The fault that was found.
pub fn check_url(url: &str) -> Result<(), String> {
    Client::open(url).map(drop).map_err(|error| error.to_string())
}

/// Connects to the server at `url` and asks for a sign of life.
///
/// # Errors
/// The reason why it does not answer.
pub async fn probe(url: &str) -> Result<(), String> {
    let answer = async { redis::cmd("PING").query_async::<()>(&mut connect(Client::open(url)?).await?).await };
    let answer = timeout(CONNECTING, answer).await.map_err(|_| "no answer in time".to_owned())?;
    answer.map_err(|error| {
        let means = if is_login_refused(&error) {
            "the server refuses the login, so check the user and the password: "
        } else {
            ""
        };
        format!("{means}{error}")
    })
}

/// Connects to the server at `url` and asks for its time.
///
/// # Errors
/// It does not answer.
pub async fn time(url: &str) -> Result<DateTime<Utc>, RedisError> {
    let answer = async { redis::cmd("TIME").query_async(&mut connect(Client::open(url)?).await?).await };
    let (seconds, micros): (i64, u32) =
        timeout(CONNECTING, answer).await.map_err(|_| RedisError::from((ErrorKind::Io, "no answer in time")))??;
    date(seconds, micros).ok_or_else(|| RedisError::from((ErrorKind::UnexpectedReturnType, "no time")))
}

/// The time of a server, in seconds since 1970 and microseconds.
pub(super) fn date(seconds: i64, micros: u32) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp(seconds, micros.checked_mul(1_000)?)
}
