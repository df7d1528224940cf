//! The tools. Each calls one operation of the API, and its arguments are that operation's parameters with a few names of their own.

mod analyses;
mod providers;
mod records;

use api::operation::{self, Operation};
use poem::http::Method;

/// A tool as it is declared, or one of the kinds of records that a tool lists.
#[derive(Debug)]
pub struct Declaration {
    /// The name that a model calls it by. Declarations of one name are one tool with an argument `kind`.
    pub name: &'static str,
    /// The value of `kind`; empty if the tool has no kinds.
    pub kind: &'static str,
    /// The name that people see.
    pub title: &'static str,
    /// The question that it answers, and facts that a model needs to read the answer. Of a kind: what its records are.
    pub description: &'static str,
    /// The id of the operation.
    pub operation: &'static str,
    /// The argument with which a call is of this declaration, and not of the first one of its name. `None`: it is the first one, or has a
    /// kind.
    pub chosen_by: Option<&'static str>,
    /// The parameters that are arguments, too, besides dates and rows. An operation that takes its question in the body has them there.
    pub parameters: &'static [&'static str],
    /// Defaults that differ from the operation's. A parameter that is not an argument always has its default.
    pub defaults: &'static [(&'static str, &'static str)],
    /// Its dates.
    pub dates: Dates,
    /// Its rows.
    pub rows: RowLimits,
    /// The argument without which the answer comes without its series. `None` if they always come.
    pub series_by: Option<&'static str>,
    /// Its effect.
    pub effect: Effect,
}

/// The dates that a tool takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dates {
    /// None.
    None,
    /// The last days, and a name of those to compare with.
    LastDays,
    /// A window that need not hold search data.
    Calendar,
    /// A window of search data.
    Window,
    /// A window, and one to compare with if asked.
    Comparable,
    /// A window, and one to compare with in any case.
    Compared,
}

/// The rows of an answer that `limit` bounds.
#[derive(Debug, Clone, Copy)]
pub struct RowLimits {
    /// The parameters of the operation that bound its tables.
    pub parameters: &'static [&'static str],
    /// The lists that the operation does not bound, by their place, such as `data.tables.countries`. They are cut in the answer.
    pub cut: &'static [&'static str],
    /// The rows of an answer unless the call asks for more.
    pub default: u32,
}

/// The effect of a tool, for the hints to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It reads.
    Read,
    /// It adds a record.
    Add,
    /// It reads, and may cost the person money at a provider.
    Pay,
}

/// The rows of each list of an analysis unless the call asks for more.
const DEFAULT_ROWS: u32 = 10;
/// The records of a list unless the call asks for more.
const DEFAULT_RECORDS: u32 = 25;

impl Dates {
    /// Returns whether a call may name the window.
    #[must_use]
    pub fn has_window(self) -> bool {
        !matches!(self, Self::None | Self::LastDays)
    }

    /// The parameters of an operation for these dates, each with the name of its argument.
    #[must_use]
    pub fn parameters(self) -> &'static [(&'static str, &'static str)] {
        const ALL: [(&str, &str); 5] = [
            ("startDate", "startDate"),
            ("endDate", "endDate"),
            ("compare", "compareTo"),
            ("compareStart", "compareStart"),
            ("compareEnd", "compareEnd"),
        ];
        match self {
            Self::None => &[],
            Self::LastDays => &ALL[2..3],
            Self::Calendar | Self::Window => &ALL[..2],
            Self::Comparable | Self::Compared => &ALL,
        }
    }
}

impl RowLimits {
    /// No bounded rows.
    pub const NONE: Self = Self { parameters: &[], cut: &[], default: DEFAULT_ROWS };
    /// A list of records.
    pub const LIST: Self = Self { parameters: &[], cut: &["data"], default: DEFAULT_RECORDS };
    /// The operation's own `limit`.
    pub const LIMIT: Self = Self { parameters: &["limit"], cut: &[], default: DEFAULT_ROWS };

    /// Returns whether there is anything to bound.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parameters.is_empty() && self.cut.is_empty()
    }
}

impl Declaration {
    /// A tool that reads, for the fields in which a declaration does not differ.
    const READS: Self = Self {
        name: "",
        kind: "",
        title: "",
        description: "",
        operation: "",
        chosen_by: None,
        parameters: &[],
        defaults: &[],
        dates: Dates::None,
        rows: RowLimits::NONE,
        series_by: None,
        effect: Effect::Read,
    };

    /// Returns the call that it answers, in words for refusals.
    #[must_use]
    pub fn as_called(&self) -> String {
        match (self.kind, self.chosen_by) {
            ("", None) => "this tool".to_owned(),
            ("", Some(argument)) => format!("this tool beside {argument}"),
            (kind, _) => format!("kind={kind}"),
        }
    }

    /// Returns whether the operation takes its question in the body.
    #[must_use]
    pub fn asks_by_body(&self) -> bool {
        !self.parameters.is_empty() && self.operation().is_some_and(|operation| operation.method != Method::GET)
    }

    /// Returns the operation that the tool calls.
    #[must_use]
    pub fn operation(&self) -> Option<&'static Operation> {
        operation_called(self.operation)
    }
}

/// Returns the operation with this id.
#[must_use]
pub fn operation_called(id: &str) -> Option<&'static Operation> {
    operation::all().iter().find(|operation| operation.id == id)
}

/// Every tool, in the order of the list. The kinds of a tool are together.
#[must_use]
pub fn all() -> Vec<&'static Declaration> {
    records::FIRST.iter().chain(analyses::TOOLS).chain(records::TOOLS).chain(providers::TOOLS).collect()
}
