//! The columns of provider B's lists, with the units that each costs in a row.

/// A list's columns.
#[derive(Debug)]
pub(super) struct Columns {
    /// Columns that can be selected, with their units.
    pub selectable: &'static [(&'static str, u64)],
    /// Columns that can only be filtered by.
    pub filterable: &'static [&'static str],
    /// Selectable ones that cannot be sorted by.
    pub unsorted: &'static [&'static str],
}

impl Columns {
    /// The units of a column, or `None` if the list does not have it.
    pub fn units(&self, name: &str) -> Option<u64> {
        let listed = self.selectable.iter().find(|(known, _)| *known == name).map(|(_, units)| *units);
        listed.or_else(|| self.filterable.contains(&name).then_some(1))
    }
}

/// Columns that all lists of keywords have.
macro_rules! keyword_columns {
    ($($more:expr),* $(,)?) => {
        &[
            ("cpc", 1),
            ("cps", 1),
            ("difficulty", 10),
            ("first_seen", 1),
            ("global_volume", 10),
            ("intents", 10),
            ("keyword", 1),
            ("parent_topic", 1),
            ("serp_features", 1),
            ("serp_last_update", 1),
            ("traffic_potential", 10),
            ("volume", 10),
            ("volume_desktop_pct", 1),
            ("volume_mobile_pct", 1),
            ("volume_monthly", 10),
            $($more),*
        ]
    };
}

const KEYWORD_FILTERS: &[&str] = &["serp_domain_rating_top10_min", "serp_domain_rating_top5_min", "word_count"];

/// Figures of given keywords. A month of `volume_monthly_history` costs 2 units, billed apart.
pub(super) static OVERVIEW: Columns = Columns {
    selectable: keyword_columns![
        ("clicks", 1),
        ("parent_volume", 10),
        ("searches_pct_clicks_organic_and_paid", 1),
        ("searches_pct_clicks_organic_only", 1),
        ("searches_pct_clicks_paid_only", 1),
        ("volume_monthly_history", 0),
    ],
    filterable: KEYWORD_FILTERS,
    unsorted: &["volume_monthly", "volume_monthly_history"],
};

/// Keyword ideas.
pub(super) static IDEAS: Columns =
    Columns { selectable: keyword_columns![], filterable: KEYWORD_FILTERS, unsorted: &["volume_monthly"] };

/// Single backlinks.
pub(super) static BACKLINKS: Columns = Columns {
    selectable: &[
        ("ahrefs_rank_source", 1),
        ("ahrefs_rank_target", 1),
        ("alt", 1),
        ("anchor", 1),
        ("class_c", 5),
        ("discovered_status", 1),
        ("domain_rating_source", 1),
        ("domain_rating_target", 1),
        ("drop_reason", 1),
        ("encoding", 1),
        ("first_seen", 1),
        ("first_seen_link", 1),
        ("http_code", 1),
        ("http_crawl", 1),
        ("ip_source", 1),
        ("is_alternate", 1),
        ("is_canonical", 1),
        ("is_content", 1),
        ("is_dofollow", 1),
        ("is_form", 1),
        ("is_frame", 1),
        ("is_image", 1),
        ("is_lost", 1),
        ("is_new", 1),
        ("is_nofollow", 1),
        ("is_redirect", 1),
        ("is_redirect_lost", 1),
        ("is_root_source", 1),
        ("is_root_target", 1),
        ("is_rss", 1),
        ("is_spam", 1),
        ("is_sponsored", 1),
        ("is_text", 1),
        ("is_ugc", 1),
        ("js_crawl", 1),
        ("languages", 1),
        ("last_seen", 1),
        ("last_visited", 1),
        ("link_group_count", 1),
        ("link_type", 1),
        ("linked_domains_source_domain", 1),
        ("linked_domains_source_page", 1),
        ("linked_domains_target_domain", 1),
        ("links_external", 1),
        ("links_internal", 1),
        ("lost_reason", 1),
        ("name_source", 1),
        ("name_target", 1),
        ("noindex", 1),
        ("page_size", 1),
        ("port_source", 1),
        ("port_target", 1),
        ("positions", 1),
        ("powered_by", 1),
        ("redirect_code", 1),
        ("redirect_kind", 1),
        ("refdomains_source", 5),
        ("refdomains_source_domain", 5),
        ("refdomains_target_domain", 5),
        ("root_name_source", 1),
        ("root_name_target", 1),
        ("snippet_left", 1),
        ("snippet_right", 1),
        ("source_page_author", 1),
        ("title", 1),
        ("tld_class_source", 1),
        ("tld_class_target", 1),
        ("traffic", 10),
        ("traffic_domain", 10),
        ("url_from", 1),
        ("url_from_plain", 1),
        ("url_rating_source", 1),
        ("url_redirect", 1),
        ("url_redirect_with_target", 1),
        ("url_to", 1),
        ("url_to_plain", 1),
    ],
    filterable: &[],
    unsorted: &["link_group_count"],
};

/// Domains that link.
pub(super) static REFDOMAINS: Columns = Columns {
    selectable: &[
        ("dofollow_linked_domains", 1),
        ("dofollow_links", 1),
        ("dofollow_refdomains", 5),
        ("domain", 1),
        ("domain_rating", 1),
        ("first_seen", 1),
        ("ip_source", 1),
        ("is_root_domain", 1),
        ("is_spam", 1),
        ("last_seen", 1),
        ("links_to_target", 1),
        ("lost_links", 1),
        ("new_links", 1),
        ("positions_source_domain", 1),
        ("traffic_domain", 10),
    ],
    filterable: &[],
    unsorted: &[],
};

/// Keywords that a site ranks for.
pub(super) static ORGANIC: Columns = Columns {
    selectable: &[
        ("best_position", 1),
        ("best_position_has_thumbnail", 1),
        ("best_position_has_video", 1),
        ("best_position_kind", 1),
        ("best_position_set", 1),
        ("best_position_url", 1),
        ("cpc", 1),
        ("is_best_position_set_top_11_50", 1),
        ("is_best_position_set_top_3", 1),
        ("is_best_position_set_top_4_10", 1),
        ("is_branded", 1),
        ("is_commercial", 1),
        ("is_informational", 1),
        ("is_local", 1),
        ("is_main_position", 1),
        ("is_navigational", 1),
        ("is_transactional", 1),
        ("keyword", 1),
        ("keyword_country", 1),
        ("keyword_difficulty", 10),
        ("language", 1),
        ("last_update", 1),
        ("serp_features", 1),
        ("serp_features_count", 1),
        ("sum_traffic", 10),
        ("volume", 10),
        ("volume_desktop_pct", 1),
        ("volume_mobile_pct", 1),
        ("words", 1),
    ],
    filterable: &[],
    unsorted: &[],
};
