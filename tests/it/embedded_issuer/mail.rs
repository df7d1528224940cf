//! Tests of links by mail, against a small SMTP server.

use std::time::Duration;

use chrono::TimeDelta;
use issuer::{IdentityProvider, mail::Mailer};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpListener,
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    time::timeout,
};

use super::{
    TestIssuer,
    browser::{ANN, Browser, PASSWORD},
};

/// An SMTP server. Returns its URL and the messages that it takes.
async fn smtp_server() -> (String, UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("smtp://{}", listener.local_addr().unwrap());
    let (sender, receiver) = unbounded_channel::<String>();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (read, mut write) = stream.into_split();
            let (mut lines, sender) = (BufReader::new(read).lines(), sender.clone());
            tokio::spawn(async move {
                let mut message = None;
                write.write_all(b"220 test\r\n").await.unwrap();
                while let Ok(Some(line)) = lines.next_line().await {
                    let reply = match &mut message {
                        Some(text) if line == "." => {
                            sender.send(std::mem::take(text)).unwrap();
                            message = None;
                            "250 taken\r\n"
                        }
                        Some(text) => {
                            text.push_str(&line);
                            text.push('\n');
                            continue;
                        }
                        // Relays refuse a client that names no host.
                        None if line.starts_with("EHLO") && line != "EHLO search.corp.test" => "421 who are you?\r\n",
                        None if line == "DATA" => {
                            message = Some(String::new());
                            "354 go on\r\n"
                        }
                        None if line == "QUIT" => "221 bye\r\n",
                        None => "250 ok\r\n",
                    };
                    write.write_all(reply.as_bytes()).await.unwrap();
                }
            });
        }
    });
    (url, receiver)
}

async fn with_mail() -> (TestIssuer, UnboundedReceiver<String>) {
    with_mail_and(|provider| provider).await
}

/// An issuer with mail, changed by `change`, and the messages that it sends.
pub(super) async fn with_mail_and(
    change: impl FnOnce(IdentityProvider) -> IdentityProvider,
) -> (TestIssuer, UnboundedReceiver<String>) {
    let (url, messages) = smtp_server().await;
    let issuer = TestIssuer::with(|provider| {
        let mailer = Mailer::new(
            &url,
            "Sightline <sightline@corp.test>",
            "search.corp.test",
            provider.clock.clone(),
            provider.random.clone(),
        )
        .unwrap();
        change(provider.with_mailer(Some(mailer)))
    });
    (issuer.await, messages)
}

/// The text of a message without the soft line breaks of its encoding.
fn plain(message: &str) -> String {
    message.replace("=\n", "").replace("=3D", "=")
}

#[tokio::test]
async fn a_forgotten_password_is_set_by_a_mailed_link() {
    let (issuer, mut messages) = with_mail().await;
    issuer.account(ANN).await;
    let browser = Browser::new(&issuer);
    assert!(browser.get("/account/password/forgotten").await.body.contains("name=\"email\""));
    let ask = async |email: &str| browser.post("/account/password/forgotten", &[("email", email)]).await;
    let (unknown, known) = (ask("bob@corp.test").await, ask("ANN@corp.test").await);
    assert_eq!(
        (unknown.status, &unknown.body),
        (known.status, &known.body),
        "nothing tells whether there is an account"
    );
    let message = plain(&timeout(Duration::from_secs(10), messages.recv()).await.unwrap().unwrap());
    assert!(
        message.contains("To: ann@corp.test") && message.contains("From: Sightline <sightline@corp.test>"),
        "{message}"
    );
    // Readers decode the text of a message with the first line only, and answer no message with the second.
    for line in ["MIME-Version: 1.0\n", "Auto-Submitted: auto-generated\n"] {
        assert!(message.contains(line), "{line}: {message}");
    }
    let token = message.split("/account/password/set?token=").nth(1).unwrap().lines().next().unwrap().to_owned();
    issuer.hand.advance(TimeDelta::minutes(59));
    assert_eq!(browser.set_password(&token, "wet socks on the line").await.status, 303);
    let other = Browser::new(&issuer);
    assert_eq!(other.sign_in(ANN, PASSWORD).await.status, 400);
    assert_eq!(other.sign_in(ANN, "wet socks on the line").await.status, 303);
}

#[tokio::test]
async fn mailed_links_are_limited_by_account_and_by_address() {
    let (issuer, mut messages) = with_mail().await;
    issuer.account(ANN).await;
    let browser = Browser::new(&issuer);
    browser.get("/account/password/forgotten").await;
    let ask = async |email: &str| browser.post("/account/password/forgotten", &[("email", email)]).await;
    let first = ask(ANN).await.body;
    for _ in 0..9 {
        let answer = ask(ANN).await;
        assert_eq!((answer.status, &answer.body), (200, &first), "the answer does not change");
    }
    let refused = ask("bob@corp.test").await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, "120"));
    for _ in 0..3 {
        timeout(Duration::from_secs(10), messages.recv()).await.unwrap().unwrap();
    }
    assert!(timeout(Duration::from_millis(300), messages.recv()).await.is_err(), "three mails in a row");
}

#[tokio::test]
async fn mail_goes_to_the_address_of_the_account_only() {
    let (issuer, mut messages) = with_mail().await;
    issuer.account(ANN).await;
    let browser = Browser::new(&issuer);
    browser.get("/account/password/forgotten").await;
    for typed in [
        "ann@corp.test\r\nBcc: eve@evil.test",
        "ann@corp.test\nTo: eve@evil.test",
        "ann@corp.test, eve@evil.test",
        "eve@evil.test <ann@corp.test>",
        "\"ann@corp.test\"@evil.test",
        "ann@corp.test\0@evil.test",
    ] {
        let answer = browser.post("/account/password/forgotten", &[("email", typed)]).await;
        assert!(!answer.body.contains("eve@"), "{}", answer.body);
    }
    assert_eq!(browser.post("/account/password/forgotten", &[("email", " ANN@corp.test ")]).await.status, 200);
    // The only message, since mails are sent in the order in which they are asked for.
    let message = plain(&timeout(Duration::from_secs(10), messages.recv()).await.unwrap().unwrap());
    let (head, _) = message.split_once("\n\n").unwrap();
    assert_eq!(head.lines().filter(|line| line.starts_with("To: ")).collect::<Vec<_>>(), ["To: ann@corp.test"]);
    assert!(!message.contains("evil.test"), "{message}");
    assert!(messages.try_recv().is_err());
}

#[tokio::test]
async fn without_mail_the_page_names_the_operator() {
    let issuer = TestIssuer::without_demo_people().await;
    let browser = Browser::new(&issuer);
    let page = browser.get("/account/password/forgotten").await.body;
    assert!(page.contains("sightline user reset") && !page.contains("<form"), "{page}");
    let sent = browser.post("/account/password/forgotten", &[("email", ANN)]).await;
    assert!(sent.body.contains("sightline user reset"), "{}", sent.body);
}

/// A mail server that answers `EHLO` and `STARTTLS` with these lines. Returns its port and the lines that it receives.
async fn without_tls(offers: &'static str, starts: &'static str) -> (u16, UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, receiver) = unbounded_channel();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let (read, mut write) = stream.into_split();
        let mut lines = BufReader::new(read);
        write.write_all(b"220 test\r\n").await.unwrap();
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).await.is_ok_and(|length| length > 0) {
            let said = String::from_utf8_lossy(&line).into_owned();
            let reply = match said.split([' ', '\r']).next() {
                Some("EHLO") => offers,
                Some("STARTTLS") => starts,
                _ => "250 ok\r\n",
            };
            line.clear();
            if sender.send(said).is_err() || write.write_all(reply.as_bytes()).await.is_err() {
                break;
            }
        }
    });
    (port, receiver)
}

/// An address of this machine that is not loopback. The server counts as one elsewhere.
const ELSEWHERE: &str = "0.0.0.0";

#[tokio::test]
async fn a_mail_server_elsewhere_learns_nothing_without_tls() {
    let issuer = TestIssuer::without_demo_people().await;
    for (offers, starts) in [
        ("250 test\r\n", "502 no\r\n"),
        ("250-test\r\n250 AUTH PLAIN LOGIN\r\n", "502 no\r\n"),
        ("250-test\r\n250-STARTTLS\r\n250 AUTH PLAIN LOGIN\r\n", "454 not now\r\n"),
        // Replies from before the TLS handshake are not used after it.
        (
            "250-test\r\n250-STARTTLS\r\n250 AUTH PLAIN LOGIN\r\n",
            "220 go on\r\n250-test\r\n250 AUTH PLAIN\r\n235 welcome\r\n250 ok\r\n250 ok\r\n354 go on\r\n250 taken\r\n",
        ),
    ] {
        for host in [ELSEWHERE, "127.0.0.1"] {
            let (port, mut received) = without_tls(offers, starts).await;
            let url = format!("smtp://ann:hunter2@{host}:{port}");
            let mailer = Mailer::new(
                &url,
                "sightline@corp.test",
                "search.corp.test",
                issuer.clock.clone(),
                issuer.random.clone(),
            )
            .unwrap();
            let sent = mailer.send(ANN, "A link", "https://search.example.org/?token=hunter2".to_owned()).await;
            drop(mailer);
            let mut all = String::new();
            while let Some(line) = timeout(Duration::from_secs(30), received.recv()).await.unwrap() {
                all.push_str(&line);
            }
            if host == ELSEWHERE {
                assert!(sent.is_err(), "{offers:?} {starts:?}: {all}");
                let said = ["AUTH", "MAIL", "RCPT", "hunter2", ANN].into_iter().find(|said| all.contains(said));
                assert_eq!(said, None, "{offers:?} {starts:?}: {all}");
            } else if offers.contains("AUTH") {
                // Loopback needs no TLS, so the password is sent.
                assert!(all.contains("AUTH"), "{offers:?}: {all}");
            }
        }
    }
}
