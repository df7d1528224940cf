//! Tools for a person's properties and for records.

use super::{DEFAULT_ROWS, Dates, Declaration, Effect, RowLimits};

/// The tools that an assistant needs first.
pub(super) const FIRST: &[Declaration] = &[
    Declaration {
        name: "list_properties",
        title: "Properties",
        description: "The websites (properties) that the person tracks, those with the most clicks first, with clicks, impressions, CTR \
                      and position of the last final days and the change to as many days before. Call it first if the person has not \
                      named a site; search finds properties by name or tag. access says if a property can be read; where it is not ok, \
                      hint says what the person must do. \
                      compareTo gives sums over all sites, each visit counted once, and the sites that gained and lost most clicks \
                      since the days that it names: use it for \"which of my sites lost most\" and \"how are all my sites doing\".",
        operation: "listProperties",
        parameters: &["search", "days", "tag", "favorite", "sort"],
        defaults: &[("sort", "-clicks")],
        rows: RowLimits::LIST,
        ..Declaration::READS
    },
    Declaration {
        name: "list_properties",
        title: "Properties",
        operation: "getPortfolio",
        chosen_by: Some("compareTo"),
        parameters: &["search", "days", "tag", "favorite"],
        defaults: &[("series", "false")],
        dates: Dates::LastDays,
        rows: RowLimits { parameters: &["movers"], cut: &["data.tags"], default: DEFAULT_ROWS },
        ..Declaration::READS
    },
    Declaration {
        name: "get_connection_health",
        title: "Connection health",
        description: "The state of the person's search accounts, checked now: status, last success, last error, sites that are refused. Use \
                      it when data is missing or a tool says that an account is disconnected; hint says what the person must do.",
        operation: "listSearchAccountHealth",
        ..Declaration::READS
    },
];

/// A kind of records that `list_records` lists.
const RECORDS: Declaration =
    Declaration { name: "list_records", title: "Records", rows: RowLimits::LIST, ..Declaration::READS };

pub(super) const TOOLS: &[Declaration] = &[
    Declaration {
        kind: "annotations",
        description: "dated notes on a property, newest first: releases, campaigns and, with includeSystem, ranking updates and known \
                      faults of the search engine's data. They are events near a change, not its causes.",
        operation: "listPropertyAnnotations",
        parameters: &["includeSystem"],
        dates: Dates::Calendar,
        ..RECORDS
    },
    Declaration {
        kind: "segments",
        description: "saved groups of a property's pages. Give one to other tools as classification=segment:<id>.",
        operation: "listPropertySegments",
        ..RECORDS
    },
    Declaration {
        kind: "topic_clusters",
        description: "saved groups of a property's queries. Give one to other tools as classification=topicCluster:<id>.",
        operation: "listPropertyTopicClusters",
        ..RECORDS
    },
    Declaration {
        kind: "branded_keywords",
        description: "the names that make a query of a property branded; classification=branded and nonBranded rest on them. With \
                      suggest, meta.suggestions has terms that may be missing, each with its evidence, for the person to judge.",
        operation: "listPropertyBrandedKeywords",
        parameters: &["suggest"],
        ..RECORDS
    },
    Declaration {
        kind: "tags",
        description: "the person's own labels on properties. Takes no property.",
        operation: "listTags",
        ..RECORDS
    },
    Declaration {
        kind: "filter_presets",
        description: "the person's own saved conditions, to copy into filters of other tools. Takes no property.",
        operation: "listFilterPresets",
        ..RECORDS
    },
    Declaration {
        name: "add_annotation",
        title: "Add an annotation",
        description: "Adds a dated note to a property, for everyone who sees it. Only add one that the person has asked for. A call with \
                      the same idempotencyKey adds it once. Needs the role editor.",
        operation: "createPropertyAnnotation",
        effect: Effect::Add,
        ..Declaration::READS
    },
];
