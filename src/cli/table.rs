//! Aligned tables on a terminal.

use std::fmt::Write as _;

/// `rows` below `heading`, each cell as wide as the widest of its column. The last column is not padded.
#[must_use]
pub fn table<const N: usize>(heading: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let rows: Vec<[String; N]> = std::iter::once(heading.map(str::to_owned)).chain(rows).collect();
    let widths: [usize; N] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default());
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            // Writing to a string cannot fail.
            let _ = write!(line, "{cell:width$}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows = [["ann".to_owned(), "active".to_owned()], ["bärbel".to_owned(), "-".to_owned()]];
        assert_eq!(table(["NAME", "STATE"], rows.into_iter()), "NAME    STATE\nann     active\nbärbel  -");
    }
}
