//! Aligned tables on a terminal.

use unicode_width::UnicodeWidthStr as _;

use super::terminal::{Text, short};

/// `rows` below `heading`, each cell as wide as the widest of its column. Columns of numbers stand to the right. A cell is one clean line of
/// at most 200 columns of a terminal, so that no cell is a row.
#[must_use]
pub fn table<const N: usize>(heading: [&str; N], rows: impl Iterator<Item = [String; N]>) -> Text {
    let cells = |row: [String; N]| row.map(|cell| short(&cell));
    let rows: Vec<[String; N]> = std::iter::once(heading.map(str::to_owned)).chain(rows.map(cells)).collect();
    let of_numbers: [bool; N] = std::array::from_fn(|column| rows.iter().skip(1).all(|row| is_number(&row[column])));
    let widths: [usize; N] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].width()).max().unwrap_or_default());
    let lines = rows.iter().map(|row| {
        let mut line = String::new();
        for ((cell, width), is_number) in row.iter().zip(widths).zip(of_numbers) {
            // A format would count characters.
            let space = " ".repeat(width - cell.width());
            let (before, after) = if is_number { (space.as_str(), "") } else { ("", space.as_str()) };
            line.extend([before, cell, after, "  "]);
        }
        line.trim_end().to_owned()
    });
    lines.fold(Text::default(), Text::and)
}

/// Returns whether a cell holds a number, a change, or a sign that there is none.
fn is_number(cell: &str) -> bool {
    cell.chars().all(|c| c.is_ascii_digit() || ",.%+-–".contains(c)) || ["new", "lost", "unknown"].contains(&cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows = [["ann".to_owned(), "active".to_owned()], ["bärbel".to_owned(), "-".to_owned()]];
        let drawn = table(["NAME", "STATE"], rows.into_iter()).to_string();
        assert_eq!(drawn, "NAME    STATE\nann     active\nbärbel  -");
        let rows = [["a".to_owned(), "1,000".to_owned()], ["b".to_owned(), "–".to_owned()]];
        assert_eq!(table(["", "CLICKS"], rows.into_iter()).to_string(), "   CLICKS\na   1,000\nb       –");
    }

    #[test]
    fn columns_are_aligned_whatever_script_their_cells_are_in() {
        let names = ["检索词", "e\u{301}te\u{301}", "ｗｉｄｅ", "ab"];
        let drawn = table(["NAME", "CLICKS"], names.into_iter().map(|name| [name.to_owned(), "1".to_owned()]));
        let lines = [
            "NAME      CLICKS",
            "检索词         1",
            "e\u{301}te\u{301}            1",
            "ｗｉｄｅ       1",
            "ab             1",
        ];
        assert_eq!(drawn.to_string().lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn a_cell_is_no_row_and_as_wide_as_a_format_takes() {
        let rows = [["x\nforged owner 999,999".to_owned()], ["y".repeat(70_000)]];
        let drawn = table(["NAME"], rows.into_iter()).to_string();
        let lines: Vec<&str> = drawn.lines().collect();
        assert_eq!(lines[1], "x\u{fffd}forged owner 999,999");
        assert_eq!((lines.len(), lines[2].chars().count()), (3, 200));
    }
}
