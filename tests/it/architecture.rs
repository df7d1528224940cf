//! Checks what Cargo does not: the directions inside the server, by paths in the source, and a few rules for every file.

use std::{fs, path::Path};

/// Files below `folder`, without their comments.
fn sources(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut pending = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            found.push((path.display().to_string(), code.join("\n")));
        }
    }
    assert!(!found.is_empty(), "{folder} holds no source");
    found
}

fn assert_free_of(folder: &str, forbidden: &[&str], why: &str) {
    for (path, code) in sources(folder) {
        for word in forbidden {
            assert!(!code.contains(word), "{path} names `{word}`: {why}");
        }
    }
}

#[test]
fn services_know_no_http() {
    let forbidden = ["poem", "handlers::", "http::", "web::", "pages::", "admission::", "mcp::"];
    assert_free_of("src/services", &forbidden, "REST, share pages and tools share the services");
}

#[test]
fn admission_serves_every_surface() {
    assert_free_of(
        "src/admission",
        &["poem", "handlers::", "crate::http", "web::"],
        "tools are admitted as requests are",
    );
}

#[test]
fn handlers_reach_the_database_through_services() {
    for folder in ["handlers", "web", "mcp"] {
        assert_free_of(&format!("src/{folder}"), &["use entity::", " entity::"], "handlers translate");
    }
}

#[test]
fn tools_call_operations_and_nothing_beside_them() {
    let forbidden = ["handlers::", "store::", "admission::", "search_engine::", "seo::"];
    assert_free_of("src/mcp", &forbidden, "a tool has the rights of the operation that it calls");
    for folder in ["handlers", "http", "web"] {
        assert_free_of(&format!("src/{folder}"), &["mcp::"], "tools rest on the operations");
    }
}

#[test]
fn only_what_starts_a_service_knows_the_simulator_and_the_embedded_issuer() {
    // The settings hold faults and choices of the simulator.
    assert_free_of("src/config", &["use issuer::", "(issuer::"], "a setting is read before there is an issuer");
    for folder in ["admission", "handlers", "http", "mcp", "services", "web"] {
        let forbidden = ["simulator::", "use issuer::", "(issuer::"];
        assert_free_of(&format!("src/{folder}"), &forbidden, "they are reached over HTTP, like the real ones");
    }
}

#[test]
fn modules_that_run_on_sqlite_alone_are_there_and_say_why() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let list = fs::read_to_string(folder.join("sqlite_alone.txt")).unwrap();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let (module, why) = line.split_once(' ').unwrap();
        let path = folder.join(module.replace("::", "/"));
        assert!(path.is_dir() || path.with_extension("rs").is_file(), "{module}");
        assert!(!why.trim().is_empty(), "{module}");
    }
}

/// The rsa crate is vulnerable to timing attacks when it signs. `deny.toml` tolerates it because it only verifies here: `linked.rs`.
#[test]
fn private_keys_are_used_by_one_library() {
    let forbidden = ["PrivateSigningKey", "rsa::RsaPrivateKey", "use rsa"];
    for folder in ["src", "crates"] {
        assert_free_of(folder, &forbidden, "aws-lc-rs signs, the rsa crate verifies ID tokens");
    }
}

/// `sightline secrets rotate` seals every kept value again (`src/app/key_rotation.rs`). A new place needs its line there. A cookie
/// needs none: it lives for minutes, or makes a known browser known. Nor does what replicas share: with another key they use other names.
#[test]
fn what_is_sealed_is_sealed_again_when_the_key_is_replaced() {
    let kept = [
        "issuer/src/keys/rotation.rs",
        "identity/src/departures.rs",
        "services/integrations/store.rs",
        "services/privacy/pending.rs",
        "services/replays/mod.rs",
        "services/search_accounts/mod.rs",
        "services/sharing.rs",
    ];
    let known = kept
        .into_iter()
        .chain(["common/src/secrets.rs", "identity/src/cookie.rs", "replicas/src/sealed.rs"])
        .collect::<Vec<_>>();
    for (path, code) in ["src", "crates"].into_iter().flat_map(sources) {
        let code = code.split("#[cfg(test)]").next().unwrap();
        let is_test = path.contains("/tests/");
        if code.contains(".seal(") && !is_test {
            assert!(known.iter().any(|place| path.ends_with(place)), "{path} seals a value that is not sealed again");
        }
    }
}

/// docs/SECURITY.md names a test for each defence, docs/PRIVACY.md one for each thing that is kept, and docs/WORLD.md one for each report.
/// Renaming a test requires a change of the page.
#[test]
fn every_test_that_the_pages_name_is_there() {
    let code: Vec<String> =
        ["src", "crates", "api", "tests"].into_iter().flat_map(sources).map(|(_, code)| code).collect();
    for (page, heading, fewest) in
        [("docs/SECURITY.md", "| attack", 40), ("docs/PRIVACY.md", "| what", 15), ("docs/WORLD.md", "| reported", 25)]
    {
        let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
        let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with(heading));
        let rows = rows.filter(|line| !line.starts_with("| ---"));
        let named: Vec<&str> =
            rows.filter_map(|row| row.rsplit('|').nth(1)).flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
        assert!(named.len() >= fewest, "{named:?}");
        for name in named.into_iter().filter(|name| !name.starts_with("make ")) {
            assert!(code.iter().any(|code| code.contains(&format!("fn {name}("))), "no test is called {name}");
        }
    }
}
