//! Tools for a person's properties and for the records of a property.

use super::{Dates, Declaration, Effect, Rows};

/// The tools that an assistant needs first.
pub(super) const FIRST: &[Declaration] = &[
    Declaration {
        name: "list_properties",
        title: "Properties",
        description: "The websites (properties) that the person tracks, with clicks, impressions, CTR and position of the last final \
                      days and the change to as many days before. Call it first if the person has not named a site. access says if a \
                      property can be read; where it is not ok, hint says what the person must do.",
        operation: "listProperties",
        parameters: &["days"],
        defaults: &[],
        dates: Dates::None,
        rows: Rows::LIST,
        effect: Effect::Read,
    },
    Declaration {
        name: "get_connection_health",
        title: "Connection health",
        description: "The state of the person's connections: search accounts (status, last success, last error) and SEO providers \
                      (connected or not, credit left). Use it when data is missing or a tool says that an account is disconnected; hint \
                      says what the person must do.",
        operation: "getIntegrationsStatus",
        parameters: &[],
        defaults: &[],
        dates: Dates::None,
        rows: Rows::NONE,
        effect: Effect::Read,
    },
];

pub(super) const TOOLS: &[Declaration] = &[
    Declaration {
        name: "list_annotations",
        title: "Annotations",
        description: "Dated notes on a property, newest first: releases, campaigns and, with includeSystem, the search engine's known \
                      counting anomalies. They are events near a change, not its causes.",
        operation: "listPropertyAnnotations",
        parameters: &["includeSystem"],
        defaults: &[],
        dates: Dates::Calendar,
        rows: Rows::LIST,
        effect: Effect::Read,
    },
    Declaration {
        name: "add_annotation",
        title: "Add an annotation",
        description: "Adds a dated note to a property, for everyone who sees it. Only add one that the person has asked for. A call with \
                      the same idempotencyKey adds it once. Needs the role editor.",
        operation: "createPropertyAnnotation",
        parameters: &[],
        defaults: &[],
        dates: Dates::None,
        rows: Rows::NONE,
        effect: Effect::Add,
    },
    Declaration {
        name: "list_segments",
        title: "Segments",
        description: "The property's segments: saved groups of pages. Give one to other tools as classification=segment:<id>.",
        operation: "listPropertySegments",
        parameters: &[],
        defaults: &[],
        dates: Dates::None,
        rows: Rows::LIST,
        effect: Effect::Read,
    },
    Declaration {
        name: "list_topic_clusters",
        title: "Topic clusters",
        description: "The property's topic clusters: saved groups of queries. Give one to other tools as \
                      classification=topicCluster:<id>.",
        operation: "listPropertyTopicClusters",
        parameters: &[],
        defaults: &[],
        dates: Dates::None,
        rows: Rows::LIST,
        effect: Effect::Read,
    },
    Declaration {
        name: "list_branded_keywords",
        title: "Branded keywords",
        description: "The names that make a query of this property branded. classification=branded and classification=nonBranded of other \
                      tools rest on them. With suggest, meta.suggestions has terms that may be missing, from the name of the site and from \
                      navigational queries, each with its evidence: they are for the person to judge.",
        operation: "listPropertyBrandedKeywords",
        parameters: &["suggest"],
        defaults: &[],
        dates: Dates::None,
        rows: Rows::LIST,
        effect: Effect::Read,
    },
];
