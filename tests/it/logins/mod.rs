//! Tests of commands that sign a person in at a running server.

mod names;
pub mod other_servers;

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, ChildStderr, Command, Output, Stdio},
};

use chrono::TimeDelta;
use common::clock::Clock;
use serde_json::{Value, json};
use sightline::app::http_client;
use tempfile::TempDir;
use url::Url;

use crate::{
    commands::{Running, sightline},
    support::{
        actor::Actor,
        browser::{Browser, Page},
    },
};

/// A login that waits for a browser.
struct Login {
    child: Child,
    stderr: BufReader<ChildStderr>,
    /// The address that it names.
    address: Url,
    /// The code that it shows, if it is one for a browser elsewhere.
    code: Option<String>,
}

impl Login {
    fn start(server: &str, folder: &TempDir) -> Self {
        Self::of(sightline(folder.path(), &["login", "--server", server], &[]))
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let (mut line, mut code) = (String::new(), None);
        while !line.starts_with("  http") {
            line.clear();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "it ends without an address");
            code = line.trim_end_matches(":\n").split_once("the code ").map(|(_, code)| code.to_owned()).or(code);
        }
        let address = line.trim().parse().unwrap();
        Self { child, stderr, address, code }
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

    /// True if it succeeded, its output, and its messages.
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
    assert!(page.status == 200 && page.html.contains("The terminal says"), "{page:?}");
    let (succeeded, token, said) = login.end();
    assert!(succeeded, "{said}");
    assert!(!said.contains(token.trim()), "the token is on stdout alone");
    let listed = Actor::with_token(&server.url, token.trim()).get("/api/properties").await.expect(200);
    assert_eq!(listed.json["data"][0]["role"], "viewer");
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0, "nothing is stored");
}

/// Follows redirects. Returns the address of the page at the end, and the page.
async fn followed(browser: &Browser, mut page: Page) -> (String, Page) {
    let mut at = String::new();
    while page.status == 303 {
        at.clone_from(&page.location);
        page = browser.get(&at).await;
    }
    (at, page)
}

#[tokio::test]
async fn a_machine_without_a_browser_is_signed_in_by_a_code() {
    let folder = TempDir::new().unwrap();
    let server = Running::start(sightline(folder.path(), &["serve"], &[("LISTEN", "127.0.0.1:0")]));
    let elsewhere = TempDir::new().unwrap();
    let login = Login::of(sightline(elsewhere.path(), &["login", "--device", "--server", &server.url], &[]));
    assert_eq!(login.address.as_str(), format!("{}/device", server.url));
    let code = login.code.clone().unwrap();

    let browser = Browser::new(&server.url);
    let (sign_in, _) = followed(&browser, browser.get("/device").await).await;
    let token = browser.cookie("sightline_sign_in").unwrap();
    let signed_in = browser.post(&sign_in, &[("person", "viewer"), ("csrf", &token)]).await;
    followed(&browser, signed_in).await.1.expect(200, &["Connect a machine"]);
    let token = browser.cookie("sightline_sign_in").unwrap();
    let asked = browser.post("/device", &[("code", &code), ("csrf", &token)]).await.expect(200, &["this computer"]);
    let session = asked.html.split("name=\"session\" value=\"").nth(1).unwrap()[..36].to_owned();
    let decision =
        [("decision", "allow"), ("allowance", "read"), ("session", &session), ("code", &code), ("csrf", &token)];
    browser.post("/device", &decision).await.expect(200, &["The machine has access"]);

    let (succeeded, token, said) = login.end();
    assert!(succeeded, "{said}");
    let viewer = Actor::with_token(&server.url, token.trim());
    let listed = viewer.get("/api/properties").await.expect(200);
    assert_eq!(listed.json["data"][0]["role"], "viewer");
    viewer.post("/api/tags", &json!({ "name": "x" })).await.expect(403);
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

#[tokio::test]
async fn a_scope_that_nobody_has_is_refused_with_the_list_of_scopes() {
    let folder = TempDir::new().unwrap();
    let server = Running::start(sightline(folder.path(), &["serve"], &[("LISTEN", "127.0.0.1:0")]));
    for way in [&["--device"][..], &["--as", "owner"]] {
        let arguments = [&["login", "--scope", "SEARCH:READ"], way].concat();
        let output = command(&folder, &server.url, &arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains("refused the sign-in: invalid_scope: Scopes are "), "{said}");
    }
}

/// A command of a person with a folder of settings.
pub fn command(settings: &TempDir, server: &str, arguments: &[&str]) -> Command {
    let mut command = sightline(settings.path(), arguments, &[]);
    command.args(["--server", server]).env("XDG_CONFIG_HOME", settings.path());
    command
}

fn out(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn sites_and_reports_are_printed_as_the_api_answers() {
    let folder = TempDir::new().unwrap();
    let server = Running::start(sightline(folder.path(), &["serve"], &[("LISTEN", "127.0.0.1:0")]));
    let settings = TempDir::new().unwrap();
    let ask = |arguments: &[&str]| command(&settings, &server.url, arguments).args(["--as", "owner"]).output().unwrap();
    let sites = out(ask(&["sites"]));
    let owner = Actor::signed_in(&server.url, "owner").await;
    let listed = owner.get("/api/properties").await.expect(200).json;
    let all = listed["data"].as_array().unwrap();
    assert_eq!(sites.lines().count(), 1 + all.len(), "{sites}");
    for site in all {
        let clicks = site["headline"]["current"]["clicks"].to_string();
        let line = sites.lines().find(|line| line.starts_with(site["name"].as_str().unwrap())).unwrap();
        assert!(line.replace(',', "").contains(&format!(" {clicks} ")), "{line}");
    }

    let answer: Value = serde_json::from_str(&out(ask(&["report", "northmoor", "--days", "7", "--json"]))).unwrap();
    assert_eq!(answer["data"]["series"].as_array().unwrap().len(), 7);
    let report = out(ask(&["report", "northmoor", "--days", "7"]));
    let total = answer["data"]["totals"]["clicks"].to_string();
    let line = report.lines().find(|line| line.starts_with("clicks")).unwrap();
    assert!(line.replace(',', "").contains(&total), "{line}");
    assert!(report.contains("compared with") && report.contains("of the clicks"), "{report}");
    let csv = out(ask(&["report", "northmoor", "--days", "7", "--csv"]));
    let sum: u64 = csv.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!((csv.lines().count(), sum.to_string()), (8, total));
    let nobodys = ask(&["report", "elsewhere"]);
    let said = String::from_utf8(nobodys.stderr).unwrap();
    assert!(!nobodys.status.success() && said.contains("no site is called \"elsewhere\"; there are "), "{said}");
    let shared = command(&settings, &server.url, &["sites", "--as", "editor"]).output().unwrap();
    assert_eq!(out(shared).lines().count(), 1 + 3, "what was shared with a person");
    assert_eq!(std::fs::read_dir(settings.path()).unwrap().count(), 0, "demo people leave nothing");
}

#[test]
fn no_proxy_stands_between_parts_of_this_machine() {
    let nobody = ("HTTP_PROXY", "http://127.0.0.1:1");
    let (folder, settings) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let mut serve = sightline(folder.path(), &["serve"], &[("LISTEN", "127.0.0.1:0")]);
    serve.env(nobody.0, nobody.1);
    let server = Running::start(serve);
    let mut report = command(&settings, &server.url, &["report", "northmoor", "--as", "owner"]);
    let said = out(report.env(nobody.0, nobody.1).output().unwrap());
    assert!(said.starts_with("northmoor.example, "), "{said}");
}

#[tokio::test]
async fn a_sign_in_is_stored_for_the_next_report() {
    let folder = TempDir::new().unwrap();
    let server = Running::start(sightline(folder.path(), &["serve"], &[("LISTEN", "127.0.0.1:0")]));
    let settings = TempDir::new().unwrap();
    let first = Login::of(command(&settings, &server.url, &["sites"]));
    let browser = Browser::new(&server.url);
    let answer = browser.get(&format!("{}&login_hint=owner", first.address)).await;
    browser.get(&answer.location).await;
    let (succeeded, sites, said) = first.end();
    assert!(succeeded && sites.contains("northmoor.example"), "{said}");
    // Each use replaces the refresh token, also where several commands run at once.
    let running: Vec<Child> =
        (0..3).map(|_| command(&settings, &server.url, &["report", "northmoor"]).spawn().unwrap()).collect();
    for child in running {
        assert!(out(child.wait_with_output().unwrap()).starts_with("northmoor.example, "));
    }
    let stored = std::fs::read_to_string(settings.path().join("sightline/sign-ins.json")).unwrap();
    let stored: Value = serde_json::from_str(&stored).unwrap();
    assert_eq!(stored[&server.url]["client"], "sightline-cli");
}

/// Signs a person in for `sites`, which stores the sign-in.
async fn signed_in(settings: &TempDir, server: &str) {
    let sites = Login::of(command(settings, server, &["sites"]));
    let browser = Browser::new(server);
    let answer = browser.get(&format!("{}&login_hint=owner", sites.address)).await;
    browser.get(&answer.location).await;
    let (succeeded, _, said) = sites.end();
    assert!(succeeded, "{said}");
}

/// The stored refresh token of a server, if there is one.
fn stored_token(settings: &TempDir, server: &str) -> Option<String> {
    let stored = std::fs::read_to_string(settings.path().join("sightline/sign-ins.json")).unwrap();
    let stored: Value = serde_json::from_str(&stored).unwrap();
    stored[server]["refreshToken"].as_str().map(str::to_owned)
}

#[tokio::test]
async fn a_stored_sign_in_ends_at_the_server_and_here() {
    let folder = TempDir::new().unwrap();
    let server = Running::start(sightline(folder.path(), &["serve"], &[("LISTEN", "127.0.0.1:0")]));
    let settings = TempDir::new().unwrap();
    let logout = |server: &str| out(command(&settings, server, &["logout"]).output().unwrap());
    signed_in(&settings, &server.url).await;
    let token = stored_token(&settings, &server.url).unwrap();
    let elsewhere = logout("https://search.example");
    assert!(elsewhere.starts_with("No sign-in at https://search.example is stored"), "{elsewhere}");
    assert!(elsewhere.contains(&server.url), "{elsewhere}");
    let said = logout(&server.url);
    assert!(said.contains("was revoked there and removed here"), "{said}");
    assert_eq!(stored_token(&settings, &server.url), None);
    let form = [("grant_type", "refresh_token"), ("refresh_token", token.as_str()), ("client_id", "sightline-cli")];
    let refused = http_client().unwrap().post(format!("{}/oauth/token", server.url)).form(&form).send().await.unwrap();
    assert_eq!(refused.status(), 400);
    assert!(logout(&server.url).starts_with("No sign-in at "));
    // The next report asks the person to sign in again.
    let mut report = Login::of(command(&settings, &server.url, &["report", "northmoor"]));
    report.child.kill().unwrap();
    report.child.wait().unwrap();

    signed_in(&settings, &server.url).await;
    let url = server.url.clone();
    assert_eq!(server.terminate().0, Some(0));
    let said = logout(&url);
    assert!(said.contains("was removed here, but not revoked: no answer from"), "{said}");
    let in_a_month = (Clock::system().now() + TimeDelta::days(30)).format("lives on until %Y-%m-%d").to_string();
    assert!(said.contains(&in_a_month) && said.contains("/account"), "{said}");
    assert_eq!(stored_token(&settings, &url), None);
}

/// The same command of a person whose files are open to everybody unless a program closes them.
fn openly(command: &Command) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "umask 0; exec \"$0\" \"$@\""]).arg(command.get_program()).args(command.get_args());
    shell.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(command.get_current_dir().unwrap()).stdout(Stdio::piped()).stderr(Stdio::piped());
    shell
}

#[cfg(unix)]
#[tokio::test]
async fn a_stored_sign_in_is_its_persons_alone_and_goes_to_the_issuer_that_gave_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = TempDir::new().unwrap();
    let server = Running::start(sightline(folder.path(), &["serve"], &[("LISTEN", "127.0.0.1:0")]));
    let settings = TempDir::new().unwrap();
    std::fs::set_permissions(settings.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let sites = Login::of(openly(&command(&settings, &server.url, &["sites"])));
    let browser = Browser::new(&server.url);
    let answer = browser.get(&format!("{}&login_hint=owner", sites.address)).await;
    browser.get(&answer.location).await;
    let (succeeded, _, said) = sites.end();
    assert!(succeeded, "{said}");
    let own = settings.path().join("sightline");
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&own), 0o700);
    for file in std::fs::read_dir(&own).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }

    // The server names another token endpoint than the one that gave the token.
    let token = stored_token(&settings, &server.url).unwrap();
    let file = own.join("sign-ins.json");
    let stored = std::fs::read_to_string(&file).unwrap();
    let elsewhere = stored.replace("/oauth/token", "/elsewhere/token");
    assert_ne!(stored, elsewhere);
    std::fs::write(&file, elsewhere).unwrap();
    let mut report = Login::of(command(&settings, &server.url, &["report", "northmoor"]));
    report.child.kill().unwrap();
    report.child.wait().unwrap();
    let form = [("grant_type", "refresh_token"), ("refresh_token", token.as_str()), ("client_id", "sightline-cli")];
    let unused = http_client().unwrap().post(format!("{}/oauth/token", server.url)).form(&form).send().await.unwrap();
    assert_eq!(unused.status(), 200, "the token was presented");
}
