//! The files in deploy/ and the page that explains them name settings and the version of the program.

use std::{fs, path::Path};

use sightline::config;
use tempfile::TempDir;

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// The files that are written by hand for one version, with their texts.
fn files() -> Vec<(String, String)> {
    let mut found = vec!["docs/OPERATING.md".to_owned(), "deploy/sightline.service".to_owned()];
    for folder in ["deploy/compose", "deploy/kubernetes", "deploy/image"] {
        for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap() {
            found.push(format!("{folder}/{}", entry.unwrap().file_name().to_str().unwrap()));
        }
    }
    found.into_iter().map(|file| (file.clone(), read(&file))).collect()
}

/// What follows each `start` in `text`, to the first character that is no part of a version.
fn versions<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let rests = text.split(start).skip(1).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    rests.map(|rest| rest.split(|c| !is_part(c)).next().unwrap_or_default().trim_end_matches('.')).collect()
}

#[test]
fn the_example_settings_are_allowed_as_they_stand_and_all_together() {
    let text = read("deploy/sightline.example.toml");
    let is_name = |c: char| c.is_ascii_lowercase();
    let set = |line: &str| line.strip_prefix('#').filter(|rest| rest.starts_with(is_name)).map(str::to_owned);
    let examples = text.lines().filter_map(set).count();
    assert!(examples > 15, "{examples}");
    let all: Vec<String> = text.lines().map(|line| set(line).unwrap_or_else(|| line.to_owned())).collect();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("sightline.toml");
    for text in [text, all.join("\n")] {
        fs::write(&file, &text).unwrap();
        let read = config::load(&file, []).unwrap_or_else(|refusal| panic!("{refusal}"));
        assert_eq!(read.data_dir, "/var/lib/sightline");
    }
}

#[test]
fn deployments_name_settings_that_there_are() {
    let (page, mut named) = (config::page(), 0);
    for (file, text) in files() {
        let words = text.split(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'));
        for word in words.filter(|word| word.starts_with("SIGHTLINE_")) {
            // A page for people may name a variable that is no setting, where it says so.
            let is_told = word == "SIGHTLINE_PORT" && file == "docs/OPERATING.md";
            assert!(is_told || page.contains(&format!("| `{word}` |")), "{file}: there is no setting {word}");
            named += 1;
        }
    }
    assert!(named > 30, "{named}");
}

#[test]
fn deployments_name_the_version_of_the_program() {
    let mut named = 0;
    for (file, text) in files() {
        for start in ["localhost/sightline:", "sightline-", "sightline_"] {
            for version in versions(&text, start) {
                assert_eq!(version, env!("CARGO_PKG_VERSION"), "{file}");
                named += 1;
            }
        }
    }
    assert!(named > 8, "{named}");
}

/// The files of a folder in deploy/, as a program reads them: without comments.
fn without_comments(folder: &str) -> Vec<(String, String)> {
    let is_said = |line: &&str| !line.trim_start().starts_with('#');
    let of_folder = files().into_iter().filter(|(file, _)| file.starts_with(folder) && !file.ends_with("Caddyfile"));
    of_folder.map(|(file, text)| (file, text.lines().filter(is_said).collect::<Vec<_>>().join("\n"))).collect()
}

/// The only object of its kind and name in a file of Kubernetes.
#[track_caller]
fn object<'a>(text: &'a str, kind: &str, name: &str) -> &'a str {
    let is_it = |one: &&str| one.contains(&format!("kind: {kind}\nmetadata:\n  name: {name}\n"));
    let found: Vec<&str> = text.split("\n---").filter(is_it).collect();
    assert_eq!(found.len(), 1, "{kind} {name}");
    found[0]
}

/// The part of a list of rules that lets one kind of pod use one port.
fn rule(direction: &str, pods: &str, port: u16) -> String {
    let peer = match pods.strip_prefix("namespace ") {
        Some(name) => format!("namespaceSelector:\n            matchLabels: {{kubernetes.io/metadata.name: {name}}}"),
        None => format!("podSelector:\n            matchLabels: {{app: {pods}}}"),
    };
    format!("    - {direction}:\n        - {peer}\n      ports:\n        - {{protocol: TCP, port: {port}}}")
}

/// `tools/dist/deployments.py` reads the same files as YAML, where a release is made.
#[test]
fn cluster_files_keep_pods_apart() {
    let files = without_comments("deploy/kubernetes");
    assert_eq!(files.len(), 2);
    for (file, text) in &files {
        let policy = object(text, "NetworkPolicy", "sightline");
        assert!(policy.contains("matchLabels: {app: sightline}\n  policyTypes: [Ingress, Egress]"), "{file}");
        let (ingress, egress) = policy.split_once("  ingress:\n").unwrap().1.split_once("  egress:\n").unwrap();
        let allowed = [rule("from", "namespace ingress-nginx", 8080), rule("from", "namespace monitoring", 9464)];
        assert_eq!(ingress.trim_end(), allowed.join("\n"), "{file}: nothing else is let in");
        assert!(!egress.contains("port: 80}") && egress.contains("port: 443}"), "{file}");
        // The addresses of a cluster are known to its operator alone.
        assert!(!text.contains("TRUSTED_PROXIES"), "{file}: a trusted address has no default");
        assert!(text.contains("- configMapRef: {name: sightline-proxies}\n"), "{file}: it is needed");
        let head = read(file);
        assert!(
            head.contains("create configmap sightline-proxies --from-literal=SIGHTLINE_RATE_LIMIT__TRUSTED_PROXIES=")
        );
    }
    let (_, several) = files.iter().find(|(file, _)| file.ends_with("several.yaml")).unwrap();
    let egress = object(several, "NetworkPolicy", "sightline").split_once("  egress:\n").unwrap().1;
    for (pods, port) in [("sightline-postgres", 5432), ("sightline-redis", 6379)] {
        assert!(egress.contains(&rule("to", pods, port)), "{pods}");
        let policy = object(several, "NetworkPolicy", pods);
        assert!(policy.contains(&format!("matchLabels: {{app: {pods}}}\n  policyTypes: [Ingress, Egress]")), "{pods}");
        let (_, ingress) = policy.split_once("  ingress:\n").unwrap();
        assert_eq!(
            ingress.trim_end(),
            rule("from", "sightline", port),
            "{pods}: nothing else is let in, and it reaches nothing"
        );
    }
    let redis = object(several, "Deployment", "sightline-redis");
    assert!(
        redis.contains("\n              requirepass $REDISCLI_AUTH\n")
            && !redis.contains("--requirepass")
            && redis.contains("- secretRef: {name: sightline-redis}")
    );
    assert!(!object(several, "ConfigMap", "sightline").contains("REDIS__URL"), "the URL holds the password");
    let head = read("deploy/kubernetes/several.yaml");
    assert!(head.contains("secret generic sightline-redis --from-literal=REDISCLI_AUTH=$REDIS_PASSWORD\n"));
    assert!(head.contains("SIGHTLINE_REDIS__URL=redis://:$REDIS_PASSWORD@sightline-redis:6379 "));
}

/// The part of a Compose file about a service.
#[track_caller]
fn service<'a>(text: &'a str, name: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("\n  {name}:\n")).unwrap();
    rest.split("\n\n").next().unwrap()
}

#[test]
fn compose_files_publish_the_proxy_alone_and_trust_it_alone() {
    for (file, text) in without_comments("deploy/compose") {
        assert_eq!(text.matches("    ports:").count(), 1, "{file}: one service is published");
        let (service_, proxy) = (service(&text, "sightline"), service(&text, "proxy"));
        assert!(proxy.contains("    ports: [\"80:80\", \"443:443\"]"), "{file}");
        let trusted = versions(service_, "SIGHTLINE_RATE_LIMIT__TRUSTED_PROXIES: ");
        assert_eq!(trusted, versions(proxy, "ipv4_address: "), "{file}: a range holds containers of others");
        assert!(
            trusted.len() == 1 && text.contains("ip_range: 172.30.80.128/25") && trusted[0] == "172.30.80.2",
            "{file}"
        );
        assert!(!service_.contains("METRICS__LISTEN"), "{file}");
        let Some((_, redis)) = text.split_once("\n  redis:\n") else { continue };
        // Compose makes one `$` of two, so that the shell reads the variable, and the password is no argument.
        assert!(
            redis.contains("\n        requirepass $$REDIS_PASSWORD\n") && !redis.contains("--requirepass"),
            "{file}"
        );
        assert!(
            service_.contains("SIGHTLINE_REDIS__URL: redis://:${REDIS_PASSWORD:?letters and digits}@redis:6379"),
            "{file}"
        );
        assert!(text.contains("\n  data:\n    internal: true"), "{file}");
        for name in ["postgres", "redis"] {
            assert!(service(&text, name).contains("    networks: [data]"), "{file}: {name}");
        }
    }
}
