//! Tests of `sightline login` in a person's browser.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, ChildStderr},
};

use tempfile::TempDir;
use url::Url;

use crate::{
    commands::{Running, sightline},
    support::{actor::Actor, browser::Browser},
};

/// A login that waits for a browser.
struct Login {
    child: Child,
    stderr: BufReader<ChildStderr>,
    /// The address that it names.
    address: Url,
}

impl Login {
    fn start(server: &str, folder: &TempDir) -> Self {
        let mut child = sightline(folder.path(), &["login", "--server", server], &[]).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("  http") {
            line.clear();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "it ends without an address");
        }
        let address = line.trim().parse().unwrap();
        Self { child, stderr, address }
    }

    /// The address to come back to, with an answer.
    fn callback(&self, answer: &[(&str, &str)]) -> String {
        let (_, mut url) = self
            .address
            .query_pairs()
            .find(|(name, _)| name == "redirect_uri")
            .map(|(name, uri)| (name, Url::parse(&uri).unwrap()))
            .unwrap();
        url.query_pairs_mut().extend_pairs(answer);
        url.into()
    }

    fn state(&self) -> String {
        self.address.query_pairs().find(|(name, _)| name == "state").unwrap().1.into_owned()
    }

    /// Whether it succeeded, its output, and what it said.
    fn end(mut self) -> (bool, String, String) {
        let (mut out, mut said) = (String::new(), String::new());
        self.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        self.stderr.read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().success(), out, said)
    }
}

#[tokio::test]
async fn a_person_signs_in_in_a_browser() {
    let folder = TempDir::new().unwrap();
    let server = Running::start(sightline(folder.path(), &["serve"], &[("LISTEN", "127.0.0.1:0")]));
    let elsewhere = TempDir::new().unwrap();
    let login = Login::start(&server.url, &elsewhere);
    let browser = Browser::new(&server.url);
    // Any page can send a browser to that port.
    for forged in [vec![], vec![("code", "x")], vec![("code", "x"), ("state", "y")], vec![("error", "x")]] {
        assert_eq!(browser.get(&login.callback(&forged)).await.status, 200, "{forged:?}");
    }
    let answer = browser.get(&format!("{}&login_hint=viewer", login.address)).await;
    let page = browser.get(&answer.location).await;
    assert!(page.status == 200 && page.html.contains("goes on in the terminal"), "{page:?}");
    let (succeeded, token, said) = login.end();
    assert!(succeeded, "{said}");
    assert!(!said.contains(token.trim()), "the token is on stdout alone");
    let listed = Actor::with_token(&server.url, token.trim()).get("/api/properties").await.expect(200);
    assert_eq!(listed.json["data"][0]["role"], "viewer");
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0, "nothing is stored");
}

#[tokio::test]
async fn a_person_who_refuses_is_not_signed_in() {
    let folder = TempDir::new().unwrap();
    let server = Running::start(sightline(folder.path(), &["serve"], &[("LISTEN", "127.0.0.1:0")]));
    let login = Login::start(&server.url, &folder);
    let refusal = login.callback(&[("error", "access_denied"), ("state", &login.state())]);
    Browser::new(&server.url).get(&refusal).await;
    let (succeeded, token, said) = login.end();
    assert!(!succeeded && token.is_empty() && said.contains("refused the sign-in: access_denied"), "{said}");
}
