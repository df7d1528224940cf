//! Checks that the modules of a crate, read from the paths in the source, have no cycle. Cargo allows none between crates.
//!
//! A module and its submodules count as one if they name each other, because a parent assembles its children.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// A module's path below the crate, such as `services/access`.
type Module = String;

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

fn module_of(source: &Path, file: &Path) -> Module {
    let path = file.strip_prefix(source).unwrap().with_extension("");
    let path = if path.ends_with("mod") { path.parent().unwrap().to_owned() } else { path };
    path.display().to_string()
}

/// The code of a file, without comments and without its tests.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Every path that starts with `crate` or `super`, with braces expanded.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let inside = code[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':');
            if !inside {
                expand(&mut code[at..].chars().peekable(), &[], &mut found);
            }
        }
    }
    found
}

/// Parses one path (or tree of paths) after `before`.
fn expand(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, before: &[String], found: &mut Vec<Vec<String>>) {
    let mut path = before.to_vec();
    loop {
        while rest.next_if(|c| c.is_whitespace()).is_some() {}
        if rest.next_if_eq(&'{').is_some() {
            loop {
                expand(rest, &path, found);
                while rest.next_if(|c| c.is_whitespace()).is_some() {}
                if rest.next_if_eq(&',').is_none() {
                    rest.next_if_eq(&'}');
                    return;
                }
                while rest.next_if(|c| c.is_whitespace()).is_some() {}
                if rest.next_if_eq(&'}').is_some() {
                    return;
                }
            }
        }
        let mut name = String::new();
        while let Some(letter) = rest.next_if(|c| c.is_alphanumeric() || *c == '_' || *c == '*') {
            name.push(letter);
        }
        path.push(name);
        if rest.next_if_eq(&':').is_none() || rest.next_if_eq(&':').is_none() {
            // `as other` refers to nothing in another module.
            while rest.next_if(|c| !matches!(c, ',' | '}' | ';' | '(' | ')' | '\n')).is_some() {}
            found.push(path);
            return;
        }
    }
}

/// The module that a path in `here` refers to.
fn named(path: &[String], here: &str, known: &BTreeSet<Module>) -> Option<Module> {
    let mut at: Vec<&str> = match path.first()?.as_str() {
        "crate" => Vec::new(),
        _ => here.split('/').collect(),
    };
    let mut rest = path;
    while rest.first().is_some_and(|step| step == "super" || step == "crate") {
        if rest[0] == "super" {
            at.pop();
        }
        rest = &rest[1..];
    }
    for step in rest {
        let deeper = at.iter().copied().chain([step.as_str()]).collect::<Vec<_>>().join("/");
        if !known.contains(&deeper) {
            break;
        }
        at.push(step);
    }
    Some(at.join("/")).filter(|module| known.contains(module))
}

fn is_within(inner: &str, outer: &str) -> bool {
    inner == outer || inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
}

fn graph(source: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let all: BTreeMap<Module, PathBuf> =
        files(source).into_iter().map(|file| (module_of(source, &file), file)).collect();
    let known: BTreeSet<Module> = all.keys().cloned().collect();
    let edges = |(module, file): (&Module, &PathBuf)| {
        let to = paths(&code(file)).iter().filter_map(|path| named(path, module, &known)).collect::<BTreeSet<_>>();
        let to = to.into_iter().filter(|to| !is_within(to, module) && !is_within(module, to)).collect();
        (module.clone(), to)
    };
    all.iter().map(edges).collect()
}

/// Modules that reach themselves, each with one cycle.
fn circles(graph: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<String> {
    let way_round = |start: &Module| {
        let mut came_from: BTreeMap<&Module, &Module> = BTreeMap::new();
        let mut pending = vec![start];
        while let Some(here) = pending.pop() {
            for next in graph.get(here).into_iter().flatten() {
                if next == start {
                    let mut way = vec![here.as_str()];
                    let mut at = here;
                    while let Some(before) = came_from.get(at) {
                        way.push(before);
                        at = before;
                    }
                    way.reverse();
                    return Some(format!("{} -> {start}", way.join(" -> ")));
                }
                if !came_from.contains_key(next) {
                    came_from.insert(next, here);
                    pending.push(next);
                }
            }
        }
        None
    };
    graph.keys().filter_map(way_round).collect()
}

#[test]
fn no_module_reaches_itself() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    for source in crates.chain([root.to_owned(), root.join("api")]).map(|folder| folder.join("src")) {
        let found = circles(&graph(&source));
        assert!(found.is_empty(), "circles of modules in {}:\n{}", source.display(), found.join("\n"));
    }
}

/// The graph of the folders and files directly below `src`, without `testing`, which only tests name.
fn folders(graph: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeMap<Module, BTreeSet<Module>> {
    let folder = |module: &Module| module.split('/').next().unwrap_or_default().to_owned();
    let mut found: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (from, to) in graph {
        let others = to.iter().map(folder).filter(|to| *to != folder(from) && to != "testing");
        found.entry(folder(from)).or_default().extend(others);
    }
    found
}

#[test]
fn no_folder_of_the_server_reaches_itself() {
    let found = circles(&folders(&graph(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))));
    assert!(found.is_empty(), "circles of folders:\n{}", found.join("\n"));
}

#[test]
fn circles_are_seen() {
    let edge = |from: &str, to: &[&str]| (from.to_owned(), to.iter().map(|to| (*to).to_owned()).collect());
    let line = BTreeMap::from([edge("a", &["b", "c"]), edge("b", &["c"]), edge("c", &[])]);
    assert!(circles(&line).is_empty());
    let circle = BTreeMap::from([edge("a", &["b"]), edge("b", &["c"]), edge("c", &["b"])]);
    assert_eq!(circles(&circle), ["b -> c -> b", "c -> b -> c"]);
    let known = ["a", "a/b", "c"].map(str::to_owned).into();
    let read = |code: &str| {
        let named = paths(code).iter().filter_map(|path| named(path, "a/b", &known)).collect::<Vec<_>>();
        named.join(" ")
    };
    assert_eq!(read("use crate::{a::{self, b::X}, c};"), "a a/b c");
    assert_eq!(read("use super::super::c::Z as Other;\nlet x = super::Y + crate::c::f();"), "c c a");
}
