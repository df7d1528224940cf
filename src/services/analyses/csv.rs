//! CSV for programs and spreadsheets: RFC 4180, with a header row, numbers at full precision and empty cells for undefined values.
//!
//! A cell that a spreadsheet would run as a formula gets a leading apostrophe, which spreadsheets read as a text marker (OWASP, CSV
//! injection). Rows are written in blocks, as the client reads them.

use std::io;

use api::{
    answer::{CsvDays, CsvRows},
    models::{Change, Window},
};
use bytes::Bytes;
use futures_util::stream::BoxStream;

use crate::{analytics::metrics::Metrics, error::Error};

/// The number of rows in a block.
pub const BLOCK: usize = 256;

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
pub struct Rows(csv::Writer<Vec<u8>>);

impl Default for Rows {
    fn default() -> Self {
        Self(csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::with_capacity(16 * 1024)))
    }
}

impl Rows {
    /// Returns a block with only the header row.
    pub fn header(names: &[&str]) -> Result<Bytes, Error> {
        let mut rows = Self::default();
        rows.0.write_record(names).map_err(Error::internal)?;
        rows.finish()
    }

    /// Writes a text cell.
    pub fn text(&mut self, text: &str) -> Result<(), Error> {
        if starts_a_formula(text) { self.cell(&format!("'{text}")) } else { self.cell(text) }
    }

    /// Writes a number cell, which is empty if the number is undefined.
    pub fn number<N: ToString>(&mut self, number: Option<N>) -> Result<(), Error> {
        self.cell(&number.map(|number| number.to_string()).unwrap_or_default())
    }

    /// Writes four cells: clicks, impressions, CTR and position. All are empty if there are no metrics.
    pub fn metrics(&mut self, metrics: Option<&Metrics>) -> Result<(), Error> {
        let shown = metrics.map(crate::analytics::change::to_api);
        self.number(shown.as_ref().map(|shown| shown.clicks))?;
        self.number(shown.as_ref().map(|shown| shown.impressions))?;
        self.number(shown.as_ref().and_then(|shown| shown.ctr))?;
        self.number(shown.as_ref().and_then(|shown| shown.position))
    }

    /// Writes four cells: the changes of clicks, impressions, CTR and position. All are empty if there is no change.
    pub fn change(&mut self, change: Option<&Change>) -> Result<(), Error> {
        self.number(change.and_then(|change| change.clicks.absolute))?;
        self.number(change.and_then(|change| change.impressions.absolute))?;
        self.number(change.and_then(|change| change.ctr.absolute))?;
        self.number(change.and_then(|change| change.position.absolute))
    }

    /// Writes a cell of text that needs no protection, because this service chose it.
    pub fn cell(&mut self, text: &str) -> Result<(), Error> {
        self.0.write_field(text).map_err(Error::internal)
    }

    /// Ends the row.
    pub fn end(&mut self) -> Result<(), Error> {
        self.0.write_record(None::<&[u8]>).map_err(Error::internal)
    }

    /// Returns the bytes of the rows.
    pub fn finish(self) -> Result<Bytes, Error> {
        Ok(self.0.into_inner().map_err(|error| Error::internal(error.into_error()))?.into())
    }
}

/// Returns whether a spreadsheet would run the text as a formula or command. Leading apostrophes are ignored, so that an added one
/// can be told from one that was already there.
fn starts_a_formula(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])
}

/// Returns a file name such as `northmoor.example_queries_2026-10-21_2026-11-17.csv`: the site, the content, the window and any
/// further restrictions. It contains only ASCII letters, digits, dots, dashes and underscores.
#[must_use]
pub fn name(site_url: &str, what: &str, window: Window, more: &[String]) -> String {
    let site = site_url.trim_start_matches("sc-domain:").trim_start_matches("https://").trim_start_matches("http://");
    let days = [window.start_date.to_string(), window.end_date.to_string()];
    let parts = [site, what].into_iter().chain(days.iter().map(String::as_str)).chain(more.iter().map(String::as_str));
    let plain = |part: &str| {
        let kept: String = part.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect();
        kept.trim_matches('-').to_owned()
    };
    format!("{}.csv", parts.map(plain).collect::<Vec<_>>().join("_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> String {
        let mut rows = Rows::default();
        for cell in cells {
            rows.text(cell).unwrap();
        }
        rows.end().unwrap();
        String::from_utf8(rows.finish().unwrap().to_vec()).unwrap()
    }

    #[test]
    fn cells_that_would_run_are_text() {
        for (cell, written) in [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-shoes", "'-shoes"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("＝1", "'＝1"),
            ("shoes -red", "shoes -red"),
            ("'quoted", "'quoted"),
            ("'=1", "''=1"),
        ] {
            assert_eq!(row(&[cell]), format!("{written}\r\n"), "{cell:?}");
        }
        assert_eq!(row(&["\r=1"]), "\"'\r=1\"\r\n");
    }

    #[test]
    fn commas_quotes_and_line_ends_are_quoted() {
        assert_eq!(
            row(&["a,b", "say \"hi\"", "two\nlines", "schön"]),
            "\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",schön\r\n"
        );
    }

    #[test]
    fn numbers_are_written_whole_and_undefined_ones_not_at_all() {
        let mut rows = Rows::default();
        rows.metrics(Some(&Metrics::of_row(1.0, 3.0, Some(10.1)))).unwrap();
        rows.metrics(Some(&Metrics::of_row(0.0, 0.0, None))).unwrap();
        rows.metrics(None).unwrap();
        rows.end().unwrap();
        let position = (10.1 * 3.0) / 3.0;
        assert_eq!(rows.finish().unwrap(), format!("1,3,0.3333333333333333,{position},0,0,,,,,,\r\n"));
    }

    #[test]
    fn names_tell_site_table_and_window_in_plain_characters() {
        let window = Window { start_date: "2026-10-21".parse().unwrap(), end_date: "2026-11-17".parse().unwrap() };
        assert_eq!(
            name("sc-domain:northmoor.example", "queries", window, &[]),
            "northmoor.example_queries_2026-10-21_2026-11-17.csv"
        );
        let more = ["image".to_owned(), "segment:1".to_owned()];
        assert_eq!(
            name("https://www.bücher.example/laden/", "pages", window, &more),
            "www.b-cher.example-laden_pages_2026-10-21_2026-11-17_image_segment-1.csv"
        );
    }
}
