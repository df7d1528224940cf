//! A strict CSV parser by RFC 4180, independent of the code that writes CSV.

use crate::support::actor::Answer;

/// A file: its header row and the data rows.
pub struct Sheet {
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Sheet {
    /// Parses the body of a `200`. Fails the test if it is not valid CSV, or if the headers are not a download's.
    #[track_caller]
    pub fn of(answer: &Answer) -> Self {
        assert_eq!(answer.header("content-type"), "text/csv; charset=utf-8; header=present");
        assert_eq!(answer.header("etag"), "", "exports have no tag");
        let text = std::str::from_utf8(&answer.bytes).unwrap();
        let mut rows = read(text);
        assert!(!rows.is_empty(), "not even a header row");
        let header = rows.remove(0);
        assert!(rows.iter().all(|row| row.len() == header.len()), "rows of several lengths");
        Self { header, rows }
    }
}

/// The file name of a download. It is plain ASCII and ends in `.csv`.
#[track_caller]
pub fn file_name(answer: &Answer) -> String {
    let said = answer.header("content-disposition");
    let name = said.strip_prefix("attachment; filename=\"").and_then(|rest| rest.strip_suffix('"'));
    let name = name.unwrap_or_else(|| panic!("no file name in {said}")).to_owned();
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    assert!(name.chars().all(plain) && !name.starts_with('.'), "{name}");
    assert_eq!(std::path::Path::new(&name).extension().and_then(|end| end.to_str()), Some("csv"), "{name}");
    name
}

/// Prefixes text with an apostrophe if a spreadsheet would run it as a formula.
pub fn defused(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text.to_owned() }
}

/// The rows of a file. Every line, including the last, ends in CRLF. A cell with a comma, a quote or a line break is quoted.
#[track_caller]
pub fn read(text: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut row = Vec::new();
        loop {
            let (cell, after) = cell(rest);
            row.push(cell);
            if let Some(after) = after.strip_prefix(',') {
                rest = after;
            } else if let Some(after) = after.strip_prefix("\r\n") {
                rest = after;
                break;
            } else {
                panic!("neither comma nor CRLF after a cell: {after:.40}");
            }
        }
        rows.push(row);
    }
    rows
}

/// The first cell of `text`, and the rest.
#[track_caller]
fn cell(text: &str) -> (String, &str) {
    let Some(mut rest) = text.strip_prefix('"') else {
        let end = text.find([',', '\r', '\n', '"']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut cell = String::new();
    loop {
        let (before, after) = rest.split_once('"').unwrap();
        cell.push_str(before);
        match after.strip_prefix('"') {
            Some(after) => {
                cell.push('"');
                rest = after;
            }
            None => return (cell, after),
        }
    }
}

#[test]
fn the_reader_reads_what_the_rfc_shows() {
    let rows = read("aaa,\"b \r\nbb\",ccc\r\n\"a\"\"x\"\"\",,\"\"\r\n");
    assert_eq!(rows, [["aaa", "b \r\nbb", "ccc"], ["a\"x\"", "", ""]]);
    for broken in ["a,b\n", "a,b", "a\"b\r\n", "\"a\"b\r\n"] {
        assert!(std::panic::catch_unwind(|| read(broken)).is_err(), "{broken:?}");
    }
}
