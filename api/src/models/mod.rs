//! Vocabulary that tags share.

mod classification;
mod data_state;
mod day;
mod dimension;
mod feature;
mod filter;
mod granularity;
mod meta;
mod metrics;
mod order;
mod question;
mod role;
mod search_type;
mod text;
mod timestamp;
mod warning;

pub use classification::Classification;
pub use data_state::DataState;
pub use day::{FIRST_DAY, LAST_DAY, parse_day, parse_time};
pub use dimension::Dimension;
pub use feature::Feature;
pub use filter::{FilterCondition, FilterLogic, FilterOperator, Filters, MAX_CONDITIONS, MAX_CONDITIONS_BYTES};
pub use granularity::{CountGranularity, CountSeriesParams, Granularity, SeriesParams};
pub use meta::{Aggregation, AnalysisStatus, DateRange, Freshness, TableCoverage};
pub use metrics::{AbsoluteChange, Change, CountChange, Metrics, Presence};
pub use order::{Offset, OffsetParams, OrderParams};
pub(crate) use question::check_pair;
pub use question::{Compare, Comparison, Question, RowLimit, Slice, Window, WindowParams};
pub use role::Role;
pub use search_type::SearchType;
pub(crate) use text::fits;
pub use text::{
    COLOR_PATTERN, EMAIL_PATTERN, KEYWORD_PATTERN, NAME_IN_WORDS, NAME_PATTERN, Name, TEXT_PATTERN, VALUE_PATTERN,
};
pub use timestamp::Timestamp;
pub use warning::{Warning, WarningCode};
