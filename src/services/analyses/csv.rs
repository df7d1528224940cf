//! CSV for programs and spreadsheets: RFC 4180, with a header row, numbers at full precision and empty cells for undefined values.
//!
//! Texts of others are always quoted, and numbers and the service's own words never are, so that programs read them as such. Where a
//! spreadsheet would run a part of a text as a formula, that part gets a leading apostrophe, which spreadsheets read as a text marker
//! (OWASP, CSV injection). A part begins at the start of a text, and after what spreadsheets of other languages take for the end of a
//! cell or line. Rows are written in blocks, as the client reads them.

use std::{borrow::Cow, io, iter};

use api::{
    answer::{CsvDays, CsvRows},
    models::{Change, Window},
};
use bytes::Bytes;
use common::{
    metrics::Metrics,
    names::sites::{self, Kind},
    plain_text::is_unseen,
};
use futures_util::stream::BoxStream;

/// The number of rows in a block.
pub const BLOCK: usize = 256;

/// By this mark at the start of a file, spreadsheets read its letters as UTF-8.
pub const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The most characters of the site in the name of a file.
const MOST_OF_SITE: usize = 100;

/// A CSV file that is written while it is sent.
pub struct CsvFile {
    /// The file name that browsers suggest.
    pub name: String,
    /// Its rows. `None` if they are unknown when the headers are sent.
    pub rows: Option<CsvRows>,
    /// The days that its rows count.
    pub days: CsvDays,
    /// Its bytes.
    pub blocks: BoxStream<'static, io::Result<Bytes>>,
}

/// A block of rows under construction.
#[derive(Default)]
pub struct CsvBlock {
    text: String,
    /// True after the first cell of a row.
    is_within: bool,
}

impl CsvBlock {
    /// Returns a block with only the header row, after a byte order mark if there is to be one.
    #[must_use]
    pub fn header(names: &[&str], mark: bool) -> Bytes {
        let mut rows = Self { text: if mark { BYTE_ORDER_MARK.to_owned() } else { String::new() }, is_within: false };
        for name in names {
            rows.cell(name);
        }
        rows.end();
        rows.finish()
    }

    /// Writes a cell of a text of others.
    pub fn text(&mut self, text: &str) {
        self.separate();
        self.text.push('"');
        self.text.push_str(&marked(text).replace('"', "\"\""));
        self.text.push('"');
    }

    /// Writes a number cell, which is empty if the number is undefined.
    pub fn number<N: ToString>(&mut self, number: Option<N>) {
        self.cell(&number.map(|number| number.to_string()).unwrap_or_default());
    }

    /// Writes four cells: clicks, impressions, CTR and position. All are empty if there are no metrics.
    pub fn metrics(&mut self, metrics: Option<&Metrics>) {
        let shown = metrics.map(analytics::change::to_api);
        self.number(shown.as_ref().map(|shown| shown.clicks));
        self.number(shown.as_ref().map(|shown| shown.impressions));
        self.number(shown.as_ref().and_then(|shown| shown.ctr));
        self.number(shown.as_ref().and_then(|shown| shown.position));
    }

    /// Writes four cells: the changes of clicks, impressions, CTR and position. All are empty if there is no change.
    pub fn change(&mut self, change: Option<&Change>) {
        self.number(change.and_then(|change| change.clicks.absolute));
        self.number(change.and_then(|change| change.impressions.absolute));
        self.number(change.and_then(|change| change.ctr.absolute));
        self.number(change.and_then(|change| change.position.absolute));
    }

    /// Writes a cell of text that needs no quotes, because this service chose it.
    pub fn cell(&mut self, text: &str) {
        self.separate();
        self.text.push_str(text);
    }

    /// Ends the row.
    pub fn end(&mut self) {
        self.text.push_str("\r\n");
        self.is_within = false;
    }

    /// Returns the bytes of the rows.
    #[must_use]
    pub fn finish(self) -> Bytes {
        self.text.into()
    }

    fn separate(&mut self) {
        if self.is_within {
            self.text.push(',');
        }
        self.is_within = true;
    }
}

/// Characters at which a spreadsheet may end a cell or a line, although they stand within quotes: some languages separate cells by
/// semicolons, and quotes count only at the start of a cell.
const ENDS: [char; 4] = [';', '\t', '\r', '\n'];

/// Returns the text with an apostrophe before each part that a spreadsheet would run.
fn marked(text: &str) -> Cow<'_, str> {
    let starts = text.match_indices(ENDS).map(|(at, end)| at + end.len());
    let starts_blank = text.starts_with(['\t', '\r', '\n']);
    let mut marks =
        iter::once(0).chain(starts).filter(|at| is_formula(&text[*at..]) || (*at == 0 && starts_blank)).peekable();
    if marks.peek().is_none() {
        return text.into();
    }
    let (mut marked, mut written) = (String::with_capacity(text.len() + 8), 0);
    for at in marks {
        marked.extend([&text[written..at], "'"]);
        written = at;
    }
    marked.push_str(&text[written..]);
    marked.into()
}

/// Returns whether a spreadsheet would run the text as a formula or command. What nobody sees at its start is ignored, as spreadsheets
/// may, and so are apostrophes, so that an added one can be told from one that was already there.
fn is_formula(text: &str) -> bool {
    let shown = text.trim_start_matches(|letter: char| letter == '\'' || letter.is_whitespace() || is_unseen(letter));
    shown.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠'])
}

/// Returns a file name such as `northmoor.example_whole-domain_queries_2026-10-21_2026-11-17.csv`: the site, its kind if `site` tells it, the
/// content, the window and any further restrictions. It contains only ASCII letters, digits, dots, dashes and underscores.
#[must_use]
pub fn name(site: &str, what: &str, window: Window, more: &[String]) -> String {
    let kind = Kind::of(site).map(|kind| plain(kind.words()));
    let site: String = plain(&sites::in_ascii(site)).chars().take(MOST_OF_SITE).collect();
    let site = if site.is_empty() { "site".to_owned() } else { site };
    let days = [window.start_date, window.end_date].map(|day| day.to_string());
    let parts =
        [site].into_iter().chain(kind).chain([plain(what)]).chain(days).chain(more.iter().map(|part| plain(part)));
    format!("{}.csv", parts.collect::<Vec<_>>().join("_"))
}

/// A part of a file name.
fn plain(part: &str) -> String {
    let kept: String = part.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect();
    kept.trim_matches(['-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> String {
        let mut rows = CsvBlock::default();
        for cell in cells {
            rows.text(cell);
        }
        rows.end();
        String::from_utf8(rows.finish().to_vec()).unwrap()
    }

    #[test]
    fn cells_that_would_run_are_text() {
        for (cell, written) in [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-shoes", "'-shoes"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t'=1"),
            ("\tshoes", "'\tshoes"),
            ("\r=1", "'\r'=1"),
            ("＝1", "'＝1"),
            (" =1", "' =1"),
            ("\u{0}=1", "'\u{0}=1"),
            ("\u{b}=1", "'\u{b}=1"),
            ("\u{200b}\u{7f}=1", "'\u{200b}\u{7f}=1"),
            ("shoes -red", "shoes -red"),
            ("'quoted", "'quoted"),
            ("'=1", "''=1"),
        ] {
            assert_eq!(row(&[cell]), format!("\"{written}\"\r\n"), "{cell:?}");
        }
    }

    /// The cells of a file as a program reads it that ends cells at `delimiter`, and takes quotes for such only at their start.
    fn cells(file: &str, delimiter: u8) -> Vec<String> {
        let mut reader = csv::ReaderBuilder::new();
        reader.delimiter(delimiter).has_headers(false).flexible(true).quoting(true);
        let rows = reader.from_reader(file.as_bytes()).into_records();
        rows.flat_map(|row| row.unwrap().iter().map(str::to_owned).collect::<Vec<_>>()).collect()
    }

    #[test]
    fn no_locale_makes_a_formula_of_a_part_of_a_cell() {
        for hostile in ["a;=cmd|' /C calc'!A0;b", "a\t=1", "a; \u{b}+1", "a\n=1", "a;;@SUM(A1)"] {
            let mut rows = CsvBlock::default();
            rows.cell("2026-11-01");
            rows.text(hostile);
            rows.number(Some(7));
            rows.end();
            rows.text(hostile);
            rows.end();
            let file = String::from_utf8(rows.finish().to_vec()).unwrap();
            for delimiter in [b',', b';', b'\t'] {
                for cell in cells(&file, delimiter) {
                    assert!(!is_formula(&cell) || cell.trim_start().starts_with('\''), "{cell:?} of {file:?}");
                }
            }
        }
        assert_eq!(row(&["a;=1;-b; c"]), "\"a;'=1;'-b; c\"\r\n");
    }

    #[test]
    fn texts_are_quoted_and_numbers_are_not() {
        assert_eq!(
            row(&["a,b", "say \"hi\"", "two\nlines", "schön", "12", ""]),
            "\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\"schön\",\"12\",\"\"\r\n"
        );
    }

    #[test]
    fn numbers_are_written_whole_and_undefined_ones_not_at_all() {
        let mut rows = CsvBlock::default();
        rows.metrics(Some(&Metrics::of_row(1.0, 3.0, Some(10.1))));
        rows.metrics(Some(&Metrics::of_row(0.0, 0.0, None)));
        rows.metrics(None);
        rows.end();
        let position = (10.1 * 3.0) / 3.0;
        assert_eq!(rows.finish(), format!("1,3,0.3333333333333333,{position},0,0,,,,,,\r\n"));
    }

    #[test]
    fn names_tell_site_table_and_window_in_plain_characters() {
        let window = Window { start_date: "2026-10-21".parse().unwrap(), end_date: "2026-11-17".parse().unwrap() };
        assert_eq!(
            name("sc-domain:northmoor.example", "queries", window, &[]),
            "northmoor.example_whole-domain_queries_2026-10-21_2026-11-17.csv"
        );
        let more = ["image".to_owned(), "segment:1".to_owned()];
        assert_eq!(
            name("https://www.bücher.example/laden/", "pages", window, &more),
            "www.xn--bcher-kva.example-laden_https_pages_2026-10-21_2026-11-17_image_segment-1.csv"
        );
        for (site, start) in [
            ("http://ann:secret@shop.example/", "shop.example_http"),
            ("sc-domain:xn--4dbrk0ce.example", "xn--4dbrk0ce.example_whole-domain"),
            ("ישראל.example:81/של", "xn--4dbrk0ce.example-81--D7-A9-D7-9C"),
            ("https://shop.example/%D7%A9/", "shop.example--D7-A9_https"),
            ("android-app://com.shop.example/", "com.shop.example"),
            ("https:///", "site_https"),
            ("..", "site"),
            ("😀", "xn--e28h"),
            ("\u{202e}", "E2-80-AE"),
        ] {
            assert_eq!(name(site, "pages", window, &[]), format!("{start}_pages_2026-10-21_2026-11-17.csv"), "{site}");
        }
        assert!(name(&"a".repeat(2_000), "pages", window, &[]).len() < 150);
    }
}
