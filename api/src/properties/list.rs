//! The list of tracked properties with headline metrics.

use chrono::NaiveDate;
use poem_openapi::{Enum, Object};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    analytics::{Unusual, Usual},
    answer::ListMeta,
    models::{Change, DateRange, Freshness, Metrics, Role, Timestamp, Warning},
    params::{Ignored, Paging, ParamValue, QueryParams, Sort, Text, Whole},
};

/// The days of headline metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, QueryParams)]
pub struct HeadlineParams {
    /// Number of final days that the headline metrics cover.
    #[param(default = "28", example = "28")]
    pub days: Whole<1, 480>,
    /// True adds the last 28 final days to each headline, day by day.
    #[param(default = "false", example = "true")]
    pub series: bool,
    /// True adds what is usual to each day of the series, and says if the last days of the headline are not usual.
    #[param(default = "false", example = "true")]
    pub usual: bool,
}

/// Parameters of one property.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
pub struct PropertyParams {
    /// The days of the headline metrics.
    #[param(flatten)]
    pub metrics: HeadlineParams,
    /// False leaves the headline out. Nothing is then read from the search engine, and `access` is what is known without it.
    #[param(default = "true", example = "true")]
    pub headline: bool,
    /// The parameters without effect.
    #[param(flatten)]
    pub ignored: Ignored,
}

/// The properties to list or to sum up. Without parameters: all that the caller can see.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
pub struct PropertyFilterParams {
    /// Only properties with this tag of the caller, by its id; 404 if the caller has no such tag. Without it: all.
    #[param(example = "0199d5c8-5c2a-7f43-8d4e-3f6b8c1a2d5e")]
    pub tag: Option<Uuid>,
    /// Only the caller's favourites (`true`), or only others (`false`). Without it: both.
    #[param(example = "true")]
    pub favorite: Option<bool>,
    /// Only properties on which the caller has this role. Without it: all.
    #[param(example = "owner")]
    pub role: Option<Role>,
    /// Only properties whose name, or the name of one of the caller's tags on them, contains this text; upper and lower case are equal, and
    /// so are a host in Unicode and in ASCII. Without it: all.
    #[param(example = "northmoor")]
    pub search: Option<Text<200>>,
}

/// Parameters of the property list.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
pub struct PropertyListParams {
    /// The days of the headline metrics.
    #[param(flatten)]
    pub metrics: HeadlineParams,
    /// False leaves headlines out. Nothing is then read from the search engine, and `access` is what is known without it.
    #[param(default = "true", example = "true")]
    pub headline: bool,
    /// The properties to list.
    #[param(flatten)]
    pub filter: PropertyFilterParams,
    /// Only hidden properties (`true`), or only others (`false`). Without it: both.
    #[param(example = "false")]
    pub hidden: Option<bool>,
    /// Sorts by `name`, by `clicks`, `impressions`, `ctr` or `position`, or by a change, such as `change.clicks` or
    /// `change.clicks.percent` (without an ending: absolute). A minus in front puts the largest first. Properties without the value come
    /// last. A metric needs the headlines of all properties that the filter leaves. Without it: favourites first, then by name.
    #[param(example = "change.clicks")]
    pub sort: Option<PropertySort>,
    /// The page of the list. Without a metric in `sort`, headlines of other properties are not read.
    #[param(flatten)]
    pub paging: Paging,
}

/// The order of the property list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PropertySort {
    /// By name.
    Name {
        /// True from Z to A.
        descending: bool,
    },
    /// By a metric of the headline, or by its change.
    Metric(Sort),
}

impl ParamValue for PropertySort {
    fn schema() -> Value {
        let metrics = Sort::schema();
        let pattern = metrics["pattern"].as_str().unwrap_or_default().replacen("(clicks", "(name|clicks", 1);
        json!({ "type": "string", "maxLength": metrics["maxLength"], "pattern": pattern })
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "name" => Ok(Self::Name { descending: false }),
            "-name" => Ok(Self::Name { descending: true }),
            other => Sort::parse(other).map(Self::Metric).map_err(|_| {
                "must be name, clicks, impressions, ctr, position, or the change of one, such as change.clicks or \
                 change.clicks.percent (not of ctr and position); a minus in front puts the largest first"
                    .to_owned()
            }),
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Name { descending: false } => json!("name"),
            Self::Name { descending: true } => json!("-name"),
            Self::Metric(sort) => sort.to_value(),
        }
    }
}

/// The tracked properties that the caller can see.
#[derive(Debug, Clone, PartialEq, Object)]
pub struct PropertyListAnswer {
    /// The properties.
    pub data: Vec<TrackedProperty>,
    /// Metadata of the answer.
    pub meta: PropertyListMeta,
}

/// Metadata of the list of properties.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct PropertyListMeta {
    /// Place of the page in the list.
    #[oai(flatten)]
    pub list: ListMeta,
    /// The state of the headlines that the answer needed; absent with `headline=false`.
    pub progress: Option<ReadingProgress>,
    /// Freshness of the property whose data ends first; absent without any headline.
    pub freshness: Option<Freshness>,
    /// Facts about the windows of the headlines that their numbers do not show; absent without any.
    #[oai(validator(max_items = 100))]
    pub warnings: Option<Vec<Warning>>,
}

/// The number of headlines by their state. The counts add up to the properties whose headlines the answer needed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct ReadingProgress {
    /// Properties whose headline is read.
    pub read: u64,
    /// Properties whose headline is still being read. Ask again.
    pub still_reading: u64,
    /// Properties that the search engine refuses, or for which it is away; as in `meta.coverage` of `getPortfolio`.
    pub refused: u64,
    /// Properties that the owner's plan does not cover.
    pub locked: u64,
    /// Properties whose search account is disconnected.
    pub disconnected: u64,
}

/// A tracked property that the caller can see, and its freshness.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(skip_serializing_if_is_none)]
pub struct PropertyAnswer {
    /// The property.
    pub data: TrackedProperty,
    /// Metadata of the answer; absent without a headline.
    pub meta: Option<PropertyMeta>,
}

/// Metadata of a property.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(skip_serializing_if_is_none)]
pub struct PropertyMeta {
    /// Freshness of the property's data.
    pub freshness: Freshness,
    /// Facts about the windows of the headlines that their numbers do not show; absent without any.
    #[oai(validator(max_items = 100))]
    pub warnings: Option<Vec<Warning>>,
    /// Parameters of the request that had no effect; absent without any.
    #[oai(validator(max_items = 30))]
    pub ignored: Option<Vec<String>>,
}

/// A tracked property that the caller can see.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct TrackedProperty {
    /// The property's id.
    pub id: Uuid,
    /// The search engine's identifier of the site: `sc-domain:…` or a URL prefix, byte for byte.
    #[oai(validator(max_length = 2048))]
    pub site_url: String,
    /// Short name of the site, for display: its host in Unicode, its port, and its path. Sites of one name differ by `siteUrl`.
    #[oai(validator(max_length = 2048))]
    pub name: String,
    /// Role of the caller.
    pub role: Role,
    /// Name of the owner, if it is not the caller and has one.
    #[oai(validator(max_length = 200))]
    pub owner_name: Option<String>,
    /// Verified e-mail address of the owner, if it is not the caller and has one.
    #[oai(validator(max_length = 320))]
    pub owner_email: Option<String>,
    /// True if the caller marked the property as a favourite.
    pub favorite: bool,
    /// True if the caller marked the property as hidden.
    pub hidden: bool,
    /// Ids of the caller's tags on it, in the caller's order.
    pub tag_ids: Vec<Uuid>,
    /// Shows if the property can be read.
    pub access: PropertyAccessState,
    /// Advice, if `access` is not `ok`.
    #[oai(validator(max_length = 500))]
    pub hint: Option<String>,
    /// Headline metrics; absent if `access` is not `ok`.
    pub headline: Option<Headline>,
}

/// Shows if a property can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "snake_case")]
pub enum PropertyAccessState {
    /// It can be read.
    Ok,
    /// Its headline waits in this service's own queue, or is being read. The next answer may have it.
    StillReading,
    /// The owner's plan does not cover it: there is no plan, its quota is smaller, or it lacks the team feature.
    SubscriptionRequired,
    /// The search engine refused the owner's stored grant.
    SearchAccountDisconnected,
    /// The search engine does not let the owner's search account read the site.
    Lost,
    /// The search engine is away, or refuses requests for its quota.
    SearchEngineUnavailable,
}

/// Metrics of the last final days.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct Headline {
    /// The days covered.
    pub window: DateRange,
    /// Metrics of these days.
    pub current: Metrics,
    /// Metrics of the same number of days before them; absent if they are older than the search engine's history.
    pub previous: Option<Metrics>,
    /// Reason why `previous` is absent.
    #[oai(validator(max_length = 200))]
    pub previous_reason: Option<String>,
    /// Current minus previous; absent without `previous`.
    pub change: Option<Change>,
    /// The last days of the window, if they are not usual; absent without `usual=true`, and where they are usual.
    pub unusual: Option<Unusual>,
    /// The last 28 final days, oldest first; absent without `series=true`.
    #[oai(validator(max_items = 28))]
    pub series: Option<Vec<DailyMetrics>>,
    /// Time at which the search engine was read, at most six hours ago.
    pub cached_at: Timestamp,
}

/// The metrics of a day.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(skip_serializing_if_is_none)]
pub struct DailyMetrics {
    /// The day.
    pub date: NaiveDate,
    /// Its metrics.
    #[oai(flatten)]
    pub metrics: Metrics,
    /// The usual range of the day; absent without `usual=true`, and where fewer than 4 of the 8 days are known.
    pub usual: Option<Usual>,
}
