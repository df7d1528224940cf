//! Load from this process: threads with one connection each.

use std::{
    net::SocketAddr,
    thread,
    time::{Duration, Instant},
};

use crate::{Measured, connection::Connection};

/// Number of connections at once.
pub const CONNECTIONS: usize = 16;

/// Duration of a round.
const ROUND: Duration = Duration::from_secs(1);

/// Rounds of each side. The two sides alternate, so that other load on the machine affects both. The first round of
/// each warms up.
pub const ROUNDS: usize = 5;

/// Answers per second to `GET path` on [`CONNECTIONS`] connections.
pub fn reads(address: SocketAddr, path: &str, token: &str, size: usize) -> Measured<f64> {
    repeated(|| Connection::open(address, path, token), size)
}

/// Answers per second of the tool endpoint to `message`, sent with `headers`, on [`CONNECTIONS`] connections.
pub fn calls(address: SocketAddr, headers: &[(&str, &str)], message: &str, token: &str, size: usize) -> Measured<f64> {
    repeated(|| Connection::to_tools(address, headers, message, token), size)
}

fn repeated(open: impl Fn() -> Measured<Connection>, size: usize) -> Measured<f64> {
    let connections: Vec<Connection> = (0..CONNECTIONS).map(|_| open()).collect::<Measured<_>>()?;
    let end = Instant::now() + ROUND;
    let ask = |mut connection: Connection| {
        let mut answers = 0;
        while Instant::now() < end {
            if connection.ask()? != size {
                return Err("another body".into());
            }
            answers += 1;
        }
        Measured::Ok(answers)
    };
    together(connections, ask)
}

/// Sum of the threads' counts in a round, per second.
pub fn together<T: Send>(each: Vec<T>, count: impl Fn(T) -> Measured<u32> + Sync) -> Measured<f64> {
    let begun = Instant::now();
    let counts: Vec<Measured<u32>> = thread::scope(|scope| {
        let threads: Vec<_> = each.into_iter().map(|one| scope.spawn(|| count(one))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err("a thread panicked".into()))).collect()
    });
    let mut sum = 0.0;
    for count in counts {
        sum += f64::from(count?);
    }
    Ok(sum / begun.elapsed().as_secs_f64())
}

/// Median of several rates.
pub fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_unstable_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or_default()
}
