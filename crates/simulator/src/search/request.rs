//! Parses the request body as the search engine does: names and values ignore case and underscores, unknown ones are
//! refused.

use chrono::NaiveDate;
use serde_json::{Map, Value};

use crate::error::ApiError;
use crate::world::SearchType;

/// A dimension to group rows by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dimension {
    Date,
    Hour,
    Query,
    Page,
    Country,
    Device,
    SearchAppearance,
}

/// The way impressions are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aggregation {
    Auto,
    ByProperty,
    ByPage,
    ByNewsShowcasePanel,
}

/// The freshness of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataState {
    Final,
    All,
    HourlyAll,
}

/// A dimension to filter by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilterDimension {
    Query,
    Page,
    Country,
    Device,
    SearchAppearance,
}

/// The comparison of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Equals,
    NotEquals,
    Contains,
    NotContains,
    IncludingRegex,
    ExcludingRegex,
}

impl FilterDimension {
    fn named(folded: &str) -> Option<Self> {
        Some(match folded {
            "query" => Self::Query,
            "page" => Self::Page,
            "country" => Self::Country,
            "device" => Self::Device,
            "searchappearance" => Self::SearchAppearance,
            _ => return None,
        })
    }
}

impl Operator {
    fn named(folded: &str) -> Option<Self> {
        Some(match folded {
            "equals" => Self::Equals,
            "notequals" => Self::NotEquals,
            "contains" => Self::Contains,
            "notcontains" => Self::NotContains,
            "includingregex" => Self::IncludingRegex,
            "excludingregex" => Self::ExcludingRegex,
            _ => return None,
        })
    }
}

/// One filter as it was sent.
#[derive(Debug, Clone)]
pub(crate) struct RawFilter {
    pub dimension: FilterDimension,
    pub operator: Operator,
    pub expression: String,
}

/// A well-formed request. `rules` checks whether it is also allowed.
#[derive(Debug)]
pub(crate) struct Request {
    pub start: NaiveDate,
    pub end: NaiveDate,
    pub dimensions: Vec<Dimension>,
    pub search_type: SearchType,
    pub filters: Vec<RawFilter>,
    pub aggregation: Aggregation,
    pub row_limit: usize,
    pub start_row: usize,
    pub data_state: DataState,
}

impl Request {
    pub fn groups(&self, dimension: Dimension) -> bool {
        self.dimensions.contains(&dimension)
    }

    pub fn filters_on(&self, dimension: FilterDimension) -> bool {
        self.filters.iter().any(|filter| filter.dimension == dimension)
    }

    /// Returns whether impressions are counted by page. A search appearance belongs to a page, so it counts by page unless
    /// the request says otherwise.
    pub fn by_page(&self) -> bool {
        match self.aggregation {
            Aggregation::ByPage => true,
            Aggregation::ByProperty | Aggregation::ByNewsShowcasePanel => false,
            Aggregation::Auto => {
                self.groups(Dimension::Page)
                    || self.groups(Dimension::SearchAppearance)
                    || self.filters_on(FilterDimension::Page)
                    || self.filters_on(FilterDimension::SearchAppearance)
                    || self.search_type.is_feed()
            }
        }
    }
}

const FIELDS: [&str; 10] = [
    "startdate",
    "enddate",
    "dimensions",
    "type",
    "searchtype",
    "dimensionfiltergroups",
    "aggregationtype",
    "rowlimit",
    "startrow",
    "datastate",
];

/// Parses `body`.
pub(crate) fn parse(body: &Value) -> Result<Request, ApiError> {
    let fields = folded(body, "", &FIELDS)?;
    let (start, end) = (date(&fields, "startdate", "start_date")?, date(&fields, "enddate", "end_date")?);
    if start > end {
        return Err(ApiError::invalid_parameter("'startDate' must not be after 'endDate'.", "start_date"));
    }
    let search_type = match (fields.get("type"), fields.get("searchtype")) {
        (Some(value), _) => named(value, "type", search_type)?,
        (None, Some(value)) => named(value, "search_type", search_type)?,
        (None, None) => SearchType::Web,
    };
    let aggregation = fields.get("aggregationtype").map(|value| named(value, "aggregation_type", aggregation));
    let data_state = fields.get("datastate").map(|value| named(value, "data_state", data_state));
    Ok(Request {
        start,
        end,
        dimensions: dimensions(fields.get("dimensions").copied())?,
        search_type,
        filters: filters(fields.get("dimensionfiltergroups").copied())?,
        aggregation: aggregation.transpose()?.unwrap_or(Aggregation::Auto),
        row_limit: number(&fields, "rowlimit", "row_limit", 1_000, 1..=25_000)?,
        start_row: number(&fields, "startrow", "start_row", 0, 0..=i64::from(i32::MAX))?,
        data_state: data_state.transpose()?.unwrap_or(DataState::Final),
    })
}

/// `value` without underscores, in lower case.
fn fold(value: &str) -> String {
    value.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
}

type Fields<'a> = std::collections::HashMap<String, &'a Value>;

/// The fields of an object under folded names. `null` counts as absent.
fn folded<'a>(value: &'a Value, path: &str, known: &[&str]) -> Result<Fields<'a>, ApiError> {
    let empty: Option<&Map<String, Value>> = value.as_object();
    let object = empty.ok_or_else(|| ApiError::bad_request("Invalid JSON payload received. An object is expected."))?;
    let mut fields = Fields::new();
    for (name, value) in object {
        let folded = fold(name);
        if !known.contains(&folded.as_str()) {
            let place = if path.is_empty() { String::new() } else { format!(" at '{path}'") };
            let message = format!("Invalid JSON payload received. Unknown name \"{name}\"{place}: Cannot find field.");
            return Err(ApiError::bad_request(&message));
        }
        if !value.is_null() {
            fields.insert(folded, value);
        }
    }
    Ok(fields)
}

fn invalid(path: &str, value: &Value) -> ApiError {
    ApiError::bad_request(&format!("Invalid value at '{path}', {value}"))
}

fn date(fields: &Fields<'_>, name: &str, path: &str) -> Result<NaiveDate, ApiError> {
    let value = fields.get(name).ok_or_else(|| ApiError::required(path))?;
    let text = value.as_str().filter(|text| text.len() == 10);
    let parsed = text.and_then(|text| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok());
    parsed.ok_or_else(|| ApiError::invalid_parameter(&format!("Invalid value at '{path}', {value}"), path))
}

/// An integer, which may also be sent as a string.
fn number(
    fields: &Fields<'_>,
    name: &str,
    path: &str,
    default: usize,
    allowed: std::ops::RangeInclusive<i64>,
) -> Result<usize, ApiError> {
    let Some(value) = fields.get(name) else { return Ok(default) };
    let read = value.as_i64().or_else(|| value.as_str()?.parse().ok());
    let read = read.ok_or_else(|| invalid(path, value))?;
    let within = allowed.contains(&read).then_some(read).and_then(|number| usize::try_from(number).ok());
    let message =
        format!("Invalid value '{read}'. Values must be within the range: [{}, {}]", allowed.start(), allowed.end());
    within.ok_or_else(|| ApiError::invalid_parameter(&message, path))
}

fn named<T>(value: &Value, path: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, ApiError> {
    value.as_str().and_then(|text| read(&fold(text))).ok_or_else(|| invalid(path, value))
}

fn list<'a>(value: Option<&'a Value>, path: &str) -> Result<&'a [Value], ApiError> {
    value.map_or(Ok(&[]), |value| value.as_array().map(Vec::as_slice).ok_or_else(|| invalid(path, value)))
}

fn dimensions(value: Option<&Value>) -> Result<Vec<Dimension>, ApiError> {
    let values = list(value, "dimensions")?.iter().enumerate();
    values.map(|(index, value)| named(value, &format!("dimension[{index}]"), dimension)).collect()
}

fn filters(value: Option<&Value>) -> Result<Vec<RawFilter>, ApiError> {
    let mut filters = Vec::new();
    for (index, group) in list(value, "dimension_filter_group")?.iter().enumerate() {
        let path = format!("dimension_filter_group[{index}]");
        let fields = folded(group, &path, &["grouptype", "filters"])?;
        if let Some(value) = fields.get("grouptype") {
            named(value, &format!("{path}.group_type"), |text| (text == "and").then_some(()))?;
        }
        for (index, value) in list(fields.get("filters").copied(), &path)?.iter().enumerate() {
            filters.push(filter(value, &format!("{path}.filters[{index}]"))?);
        }
    }
    Ok(filters)
}

fn filter(value: &Value, path: &str) -> Result<RawFilter, ApiError> {
    let fields = folded(value, path, &["dimension", "operator", "expression"])?;
    let dimension_path = format!("{path}.dimension");
    let dimension = fields.get("dimension").ok_or_else(|| ApiError::required(&dimension_path))?;
    let expression_path = format!("{path}.expression");
    let expression = fields.get("expression").ok_or_else(|| ApiError::required(&expression_path))?;
    let operator = fields.get("operator").map(|value| named(value, &format!("{path}.operator"), Operator::named));
    Ok(RawFilter {
        dimension: named(dimension, &dimension_path, FilterDimension::named)?,
        operator: operator.transpose()?.unwrap_or(Operator::Equals),
        expression: expression.as_str().ok_or_else(|| invalid(&expression_path, expression))?.to_owned(),
    })
}

fn dimension(folded: &str) -> Option<Dimension> {
    Some(match folded {
        "date" => Dimension::Date,
        "hour" => Dimension::Hour,
        "query" => Dimension::Query,
        "page" => Dimension::Page,
        "country" => Dimension::Country,
        "device" => Dimension::Device,
        "searchappearance" => Dimension::SearchAppearance,
        _ => return None,
    })
}

fn search_type(folded: &str) -> Option<SearchType> {
    SearchType::ALL.into_iter().find(|search_type| fold(search_type.wire_name()) == folded)
}

fn aggregation(folded: &str) -> Option<Aggregation> {
    Some(match folded {
        "auto" => Aggregation::Auto,
        "byproperty" => Aggregation::ByProperty,
        "bypage" => Aggregation::ByPage,
        "bynewsshowcasepanel" => Aggregation::ByNewsShowcasePanel,
        _ => return None,
    })
}

fn data_state(folded: &str) -> Option<DataState> {
    Some(match folded {
        "final" => DataState::Final,
        "all" => DataState::All,
        "hourlyall" => DataState::HourlyAll,
        _ => return None,
    })
}
