//! The values of conditions on queries and pages, as the search engine writes them: pasted values hold line breaks, characters that nobody
//! sees and double blanks, which no query and no page has.

use api::models::{self, FilterCondition, FilterOperator as Operator};
use common::plain_text::clean;
use unicode_normalization::{UnicodeNormalization as _, is_nfc};

/// Blanks that do not break a line. Clipboards and spreadsheets write them.
const UNBROKEN: [char; 2] = ['\u{a0}', '\u{202f}'];

/// Returns the spellings of one value of a condition, each of which satisfies it. An expression is its own, and so is a value that nobody sees.
pub fn spellings(condition: &FilterCondition, value: &str) -> Vec<String> {
    if condition.operator == Operator::MatchesRegex {
        return vec![value.to_owned()];
    }
    let is_whole = matches!(condition.operator, Operator::Equals | Operator::OrList);
    let is_page = condition.dimension == models::Dimension::Page;
    let line = on_one_line(value);
    let written = match line.trim() {
        "" => value.to_owned(),
        trimmed if is_whole && is_page => with_host(trimmed).unwrap_or_else(|| trimmed.to_owned()),
        trimmed if is_whole || is_page => trimmed.to_owned(),
        _ => line,
    };
    // Some keyboards and file systems write `é` as two characters, and people search with one.
    let composed = (!is_page && !is_nfc(&written)).then(|| written.nfc().collect());
    [Some(written), composed].into_iter().flatten().collect()
}

/// Returns the value without characters that nobody sees, and with one blank for a run of blanks.
fn on_one_line(value: &str) -> String {
    let mut line = clean(value).replace(UNBROKEN, " ");
    while line.contains("  ") {
        line = line.replace("  ", " ");
    }
    line
}

/// Returns the address of a page with its scheme and host in small letters, and with the slash of a site's first page.
fn with_host(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let slash = if path.starts_with('/') { "" } else { "/" };
    Some(format!("{}://{}{slash}{path}", scheme.to_ascii_lowercase(), host.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pasted_value_is_read_as_the_search_engine_writes_it() {
        use Operator::{Contains, Equals, MatchesRegex, NotContains, OrList};
        use models::Dimension::{Page, Query};
        for (dimension, operator, value, expected) in [
            (Query, Equals, "north moor", "north moor"),
            (Query, Equals, " north moor\n", "north moor"),
            (Query, Contains, "north\u{a0}moor", "north moor"),
            (Query, Contains, "north  moor", "north moor"),
            (Query, Contains, "north\tmoor", "north moor"),
            (Query, NotContains, "north\u{200b} moor\u{feff}", "north moor"),
            (Query, Contains, "moor ", "moor "),
            (Query, MatchesRegex, "north  moor\u{a0}", "north  moor\u{a0}"),
            (Query, Equals, "\u{200b}", "\u{200b}"),
            (Query, OrList, "north\u{ad}moor", "northmoor"),
            (Page, Contains, "/blog/\r\n", "/blog/"),
            (Page, Equals, "https://WWW.Example.com", "https://www.example.com/"),
            (Page, Equals, "HTTPS://example.com?a=B", "https://example.com/?a=B"),
            (Page, OrList, "https://example.com/A#b", "https://example.com/A#b"),
            (Page, Equals, "/A", "/A"),
            (Page, Contains, "https://WWW", "https://WWW"),
        ] {
            let condition = FilterCondition { dimension, operator, value: value.to_owned(), logic: None };
            assert_eq!(spellings(&condition, value), [expected], "{dimension:?} {operator:?} {value:?}");
        }
        let composed = FilterCondition { dimension: Query, operator: Equals, value: String::new(), logic: None };
        assert_eq!(spellings(&composed, "cafe\u{301} "), ["cafe\u{301}", "caf\u{e9}"]);
    }
}
