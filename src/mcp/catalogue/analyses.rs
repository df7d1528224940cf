//! Tools that analyse search data.

use super::{DEFAULT_ROWS, Dates, Declaration, RowLimits};

/// The arguments that narrow the traffic, and the ones that choose the days.
const SLICE: [&str; 4] = ["classification", "searchType", "filters", "dataState"];

/// The arguments of the tools that show performance.
const PERFORMANCE: [&str; 11] = [
    SLICE[0],
    SLICE[1],
    SLICE[2],
    SLICE[3],
    "granularity",
    "scope",
    "includeSystem",
    "sort",
    "metricFilters",
    "queryOffset",
    "pageOffset",
];

const PERFORMANCE_ROWS: RowLimits = RowLimits {
    parameters: &["queryLimit", "pageLimit"],
    cut: &["data.tables.countries", "data.tables.searchAppearances"],
    default: DEFAULT_ROWS,
};

/// The rows of a tool that shows performance, by several dimensions at once.
const BY_DIMENSIONS: Declaration = Declaration {
    operation: "queryPropertyPerformance",
    chosen_by: Some("dimensions"),
    parameters: &["dimensions", SLICE[0], SLICE[1], SLICE[2], SLICE[3], "sort", "metricFilters", "offset"],
    rows: RowLimits::LIMIT,
    ..Declaration::READS
};

pub(super) const TOOLS: &[Declaration] = &[
    Declaration {
        name: "get_performance",
        title: "Search performance",
        description: "Clicks, impressions, CTR (0 to 1) and average position (1 is best) of one property, with its top queries, pages, \
                      countries and devices. Use it for \"how is my site doing\" and for top lists; scope=series gives one row a day, or \
                      a week or a month with granularity; dimensions gives one list of rows by up to three of them at once, such as query and page. \
                      Totals count all traffic. Query rows never add up to them, because the search engine hides rare queries \
                      (anonymised): clicksShare in the coverage says how much the rows explain. Data is final about three days after \
                      the day: dataState=all adds the days that still grow, and marks them notFinal. Days are in Pacific time.",
        operation: "getPropertyPerformance",
        parameters: &PERFORMANCE,
        defaults: &[("scope", "tables")],
        dates: Dates::Window,
        rows: PERFORMANCE_ROWS,
        ..Declaration::READS
    },
    Declaration { name: "get_performance", title: "Search performance", dates: Dates::Window, ..BY_DIMENSIONS },
    Declaration {
        name: "compare_periods",
        title: "Compare two periods",
        description: "The change of clicks, impressions, CTR and position between two windows, in total and for each query, page, country \
                      and device. Use it for \"what changed since\". Without dates it compares the last 28 final days with the 28 \
                      before. Changes are current minus previous; a lower position is better. presence=new or lost means that a row \
                      appears in one window only; unknown means that the other window's list was cut and may hold it. It shows where a \
                      change happened; explain_click_change splits a change of clicks into its parts. dimensions gives rows by up to three \
                      of query, page, country and device at once.",
        operation: "getPropertyPerformance",
        parameters: &PERFORMANCE,
        defaults: &[("scope", "tables")],
        dates: Dates::Compared,
        rows: PERFORMANCE_ROWS,
        ..Declaration::READS
    },
    Declaration { name: "compare_periods", title: "Compare two periods", dates: Dates::Compared, ..BY_DIMENSIONS },
    Declaration {
        name: "explain_click_change",
        title: "Why did clicks change",
        description: "Splits the change of clicks between two windows exactly: demand (impressions), position, and the rest of the CTR; \
                      then by branded and non-branded queries, and the queries, pages, countries and devices with the largest gains and \
                      losses, with new and lost ones. Use it for \"why did traffic drop\" and \"what drove the growth\". Without dates it \
                      compares the last 28 final days with the 28 before. The lists are alternatives: each adds up to the change by \
                      itself, with its remainder (anonymised queries, rows that were not read). It is arithmetic: annotations \
                      in the windows are events, not causes.",
        operation: "getPropertyPerformance",
        parameters: &SLICE,
        defaults: &[("explain", "true"), ("scope", "totals")],
        dates: Dates::Compared,
        rows: RowLimits { parameters: &["explainLimit"], cut: &[], default: 3 },
        ..Declaration::READS
    },
    Declaration {
        name: "find_cannibalization",
        title: "Pages that compete for a query",
        description: "Queries for which at least two pages of the property share the impressions, most impressions at stake first. They \
                      are candidates to review, not verdicts: two results for one query can be right. A query is listed from 50 \
                      impressions, a page from 10 impressions and 10 % of the query's, and only if no page has more than 80 %. \
                      suggestedOwner is the page with the most clicks. With a comparison, previous.state says of each query if it was a \
                      candidate before.",
        operation: "getPropertyCannibalization",
        parameters: &[
            SLICE[0],
            SLICE[1],
            SLICE[2],
            SLICE[3],
            "minQueryImpressions",
            "minPageImpressions",
            "minPageShare",
            "maxTopShare",
            "includeBranded",
            "sort",
            "metricFilters",
            "offset",
        ],
        dates: Dates::Comparable,
        rows: RowLimits::LIMIT,
        ..Declaration::READS
    },
    Declaration {
        name: "find_growth_opportunities",
        title: "Growth opportunities",
        description: "Queries that would bring more clicks: kind=rank at a better position, kind=snippet with a better title and \
                      description at the present position. Largest gain first. The gain in clicks is a heuristic from a CTR curve (own: \
                      the property's; static: a general one), not a forecast. By default positions 4 to 20 and at least 100 impressions \
                      count, and branded queries are left out.",
        operation: "getPropertyGrowthOpportunities",
        parameters: &[
            SLICE[0],
            SLICE[1],
            SLICE[2],
            SLICE[3],
            "kind",
            "minPosition",
            "maxPosition",
            "minImpressions",
            "targetPosition",
            "includeBranded",
            "sort",
            "metricFilters",
            "offset",
        ],
        dates: Dates::Comparable,
        rows: RowLimits::LIMIT,
        ..Declaration::READS
    },
    Declaration {
        name: "get_query_insights",
        title: "Visibility and branded split",
        description: "How the known queries spread over positions 1-3, 4-10, 11-20 and 21+, a visibility index (0 to 100), and the traffic \
                      split into branded, non-branded and anonymised. ctrByPosition is the site's own CTR at each position. With a comparison \
                      it also lists new, lost and moving queries. Use it for \"are we gaining visibility\" and \"how much of our traffic is \
                      brand\". The branded split needs branded keywords on the property. granularity adds the series, which are left out \
                      without it.",
        operation: "getPropertyQueryInsights",
        parameters: &[
            SLICE[0],
            SLICE[1],
            SLICE[2],
            SLICE[3],
            "granularity",
            "minImpressions",
            "includeBranded",
            "sort",
            "metricFilters",
            "offset",
        ],
        dates: Dates::Comparable,
        rows: RowLimits::LIMIT,
        series_by: Some("granularity"),
        ..Declaration::READS
    },
    Declaration {
        name: "get_countries",
        title: "Performance by country",
        description: "Clicks, impressions, CTR and position of each country, most clicks first. Countries are ISO 3166-1 alpha-3 codes in \
                      lower case; zzz is unknown.",
        operation: "listPropertyCountries",
        parameters: &[SLICE[0], SLICE[1], SLICE[2], SLICE[3], "sort", "metricFilters", "offset"],
        dates: Dates::Comparable,
        rows: RowLimits::LIMIT,
        ..Declaration::READS
    },
];
