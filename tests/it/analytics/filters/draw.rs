//! Generates lists of conditions of every dimension and operator, with texts that occur in the data and texts that do not.
//! The n-th list depends on n only.

use simulator::Cell;

use crate::support::oracle::{Truth, Wish};

pub struct Draw<'t> {
    cells: Vec<&'t Cell>,
    state: u64,
}

pub const OPERATORS: [&str; 5] = ["contains", "not_contains", "equals", "matches_regex", "or_list"];

const NOISE: [&str; 4] = ["no such text", "e", "(", "a.b*c"];

impl<'t> Draw<'t> {
    pub fn new(truth: &'t Truth, number: u64) -> Self {
        Self { cells: truth.cells().filter(|cell| !cell.anonymised).collect(), state: number * 2 + 1 }
    }

    /// A number below `bound` (splitmix64).
    fn below(&mut self, bound: usize) -> usize {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) >> 1).unwrap() % bound
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn cell(&mut self) -> &'t Cell {
        let index = self.below(self.cells.len());
        self.cells[index]
    }

    /// One to `most` conditions.
    pub fn wishes(&mut self, most: usize) -> Vec<Wish> {
        let count = 1 + self.below(most);
        (0..count).map(|_| self.wish()).collect()
    }

    fn wish(&mut self) -> Wish {
        let dimension = self.one_of(&["query", "query", "page", "country", "device", "searchAppearance"]);
        let operator = self.one_of(&OPERATORS);
        let or = self.below(2) == 0;
        Wish { dimension, operator, value: self.value(dimension, operator), or }
    }

    fn value(&mut self, dimension: &str, operator: &str) -> String {
        match operator {
            "or_list" => {
                let count = 1 + self.below(3);
                (0..count).map(|_| self.whole(dimension)).collect::<Vec<_>>().join(", ")
            }
            "equals" => self.whole(dimension),
            "matches_regex" => self.pattern(dimension),
            _ => self.part(dimension),
        }
    }

    /// Usually a text from the data.
    fn whole(&mut self, dimension: &str) -> String {
        let upper = self.below(2) == 0;
        let folded = |text: &str| if upper { text.to_uppercase() } else { text.to_lowercase() };
        match dimension {
            "query" if self.below(8) == 0 => "No Such Query".to_owned(),
            "query" => self.cell().query.to_string(),
            "page" => self.cell().pages[0].url.to_string(),
            "country" if self.below(4) == 0 => folded(self.one_of(&["fji", "zzz", "nzl"])),
            "country" => folded(self.cell().country),
            "device" => folded(self.cell().device),
            _ => folded(self.one_of(&["PRODUCT_SNIPPETS", "REVIEW_SNIPPET", "TPF_FAQ", "VIDEO", "NO_SUCH_THING"])),
        }
    }

    /// A part of such a text, in any case.
    fn part(&mut self, dimension: &str) -> String {
        if self.below(8) == 0 {
            return self.one_of(&NOISE).to_owned();
        }
        let text = self.whole(dimension);
        let text: Vec<char> = text.chars().collect();
        let from = self.below(text.len());
        let to = (from + 1 + self.below(6)).min(text.len());
        let part: String = text[from..to].iter().collect();
        if self.below(3) == 0 { part.to_uppercase() } else { part }
    }

    fn pattern(&mut self, dimension: &str) -> String {
        match dimension {
            "query" => {
                self.one_of(&["^(best|cheap) ", "(?i)FERN", "care$|gift$", r"\bplant\b", "[0-9]", "Plant", "e|a"])
            }
            "page" => self.one_of(&["/blog/", "services|about", "[13579]$", r"\.test/$", "(?i)FERN", "^http:"]),
            "country" => self.one_of(&["^(aus|nzl)$", "US", "^[a-m]", "x$"]),
            "device" => self.one_of(&["^M", "top|let", "WATCH", "(?i)mobile|desktop", "E"]),
            _ => self.one_of(&["^P", "snippets?$", "WATCH", "(?i)video|faq", "_", "."]),
        }
        .to_owned()
    }
}
