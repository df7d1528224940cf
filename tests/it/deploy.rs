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
