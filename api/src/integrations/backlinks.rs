//! Backlinks: both providers behind one shape.

use chrono::NaiveDate;
use poem_openapi::{Enum, Object};
use serde::Serialize;

use super::{Provider, ProviderMeta};
use crate::params::{Ignored, QueryParams, Whole};

/// Parameters of the backlinks.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
pub struct BacklinksParams {
    /// The provider to ask. Without it: the connected one, A before B.
    #[param(example = "a")]
    pub provider: Option<Provider>,
    /// The part to return and to pay for. Without it: all parts.
    #[param(example = "links")]
    pub scope: Option<BacklinkScope>,
    /// Status of the links and domains to return. The summary always counts live links.
    #[param(default = "live", example = "live")]
    pub status: BacklinkStatus,
    /// Number of links and of domains to skip. Provider B has no pages: skipped rows are paid for, and `offset` and `limit`
    /// together are at most 1,000.
    #[param(default = "0", example = "0")]
    pub offset: Whole<0, 20_000>,
    /// Maximum number of links, and of referring domains.
    #[param(default = "100", example = "100")]
    pub limit: Whole<1, 1000>,
    /// The parameters without effect.
    #[param(flatten)]
    pub ignored: Ignored,
}

/// A part of the backlinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "lowercase")]
pub enum BacklinkScope {
    /// Counts and rank.
    Summary,
    /// Single links.
    Links,
    /// Domains that link.
    Domains,
}

crate::enum_param!(BacklinkScope);

/// Status of backlinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum BacklinkStatus {
    /// Links that still exist, and domains with such links.
    Live,
    /// Links that the provider found recently, and domains with such links.
    New,
    /// Links that are gone, and domains whose last link is gone.
    Lost,
    /// All links and domains.
    All,
}

crate::enum_param!(BacklinkStatus);

/// Backlinks of a property's site.
#[derive(Debug, Clone, PartialEq, Object)]
pub struct BacklinksAnswer {
    /// The results.
    pub data: Backlinks,
    /// The provider, the time, the cost and the credit that is left.
    pub meta: ProviderMeta,
}

/// Backlinks of a property's site. Parts that `scope` leaves out are absent.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct Backlinks {
    /// The domain or host that the links lead to, from the property's `siteUrl`. For a host that begins with `www.`, provider A
    /// counts links to the name with and without it.
    #[oai(validator(max_length = 255))]
    pub target: String,
    /// True if links to subdomains of `target` count.
    pub includes_subdomains: bool,
    /// The scale of every rank in this answer.
    pub rank_scale: RankScale,
    /// Summary of the live links.
    pub summary: Option<BacklinkSummary>,
    /// Links with the status, strongest source first.
    pub links: Option<BacklinkList>,
    /// Referring domains with links of the status, strongest first.
    pub domains: Option<ReferringDomainList>,
}

/// The scale of a provider's ranks. Ranks on different scales are different measures and cannot be converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
pub enum RankScale {
    /// Provider A's rank, 0 to 1,000.
    #[oai(rename = "0-1000")]
    Thousand,
    /// Provider B's domain rating, 0 to 100.
    #[oai(rename = "0-100")]
    Hundred,
}

/// Summary of the live links.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct BacklinkSummary {
    /// Live links.
    pub backlinks: u64,
    /// Domains that the links come from.
    pub referring_domains: u64,
    /// The site's rank, on `rankScale`.
    #[oai(validator(minimum(value = "0"), maximum(value = "1000")))]
    pub rank: Option<f64>,
}

/// A page of links.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct BacklinkList {
    /// Links with the status, on all pages, if the provider says how many.
    pub rows_matched: Option<u64>,
    /// True if more links follow; absent if the provider does not say how many there are.
    pub has_more: Option<bool>,
    /// The links.
    #[oai(validator(max_items = 1000))]
    pub rows: Vec<BacklinkRow>,
}

/// A link.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct BacklinkRow {
    /// The page that links.
    #[oai(validator(max_length = 4096))]
    pub url_from: String,
    /// The page it links to.
    #[oai(validator(max_length = 4096))]
    pub url_to: String,
    /// The text of the link.
    #[oai(validator(max_length = 4096))]
    pub anchor: Option<String>,
    /// True if search engines are asked to follow the link. Absent if the provider does not say.
    pub dofollow: Option<bool>,
    /// The rank of the linking domain, on `rankScale`.
    #[oai(validator(minimum(value = "0"), maximum(value = "1000")))]
    pub source_rank: Option<f64>,
    /// The day it was first seen.
    pub first_seen: Option<NaiveDate>,
    /// The day it was last seen.
    pub last_seen: Option<NaiveDate>,
    /// True if the provider found the link recently.
    pub is_new: bool,
    /// True if the link is gone.
    pub lost: bool,
}

/// A page of referring domains.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct ReferringDomainList {
    /// Domains with the status, on all pages, if the provider says how many.
    pub rows_matched: Option<u64>,
    /// True if more domains follow; absent if the provider does not say how many there are.
    pub has_more: Option<bool>,
    /// The domains.
    #[oai(validator(max_items = 1000))]
    pub rows: Vec<ReferringDomain>,
}

/// A domain that links.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct ReferringDomain {
    /// The domain.
    #[oai(validator(max_length = 255))]
    pub domain: String,
    /// Its rank, on `rankScale`.
    #[oai(validator(minimum(value = "0"), maximum(value = "1000")))]
    pub rank: Option<f64>,
    /// Links from it.
    pub backlinks: u64,
    /// The day a link from it was first seen.
    pub first_seen: Option<NaiveDate>,
    /// The day on which the last link from it was gone.
    pub lost_at: Option<NaiveDate>,
}
