//! Names for people: what the search engine's codes of countries, devices and search appearances mean.

use crate::{countries, wire::Dimension};

/// Search appearances and their names, in order of code.
const APPEARANCES: [(&str, &str); 32] = [
    ("AMP_BLUE_LINK", "AMP non-rich results"),
    ("AMP_IMAGE_RESULT", "AMP image results"),
    ("AMP_TOP_STORIES", "AMP articles"),
    ("ANDROID_APP", "Android apps"),
    ("BREADCRUMB", "Breadcrumbs"),
    ("DISCUSSION_FORUM", "Discussion forums"),
    ("EDU_Q_AND_A", "Education Q&A"),
    ("EVENT_DETAILS", "Event details"),
    ("EVENT_LISTING", "Event listings"),
    ("INSTANT_APP", "Instant apps"),
    ("JOB_DETAILS", "Job details"),
    ("JOB_LISTING", "Job listings"),
    ("LEARNING_VIDEOS", "Learning videos"),
    ("MATH_SOLVERS", "Math solvers"),
    ("MERCHANT_LISTINGS", "Merchant listings"),
    ("NEWS_SHOWCASE", "News Showcase"),
    ("ORGANIC_SHOPPING", "Shopping listings"),
    ("PAGE_EXPERIENCE", "Good page experience"),
    ("PRACTICE_PROBLEMS", "Practice problems"),
    ("PRODUCT_SNIPPETS", "Product snippets"),
    ("PROFILE_PAGE", "Profile pages"),
    ("RECIPE_FEATURE", "Recipe gallery"),
    ("RECIPE_RICH_SNIPPET", "Recipe snippets"),
    ("REVIEW_SNIPPET", "Review snippets"),
    ("SUBSCRIBED_CONTENT", "Subscribed content"),
    ("TPF_FAQ", "FAQ rich results"),
    ("TPF_HOWTO", "How-to rich results"),
    ("TPF_QA", "Q&A rich results"),
    ("TRANSLATED_RESULT", "Translated results"),
    ("VIDEO", "Videos"),
    ("WEBLITE", "Web Light results"),
    ("WEB_STORY", "Web stories"),
];

/// Devices and their names.
const DEVICES: [(&str, &str); 3] = [("DESKTOP", "Desktop"), ("MOBILE", "Mobile"), ("TABLET", "Tablet")];

/// Returns the name of a key of `dimension`. A code without a name is its own name. `None` if the keys of the dimension are texts.
#[must_use]
pub fn label(dimension: Dimension, key: &str) -> Option<&str> {
    let named = |known: &[(&str, &'static str)]| known.iter().find(|(code, _)| *code == key).map(|(_, name)| *name);
    let name = match dimension {
        Dimension::Country => country(key),
        Dimension::Device => named(&DEVICES),
        Dimension::SearchAppearance => named(&APPEARANCES),
        _ => return None,
    };
    Some(name.unwrap_or(key))
}

/// Returns the name of a country.
fn country(code: &str) -> Option<&'static str> {
    countries::index_of(code).map(|index| countries::COUNTRIES[index].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_names_and_texts_have_none() {
        for (dimension, key, name) in [
            (Dimension::Country, "deu", Some("Germany")),
            (Dimension::Country, "zzz", Some("Unknown")),
            (Dimension::Country, "qqq", Some("qqq")),
            (Dimension::Device, "MOBILE", Some("Mobile")),
            (Dimension::Device, "WATCH", Some("WATCH")),
            (Dimension::SearchAppearance, "PRODUCT_SNIPPETS", Some("Product snippets")),
            (Dimension::SearchAppearance, "TPF_NEW", Some("TPF_NEW")),
            (Dimension::Query, "deu", None),
            (Dimension::Page, "MOBILE", None),
        ] {
            assert_eq!(label(dimension, key), name, "{dimension:?} {key}");
        }
    }
}
