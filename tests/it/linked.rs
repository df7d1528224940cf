//! Tests of the linked program: the vulnerable code of dependencies with known holes is not in it.
//!
//! `deny.toml` ignores their advisories for this reason. The program of a test run is linked as a release is: what nobody calls is left out.

#![cfg(target_os = "linux")]

use std::process::Command;

use regex::Regex;

/// The names of the functions in the program.
fn functions() -> Vec<String> {
    // `nm` comes with the linker.
    let listed = Command::new("nm").args(["--demangle", env!("CARGO_BIN_EXE_sightline")]).output().unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    text.lines().filter_map(|line| line.get(19..)).map(str::to_owned).collect()
}

/// The functions that name something of a crate.
fn of<'f>(functions: &'f [String], name: &str) -> Vec<&'f str> {
    let path = Regex::new(&format!(r"(^|[^\w:]){name}::")).unwrap();
    functions.iter().map(String::as_str).filter(|function| path.is_match(function)).collect()
}

#[test]
fn no_vulnerable_code_of_a_dependency_is_linked() {
    let functions = functions();
    assert!(!of(&functions, "poem_openapi").is_empty(), "the names are read, names of libraries included");
    assert_eq!(of(&functions, "quick_xml"), [] as [&str; 0], "RUSTSEC-2026-0194 and -0195: its parser of XML");

    let rsa = of(&functions, "rsa");
    assert_eq!(rsa, [] as [&str; 0], "RUSTSEC-2023-0071: the timing of operations with a private key");
}
