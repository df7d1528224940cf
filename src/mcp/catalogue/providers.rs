//! Tools that ask SEO providers, at the person's expense.

use super::{Declaration, Effect, RowLimits};

pub(super) const TOOLS: &[Declaration] = &[
    Declaration {
        name: "research_keywords",
        title: "Keyword research",
        description: "Search volume, cost per click, competition and difficulty of keywords, from the SEO provider that the person has \
                      connected, beside the property's own performance. It spends the person's credit: meta.cost says how much, and the \
                      same question is not paid twice while its answer is kept. Volumes are monthly estimates. Without keywords it asks \
                      about the property's top queries, and without country about the property's largest one. trend=true adds the monthly \
                      volumes.",
        operation: "getPropertyKeywordResearch",
        parameters: &["keywords", "country", "language", "provider", "trend"],
        series_by: Some("trend"),
        rows: RowLimits::LIMIT,
        effect: Effect::Pay,
        ..Declaration::READS
    },
    Declaration {
        name: "get_backlinks",
        title: "Backlinks",
        description: "Links from other sites to the property, from the SEO provider that the person has connected: a summary, links and \
                      referring domains. It spends the person's credit, and meta.cost says how much. Without scope: the summary, \
                      which costs least. Links and domains cost more, and rows that offset skips are paid for, too. The index is \
                      the provider's; it is never complete.",
        operation: "getPropertyBacklinks",
        parameters: &["provider", "scope", "status", "offset"],
        defaults: &[("scope", "summary")],
        rows: RowLimits::LIMIT,
        effect: Effect::Pay,
        ..Declaration::READS
    },
];
