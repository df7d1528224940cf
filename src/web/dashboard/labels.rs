//! The names of fields in refusals, as the labels of pages have them.

use std::{borrow::Cow, sync::LazyLock};

use regex::{Captures, Regex};

/// The fields of days, each with its label.
const DAYS: [(&str, &str); 8] = [
    ("window.startDate", "First day"),
    ("window.endDate", "Last day"),
    ("startDate", "First day"),
    ("endDate", "Last day"),
    ("compareStart", "First day of the comparison"),
    ("compareEnd", "Last day of the comparison"),
    ("expiresAt", "Open until"),
    ("date", "Day"),
];

/// A field of days at the beginning of a refusal, or where it is compared with another.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    let names = DAYS.map(|(name, _)| regex::escape(name)).join("|");
    // The names are plain text.
    #[expect(clippy::unwrap_used, reason = "a constant")]
    Regex::new(&format!(r"(^|after |before |give either period or |and )({names})(:|,|;|\.|$| )")).unwrap()
});

/// Returns a refusal with the labels of the fields of days in place of their names.
pub fn labelled(hint: &str) -> Cow<'_, str> {
    NAMED.replace_all(hint, |found: &Captures| {
        let label = DAYS.iter().find(|(name, _)| *name == &found[2]).map_or(&found[2], |(_, label)| label);
        format!("{}{label}{}", &found[1], &found[3])
    })
}

/// Returns whether a refusal is about the days of a question.
pub fn is_about_days(hint: &str) -> bool {
    let field = hint.split_once(':').map_or(hint, |(field, _)| field);
    field == "period" || DAYS.iter().any(|(name, _)| *name == field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_days_have_their_labels() {
        for (hint, said) in [
            ("startDate: must not be after endDate", "First day: must not be after Last day"),
            ("window.startDate: must not be after window.endDate", "First day: must not be after Last day"),
            ("endDate: must not be before date", "Last day: must not be before Day"),
            ("expiresAt: must be in the future", "Open until: must be in the future"),
            ("date: must be a date such as 2026-11-18", "Day: must be a date such as 2026-11-18"),
            (
                "period: give either period or startDate and endDate",
                "period: give either period or First day and Last day",
            ),
            ("email: is your own address", "email: is your own address"),
            ("text: must not hold a date", "text: must not hold a date"),
        ] {
            assert_eq!(labelled(hint), said);
        }
        assert!(is_about_days("endDate: required") && is_about_days("period: x") && !is_about_days("filters: x"));
    }
}
