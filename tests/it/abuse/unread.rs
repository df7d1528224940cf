//! Answers that nobody reads, from four addresses: what is written and not sent takes memory.

use tokio::{
    io::AsyncWriteExt as _,
    net::TcpStream,
    time::{Instant, sleep, sleep_until},
};

use super::{Scale, attacks::connect, target::Target};

/// The number of answers, in waves: a place that is free too early is taken by the next wave.
const ANSWERS: usize = 120;
const WAVES: usize = 4;

/// Pages of a share link with as many conditions as a page takes.
pub async fn pages(target: &Target, scale: Scale) -> usize {
    let condition = |number: usize| format!("query.not_contains=word%20number%20{number:04}");
    let conditions: Vec<_> = (0..50).map(condition).collect();
    let (token, conditions) = (&target.share_token, conditions.join("/"));
    let ask = |_| format!("GET /share/{token}/where/{conditions}/overview HTTP/1.1\r\nHost: a\r\n\r\n");
    unread(target, scale, ask).await
}

/// Rows by page, query and day, 25,000 for each question.
pub async fn typed_answers(target: &Target, scale: Scale) -> usize {
    let path = format!("/api/properties/{}/performance/query", target.property);
    let ask = |number: usize| {
        let body = format!(
            "{{\"dimensions\":[\"page\",\"query\",\"date\"],\"startDate\":\"2026-08-01\",\"endDate\":\"2026-10-31\",\"limit\":25000,\"offset\":{number}}}"
        );
        format!(
            "POST {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            target.tenant.token(),
            body.len()
        )
    };
    unread(target, scale, ask).await
}

/// Sends the requests and reads nothing for a while. Returns how many were refused.
async fn unread(target: &Target, scale: Scale, ask: impl Fn(usize) -> String) -> usize {
    let (end, mut held) = (Instant::now() + scale.length * 2, Vec::new());
    for wave in 0..WAVES {
        for (number, address) in (0..ANSWERS / WAVES).zip((1..=4).cycle()) {
            let Some(mut stream) = connect(target, [127, 0, 7, address]).await else { continue };
            let _ = stream.write_all(ask(wave * ANSWERS + number).as_bytes()).await;
            held.push(stream);
        }
        sleep(scale.length / 4).await;
    }
    sleep_until(end).await;
    held.iter().filter(|stream| is_refused(stream)).count()
}

/// Returns whether an answer is there that is not 200.
fn is_refused(stream: &TcpStream) -> bool {
    let mut status = [0; 12];
    stream.try_read(&mut status).is_ok_and(|length| length == status.len()) && !status.ends_with(b"200")
}
