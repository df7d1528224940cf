//! Aligned tables on a terminal.

use std::fmt::Write as _;

/// `rows` below `heading`, each cell as wide as the widest of its column. Columns of numbers stand to the right.
#[must_use]
pub fn table<const N: usize>(heading: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let rows: Vec<[String; N]> = std::iter::once(heading.map(str::to_owned)).chain(rows).collect();
    let of_numbers: [bool; N] = std::array::from_fn(|column| rows.iter().skip(1).all(|row| is_number(&row[column])));
    let widths: [usize; N] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default());
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for ((cell, width), is_number) in row.iter().zip(widths).zip(of_numbers) {
            // Writing to a string cannot fail.
            let _ = if is_number { write!(line, "{cell:>width$}  ") } else { write!(line, "{cell:width$}  ") };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.trim_end().to_owned()
}

/// Returns whether a cell holds a number, a change, or a sign that there is none.
fn is_number(cell: &str) -> bool {
    cell.chars().all(|c| c.is_ascii_digit() || ",.%+-–".contains(c)) || ["new", "unknown"].contains(&cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows = [["ann".to_owned(), "active".to_owned()], ["bärbel".to_owned(), "-".to_owned()]];
        assert_eq!(table(["NAME", "STATE"], rows.into_iter()), "NAME    STATE\nann     active\nbärbel  -");
        let rows = [["a".to_owned(), "1,000".to_owned()], ["b".to_owned(), "–".to_owned()]];
        assert_eq!(table(["", "CLICKS"], rows.into_iter()), "   CLICKS\na   1,000\nb       –");
    }
}
