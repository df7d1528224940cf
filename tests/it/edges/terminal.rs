//! Tests of what a command prints of texts that others wrote.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    thread,
};

use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use crate::{
    commands::sightline,
    logins::{
        command,
        other_servers::{JSON, server},
    },
};

/// What a terminal obeys: a screen that is cleared, a title, the clipboard, 8-bit controls, marks of direction.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{1b}]52;c;b3duZWQ=\u{7}\u{9b}2J\u{202e}\u{2066}\u{200f}\u{2028}\r";

/// Answers a request as a Sightline server would whose texts are all `text`, cut to the lengths that they may have.
fn answer(mut stream: TcpStream, path: &str, own: &str, text: &str) {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let up_to = |most: usize| text.chars().take(most).collect::<String>();
    let numbers = json!({ "clicks": 1, "impressions": 2, "ctr": 0.5, "position": 3.0 });
    let window = json!({ "startDate": "2026-11-01", "endDate": "2026-11-02" });
    let with = |mut object: Value| {
        object.as_object_mut().unwrap().extend(numbers.as_object().unwrap().clone());
        object
    };
    let gone = json!({ "key": "gone", "clicks": null, "impressions": null, "ctr": null, "position": null, "previous": numbers,
                       "presence": "lost" });
    let body = match path {
        "/.well-known/oauth-protected-resource" => json!({ "resource": own, "authorization_servers": [own] }),
        "/.well-known/oauth-authorization-server" => json!({
            "issuer": own, "authorization_endpoint": format!("{own}/authorize"), "token_endpoint": format!("{own}/token"),
        }),
        "/authorize" => {
            let state = query.split('&').find_map(|pair| pair.strip_prefix("state=")).unwrap();
            let to = format!("http://127.0.0.1/callback?code=x&state={state}");
            let _ = write!(stream, "HTTP/1.1 303 See Other\r\nconnection: close\r\nlocation: {to}\r\n\r\n");
            return;
        }
        "/token" => json!({ "access_token": "AAA" }),
        "/api/properties" => json!({
            "data": [
                { "id": Uuid::from_u128(1), "siteUrl": up_to(2048), "name": up_to(2048), "role": "viewer", "favorite": false,
                  "hidden": false, "tagIds": [], "access": "lost", "hint": up_to(500) },
                { "id": Uuid::from_u128(2), "siteUrl": "second.example", "name": "second.example", "role": "owner",
                  "favorite": false, "hidden": false, "tagIds": [], "access": "ok",
                  "headline": { "window": window, "current": numbers, "series": [], "cachedAt": "2026-11-03T12:00:00Z" } },
            ],
            "meta": { "hasMore": false },
        }),
        _ if path.starts_with("/api/properties/") => json!({
            "data": {
                "totals": numbers,
                "series": [with(json!({ "date": "2026-11-01" }))],
                "tables": {
                    "queries": [with(json!({ "key": text })), gone],
                    "pages": [with(json!({ "key": text }))],
                },
            },
            "meta": {
                "window": window,
                "compareWindow": { "startDate": "2026-10-30", "endDate": "2026-10-31" },
                "coverage": {
                    "queries": { "available": false, "reason": up_to(200) },
                    "pages": { "available": false, "reason": up_to(200) },
                },
                "warnings": [{ "code": "of_a_newer_server", "text": text }],
            },
        }),
        _ => json!({}),
    };
    let _ = write!(stream, "{JSON}{body}");
}

/// Runs a command at a server whose texts are all `text`. Returns its lines.
fn printed(text: &str, arguments: &[&str]) -> Vec<String> {
    let (settings, text) = (TempDir::new().unwrap(), text.to_owned());
    let hostile = server(move |stream, path, own| answer(stream, path, own, &text));
    let output = command(&settings, &hostile, &[arguments, &["--as", "owner"]].concat()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

const COMMANDS: [&[&str]; 5] = [
    &["sites"],
    &["report", "second"],
    &["report", "second", "--csv"],
    &["sites", "--json"],
    &["report", "second", "--json"],
];

#[track_caller]
fn assert_plain(lines: &[String], case: &str) {
    for line in lines {
        let obeyed = |c: char| c.is_control() || "\u{202e}\u{2066}\u{200f}\u{2028}".contains(c);
        assert!(!line.contains(obeyed), "{case}: {line:?}");
    }
}

#[test]
fn a_long_name_ends_the_command_in_a_panic() {
    let long = "x".repeat(70_000);
    for arguments in &COMMANDS[..2] {
        let lines = printed(&long, arguments);
        let cells = lines
            .iter()
            .filter(|line| line.contains("xxx") && !line.starts_with("Note"))
            .map(|line| line.chars().count());
        assert!(cells.clone().all(|length| length <= 700), "{arguments:?}: {:?}", cells.collect::<Vec<_>>());
    }
}

#[test]
fn a_row_that_only_the_window_before_has_ends_the_command() {
    let lines = printed("x", &["report", "second"]);
    let row = ["gone", "–", "lost", "–", "–", "–"];
    assert!(lines.iter().any(|line| line.split_whitespace().eq(row)), "{lines:#?}");
}

#[test]
fn a_line_break_in_a_name_forges_rows() {
    let (forged, plain) = ("x\nforged owner 999,999", "x");
    for arguments in COMMANDS {
        let (lines, expected) = (printed(forged, arguments), printed(plain, arguments));
        assert_eq!(lines.len(), expected.len(), "{arguments:?}: {lines:#?}");
        assert!(lines.iter().all(|line| !line.trim_start().starts_with("forged")), "{arguments:?}: {lines:#?}");
    }
    // A site that nobody means is in the message about those that there are.
    let (settings, forged) = (TempDir::new().unwrap(), forged.to_owned());
    let hostile = server(move |stream, path, own| answer(stream, path, own, &forged));
    let refused = command(&settings, &hostile, &["report", "nowhere", "--as", "owner"]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.lines().count() == 1 && said.contains("there are x%0Aforged"), "{said}");
}

#[test]
fn servers_write_nothing_that_a_terminal_obeys() {
    for arguments in COMMANDS {
        assert_plain(&printed(HOSTILE, arguments), &format!("{arguments:?}"));
    }
    let refusals: [fn(&str) -> Value; 2] = [
        |own| json!({ "resource": format!("{own}{HOSTILE}\nforged"), "authorization_servers": [] }),
        |own| json!({ "resource": own, "authorization_servers": [format!("http://127.0.0.1:1/{HOSTILE}\nforged")] }),
    ];
    for refusal in refusals {
        let settings = TempDir::new().unwrap();
        let hostile = server(move |mut stream, _, own| drop(write!(stream, "{JSON}{}", refusal(own))));
        for arguments in [&["sites", "--as", "owner"][..], &["login", "--device"]] {
            let refused = command(&settings, &hostile, arguments).output().unwrap();
            let said = String::from_utf8(refused.stderr).unwrap();
            assert!(!refused.status.success() && said.lines().count() == 1, "{arguments:?}: {said}");
            assert_plain(&[said.trim_end().to_owned()], &format!("{arguments:?}"));
        }
    }
}

#[test]
fn an_unknown_word_of_an_enumeration_writes_without_an_end() {
    let (settings, role) = (TempDir::new().unwrap(), HOSTILE.repeat(2_000));
    let hostile = server(move |mut stream, path, own| {
        if path.starts_with("/api/properties") {
            let site = json!({ "id": Uuid::nil(), "siteUrl": "x", "name": "x", "role": role });
            let _ = write!(stream, "{JSON}{}", json!({ "data": [site], "meta": { "hasMore": false } }));
        } else {
            answer(stream, path, own, "x");
        }
    });
    let refused = command(&settings, &hostile, &["sites", "--as", "owner"]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && refused.stdout.is_empty(), "{said}");
    assert!(said.contains("did not answer as Sightline does: ") && said.lines().count() == 1, "{said}");
    assert!(said.chars().count() < 400, "{said}");
    assert_plain(&[said.trim_end().to_owned()], "an unknown role");
}

/// Nothing listens at these addresses, so a command that asked would name another reason.
#[test]
fn the_command_sends_tokens_over_plain_http() {
    let refuses = |asked: &mut std::process::Command, address: &str| {
        let refused = asked.output().unwrap();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success() && refused.stdout.is_empty(), "{asked:?}: {said}");
        assert!(said.contains(&format!("{address} is neither https nor of this machine")), "{asked:?}: {said}");
        assert!(said.contains("by --server or base_url (SIGHTLINE_BASE_URL)"), "{asked:?}: {said}");
    };
    let settings = TempDir::new().unwrap();
    let commands: [&[&str]; 4] =
        [&["login"], &["login", "--as", "owner"], &["sites"], &["report", "northmoor", "--device"]];
    for arguments in commands {
        for address in [
            "http://vm:8080",
            "http://search.example",
            "http://192.0.2.7",
            "http://127.0.0.1.example",
            "http://[2001:db8::1]",
        ] {
            refuses(&mut command(&settings, address, arguments), address);
        }
        let listens = [("LISTEN", "192.0.2.7:8080")];
        refuses(&mut sightline(settings.path(), arguments, &listens), "http://192.0.2.7:8080");
    }
}

#[test]
fn a_server_that_is_named_with_a_path_is_refused_with_its_address() {
    let settings = TempDir::new().unwrap();
    for path in ["/mcp", "/api", "/?a=b", "/#a"] {
        let address = format!("https://search.example:8443{path}");
        let refused = command(&settings, &address, &["login"]).output().unwrap();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success(), "{path}: {said}");
        assert!(said.contains("a server has no path: name it by https://search.example:8443"), "{path}: {said}");
    }
}

/// A sign-in that an older program stored for such a server can still be removed here.
#[test]
fn logging_out_sends_no_token_over_plain_http() {
    let settings = TempDir::new().unwrap();
    let stored = settings.path().join("sightline/sign-ins.json");
    std::fs::create_dir_all(stored.parent().unwrap()).unwrap();
    let sign_in = json!({ "client": "c", "tokenEndpoint": "http://vm:8080/token", "refreshToken": "hunter2" });
    std::fs::write(&stored, json!({ "http://vm:8080": sign_in }).to_string()).unwrap();
    let left = command(&settings, "http://vm:8080", &["logout"]).output().unwrap();
    let said = String::from_utf8(left.stdout).unwrap();
    assert!(
        left.status.success() && said.contains("was removed here, but not revoked: http://vm:8080 is neither"),
        "{said}"
    );
    assert!(!std::fs::read_to_string(&stored).unwrap().contains("hunter2"));
}

/// A mail server that refuses every message in words that a terminal obeys.
fn mail_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("smtp://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let _ = stream.write_all(b"220 test\r\n");
            for line in lines.map_while(Result::ok) {
                let refused = format!("550 no {}\r\n", HOSTILE.replace('\r', ""));
                let reply = if line.starts_with("MAIL") { refused.as_str() } else { "250 ok\r\n" };
                let _ = stream.write_all(reply.as_bytes());
            }
        }
    });
    url
}

#[test]
fn a_mail_server_writes_on_the_operators_terminal() {
    let (folder, mail) = (TempDir::new().unwrap(), mail_server());
    let settings = [
        ("MAIL__SMTP_URL", mail.as_str()),
        ("MAIL__FROM", "sightline@corp.test"),
        ("BASE_URL", "http://127.0.0.1:8080"),
    ];
    let run = |arguments: &[&str]| sightline(folder.path(), arguments, &settings).output().unwrap();
    assert!(run(&["migrate"]).status.success());
    for arguments in
        [&["user", "add", "ann@corp.test", "--name", "Ann"][..], &["user", "reset", "ann@corp.test"], &["check"]]
    {
        let output = run(arguments);
        let said: Vec<String> = [output.stdout, output.stderr]
            .iter()
            .flat_map(|bytes| String::from_utf8(bytes.clone()).unwrap().lines().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        assert_plain(&said, &format!("{arguments:?}"));
        if arguments[0] == "user" {
            assert!(
                said.iter().any(|line| line.starts_with("The link could not be mailed: ") && line.contains("550")),
                "{said:?}"
            );
            assert!(said.iter().any(|line| line.contains("/account/password/set?token=")), "{said:?}");
        }
    }
}
