//! Tests of browser sign-in: attempts, cookies, and the resulting requests to the issuer.

use super::{
    Answer, TestIssuer,
    browser::{ANN, Browser, PASSWORD},
};
use crate::support::cookies::cookie;

/// A browser that was sent to the issuer: its attempt cookie and the URL.
struct Leaving {
    cookie: String,
    location: String,
}

impl TestIssuer {
    async fn leave(&self) -> Leaving {
        let leaving = self.get("/auth/login?login_hint=editor").await;
        Leaving {
            cookie: cookie(&leaving.headers, "sightline_attempt"),
            location: leaving.header("location").to_owned(),
        }
    }

    /// Signs in a browser that also presents `session`.
    async fn browser(&self, session: &str) -> String {
        let leaving = self.leave().await;
        let back = Answer::of(self.http.get(&leaving.location)).await;
        let cookies = format!("{}; {session}", leaving.cookie);
        let done = Answer::of(self.http.get(back.header("location")).header("cookie", cookies)).await;
        assert_eq!(done.status, 303, "{}", done.body);
        cookie(&done.headers, "sightline_session")
    }

    async fn with_session(&self, session: &str) -> u16 {
        Answer::of(self.http.get(format!("{}/api", self.base)).header("cookie", session)).await.status
    }

    async fn come_back(&self, leaving: &Leaving, query: &[(&str, &str)]) -> Answer {
        let callback = self.http.get(format!("{}/auth/callback", self.base));
        Answer::of(callback.query(query).header("cookie", &leaving.cookie)).await
    }
}

fn state(leaving: &Leaving) -> String {
    let address = url::Url::parse(&leaving.location).unwrap();
    address.query_pairs().find(|(name, _)| name == "state").unwrap().1.into_owned()
}

/// Two cookies of one name: another service of the host has set the first, for a longer path.
fn twice(cookie: &str) -> String {
    let (name, _) = cookie.split_once('=').unwrap();
    format!("{name}=of-another-service; {cookie}")
}

#[tokio::test]
async fn a_cookie_of_the_same_name_that_another_service_set_stops_no_sign_in() {
    let issuer = TestIssuer::start().await;
    let leaving = issuer.leave().await;
    let back = Answer::of(issuer.http.get(&leaving.location)).await;
    let attempt = twice(&leaving.cookie);
    let done = Answer::of(issuer.http.get(back.header("location")).header("cookie", attempt)).await;
    assert_eq!(done.status, 303, "{}", done.body);
    let corp = TestIssuer::without_demo_people().await;
    let token = corp.operator().add(ANN, None).await.unwrap().token;
    let browser = Browser::new(&corp);
    browser.set_password(&token, PASSWORD).await;
    assert_eq!(browser.sign_in(ANN, PASSWORD).await.status, 303);
    let signed_in = twice(&format!("{}={}", corp.host_cookie("sightline_issuer"), browser.cookie("sightline_issuer")));
    let leaving = browser.get("/auth/login").await;
    let answer = Answer::of(corp.http.get(leaving.header("location")).header("cookie", signed_in)).await;
    assert!(answer.status == 303 && answer.header("location").contains("code="), "{}", answer.body);
}

#[tokio::test]
async fn an_attempt_is_spent_by_its_first_callback() {
    let issuer = TestIssuer::start().await;
    issuer.browser("").await;
    let (tokens, key_sets) = (issuer.served("/oauth/token"), issuer.served("/oauth/jwks"));
    let leaving = issuer.leave().await;
    let state = state(&leaving);
    let first = issuer.come_back(&leaving, &[("code", "junk"), ("state", &state)]).await;
    assert_eq!(first.status, 502);
    assert!(cookie(&first.headers, "sightline_attempt").ends_with('='), "it is taken from the browser");
    for _ in 0..5 {
        let again = issuer.come_back(&leaving, &[("code", "junk"), ("state", &state)]).await;
        assert_eq!(again.status, 400, "{}", again.body);
    }
    assert_eq!(issuer.served("/oauth/token"), tokens + 1, "one question to the issuer for one attempt");
    assert_eq!(issuer.served("/oauth/jwks"), key_sets);
}

#[tokio::test]
async fn a_callback_of_another_attempt_spends_nothing() {
    let issuer = TestIssuer::start().await;
    let leaving = issuer.leave().await;
    let foreign = issuer.come_back(&leaving, &[("code", "junk"), ("state", "foreign")]).await;
    assert_eq!(foreign.status, 400);
    assert!(foreign.headers.get("set-cookie").is_none(), "the attempt under way keeps its cookie");
    let back = Answer::of(issuer.http.get(&leaving.location)).await;
    let done = Answer::of(issuer.http.get(back.header("location")).header("cookie", &leaving.cookie)).await;
    assert_eq!(done.status, 303, "{}", done.body);
}

#[tokio::test]
async fn sign_ins_that_two_tabs_begin_both_end_in_any_order() {
    let issuer = TestIssuer::start().await;
    for first in [0, 1] {
        // Both tabs open at once, so neither request has a cookie.
        let tabs = [issuer.leave().await, issuer.leave().await];
        let jar = tabs.each_ref().map(|tab| tab.cookie.as_str()).join("; ");
        for tab in [&tabs[first], &tabs[1 - first]] {
            let back = Answer::of(issuer.http.get(&tab.location)).await;
            let done = Answer::of(issuer.http.get(back.header("location")).header("cookie", &jar)).await;
            assert_eq!(done.status, 303, "{}", done.body);
        }
    }
}

#[tokio::test]
async fn the_oldest_attempts_of_a_browser_make_room_for_new_ones() {
    let issuer = TestIssuer::start().await;
    let mut jar: Vec<(String, String)> = Vec::new();
    for _ in 0..40 {
        let sent = jar.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ");
        let request = issuer.http.get(format!("{}/auth/login?return_to=/{}", issuer.base, "x".repeat(300)));
        let leaving = Answer::of(request.header("cookie", sent)).await;
        for line in leaving.headers.get_all("set-cookie") {
            let (name, value) = line.to_str().unwrap().split(';').next().unwrap().split_once('=').unwrap();
            jar.retain(|(kept, _)| kept != name);
            jar.extend(Some((name.to_owned(), value.to_owned())).filter(|(_, value)| !value.is_empty()));
        }
    }
    let bytes: usize = jar.iter().map(|(_, value)| value.len()).sum();
    assert!(jar.len() > 2 && bytes <= 4_000, "{} cookies, {bytes} bytes", jar.len());
}

#[tokio::test]
async fn forms_of_two_tabs_that_opened_at_once_are_both_taken() {
    let issuer = TestIssuer::start().await;
    let client = issuer.client().await;
    let path = super::browser::authorize_path(&client, &[("login_hint", "")]);
    let [first, second] = [issuer.get(&path).await, issuer.get(&path).await];
    let kept = cookie(&second.headers, "sightline_sign_in");
    let form = [("csrf", super::browser::hidden(&first, "csrf")), ("decision", "owner".to_owned())];
    for (site, taken) in
        [(Some("same-origin"), true), (Some("same-site"), false), (Some("cross-site"), false), (None, false)]
    {
        let mut request = issuer.http.post(format!("{}{path}", issuer.base)).header("cookie", &kept).form(&form);
        if let Some(site) = site {
            request = request.header("sec-fetch-site", site);
        }
        let answer = Answer::of(request).await;
        assert_eq!(answer.body.contains("has expired"), !taken, "{site:?}: {} {}", answer.status, answer.body);
    }
}

#[tokio::test]
async fn a_cancelled_sign_in_takes_its_attempt_with_it() {
    let issuer = TestIssuer::start().await;
    let leaving = issuer.leave().await;
    let state = state(&leaving);
    let refused = issuer.come_back(&leaving, &[("error", "access_denied"), ("state", &state)]).await;
    assert!(refused.status == 403 && cookie(&refused.headers, "sightline_attempt").ends_with('='));
    assert_eq!(issuer.served("/oauth/token"), 0);
}

#[tokio::test]
async fn the_keys_are_read_once_for_many_sign_ins() {
    let issuer = TestIssuer::start().await;
    for _ in 0..3 {
        issuer.browser("").await;
    }
    assert_eq!(issuer.served("/oauth/jwks"), 1);
}

#[tokio::test]
async fn signing_in_again_ends_the_former_session_of_the_browser() {
    let issuer = TestIssuer::start().await;
    let (first, elsewhere) = (issuer.browser("").await, issuer.browser("").await);
    let second = issuer.browser(&first).await;
    assert_eq!(issuer.with_session(&first).await, 401);
    assert_eq!((issuer.with_session(&second).await, issuer.with_session(&elsewhere).await), (200, 200));
}

#[tokio::test]
async fn a_foreign_name_that_points_here_signs_nobody_in() {
    let issuer = TestIssuer::start().await;
    let port = issuer.base.rsplit(':').next().unwrap().to_owned();
    let authorize = "/oauth/authorize?client_id=sightline-cli&redirect_uri=http://127.0.0.1/callback";
    let ask = async |path: &str, host: &str| {
        Answer::of(issuer.http.get(format!("{}{path}", issuer.base)).header("host", host)).await
    };
    for path in [authorize, "/auth/login", "/auth/callback"] {
        for host in ["rebind.attacker.example", "127.0.0.1.attacker.example", "127.0.0.1"] {
            for host in [host.to_owned(), format!("{host}:{port}")] {
                if host == format!("127.0.0.1:{port}") {
                    continue;
                }
                let refused = ask(path, &host).await;
                assert_eq!(refused.status, 421, "{host} {path}: {}", refused.body);
                assert!(refused.body.contains(&issuer.base), "it says the address to use: {}", refused.body);
                assert!(refused.headers.get("location").is_none());
            }
        }
        for host in ["127.0.0.1", "localhost", "LocalHost", "[::1]"] {
            assert_ne!(ask(path, &format!("{host}:{port}")).await.status, 421, "{host} {path}");
        }
    }
}
