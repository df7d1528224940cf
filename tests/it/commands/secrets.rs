//! Tests that no message of a command holds a secret, also where the setting that holds it is wrong.

use tempfile::TempDir;

use super::{run, text};

const SECRET: &str = "hunter2";

const COMMANDS: [&str; 2] = ["check", "migrate"];

/// Fails if a command with these settings succeeds, or prints the secret.
fn is_refused_without_it(command: &str, settings: &[(&str, &str)], file: &str) {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("sightline.toml"), file).unwrap();
    let output = run(folder.path(), &[command], settings);
    let said = text(&[output.stdout, output.stderr].concat());
    assert!(!said.contains(SECRET) && !said.contains("hun%74er2"), "{command} {settings:?} {file}: {said}");
    // Nothing but the check connects to other servers.
    let is_refused = !output.status.success() || command == "migrate";
    assert!(is_refused && !said.is_empty(), "{command} {settings:?} {file}: {said}");
}

#[test]
fn no_message_holds_the_secret_of_a_wrong_setting() {
    const FROM: (&str, &str) = ("MAIL__FROM", "sightline@search.example.org");
    let cases: [&[(&str, &str)]; 24] = [
        &[("DATABASE__URL", "mysql://user:hunter2@db.example/name")],
        &[("DATABASE__URL", "user:hunter2@db.example")],
        &[("DATABASE__URL", "postgres://user:hunter2@127.0.0.1:9/name")],
        &[("DATABASE__URL", "postgres://user:hun%74er2@127.0.0.1:9/name?sslmode=nonsense")],
        &[("REDIS__URL", "redis//:hunter2@cache.example")],
        &[("REDIS__URL", "http://:hunter2@cache.example")],
        &[("REDIS__URL", "redis://:hunter2@127.0.0.1:9")],
        &[("REDIS__URL", "redis://:hunter2@cache.example:port")],
        &[("REDIS__CACHE_URL", "redis://:hunter2@cache.example")],
        &[("MAIL__SMTP_URL", "https://user:hunter2@mail.example")],
        &[("MAIL__SMTP_URL", "smtps://user:hunter2@mail.example:port"), FROM],
        &[("MAIL__SMTP_URL", "smtps://user:hunter2@mail.example")],
        &[("MAIL__SMTP_URL", "smtp://user:hunter2@127.0.0.1:9"), FROM],
        &[("SECRETS__KEY", "hunter2")],
        &[("SECRETS__PREVIOUS_KEY", "hunter2")],
        &[("SEARCH_ENGINE__CLIENT_SECRET", "hunter2")],
        &[("IDENTITY__SIGN_IN__CLIENT_SECRET", "hunter2")],
        &[("IDENTITY__INTROSPECTION__CLIENT_SECRET", "hunter2")],
        &[("SEARCH_ENGINE__TOKEN_URL", "https://user:hunter2@engine.example/token")],
        &[("SEO__PROVIDER_A__URL", "https://user:hunter2@a.example")],
        &[("IDENTITY__ISSUER", "https://user:hunter2@id.example")],
        &[("BILLING__CHECKOUT_URL", "https://user:hunter2@pay.example")],
        &[("REDIS__PASSWORD", "hunter2")],
        &[("SECRET__KEY", "hunter2")],
    ];
    // Some wait for a server that is not there.
    std::thread::scope(|scope| {
        for (command, settings) in COMMANDS.into_iter().flat_map(|command| cases.map(|settings| (command, settings))) {
            scope.spawn(move || is_refused_without_it(command, settings, ""));
        }
    });
    for file in [
        "[secrets]\nkey = \"hunter2\"\n",
        "[secrets]\nkey = hunter2\n",
        "[secrets]\nkey = \"hunter2\n",
        "[database]\nurl = \"postgres://user:hunter2@db.example/name\n",
        "[redis]\nurl = [\"redis://:hunter2@cache.example\"]\n",
        "[identity]\nclient_secret = { text = \"hunter2\" }\n",
        "[redis]\nurll = \"redis://:hunter2@cache.example\"\n",
    ] {
        for command in COMMANDS {
            is_refused_without_it(command, &[], file);
        }
    }
}
