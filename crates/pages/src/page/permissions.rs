//! The rights of an application in plain words, on the page that asks for consent and on the account page.

use common::{
    allowance::Allowance,
    scope::{Scope, Scopes},
};
use maud::{Markup, html};

/// The permissions of an application's tokens.
#[derive(Debug, Clone, Copy)]
pub struct Permissions<'a> {
    /// The scopes that it asked for.
    pub scopes: &'a [String],
    /// The scopes that the person allows.
    pub rights: Scopes,
    /// True if the tokens open the REST API, false if they open the tool endpoint only.
    pub opens_api: bool,
}

impl Permissions<'_> {
    /// The list of rights.
    #[must_use]
    pub fn list(self) -> Markup {
        html! {
            ul {
                @for right in self.rights() { li { (right) } }
                li { (self.identity()) }
                li { (self.duration()) }
            }
        }
    }

    /// The list of rights in the API, without what the application learns of the person and how long it has access.
    #[must_use]
    pub fn list_rights(self) -> Markup {
        html! { ul { @for right in self.rights() { li { (right) } } } }
    }

    fn rights(self) -> Vec<&'static str> {
        let mut found = Vec::new();
        if self.rights.contains(Scope::SearchRead) {
            found.push("Read the search data and the records of every property that you can open");
        }
        if self.rights.contains(Scope::RecordsWrite) {
            found.push(if self.opens_api {
                "Create, change and delete records there: annotations, segments, topic clusters, branded keywords, tags and filter presets"
            } else {
                "Add annotations there"
            });
        }
        if self.rights.contains(Scope::Account) {
            if self.opens_api {
                found.push(
                    "Change who sees your properties: team members, share links and the choice of tracked properties",
                );
                found.push("Connect and disconnect SEO providers, and ask them questions that they charge you for");
                found.push("Download everything that is stored about you, and delete it for ever");
            } else {
                found.push("Ask your SEO providers questions that they charge you for");
            }
        }
        found
    }

    fn identity(self) -> &'static str {
        let exports = self.rights.contains(Scope::Account) && self.opens_api;
        match (self.has("profile") || exports, self.has("email") || exports) {
            (true, true) => "Know your name and e-mail address",
            (true, false) => "Know your name",
            (false, true) => "Know your e-mail address",
            (false, false) => "Know you by a number; your name is on records that you wrote",
        }
    }

    fn has(self, scope: &str) -> bool {
        self.scopes.iter().any(|asked| asked == scope)
    }

    fn duration(self) -> &'static str {
        if self.has("offline_access") {
            "Keep this access while you are away, until you or the application ends it or it is not used for 30 days"
        } else {
            "Keep this access for an hour"
        }
    }
}

/// The choices of how much to allow an application that asks for `rights`: the ones that make a difference. There are none if
/// it asks for no more than the narrowest allows.
#[must_use]
pub fn choices(rights: Scopes) -> Vec<Allowance> {
    let given = |choice: Allowance| rights.and(choice.scopes());
    let narrower = Allowance::ALL.into_iter().filter(|choice| ![rights, Scopes::NONE].contains(&given(*choice)));
    let mut found: Vec<Allowance> = narrower.collect();
    found.dedup_by_key(|choice| given(*choice));
    if !found.is_empty() {
        found.push(Allowance::Everything);
    }
    found
}

/// The field of a form with these choices, of which `chosen` is ticked, or the next narrower one. If all are wider, none is.
#[must_use]
pub fn choice_field(choices: &[Allowance], chosen: Allowance) -> Markup {
    let chosen = choices.iter().rev().find(|choice| **choice <= chosen);
    html! {
        fieldset {
            legend { "How much do you allow?" }
            @for choice in choices {
                label.choice {
                    input type="radio" name="allowance" value=(choice.as_str()) required checked[Some(choice) == chosen];
                    (words(*choice))
                }
            }
        }
    }
}

/// A choice in words.
#[must_use]
pub const fn words(choice: Allowance) -> &'static str {
    match choice {
        Allowance::Read => "Only read",
        Allowance::Records => "Read and write records",
        Allowance::Everything => "Everything it asks for",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_offered_makes_a_difference() {
        use Allowance::{Everything, Read, Records};
        for (asked, offered) in [
            ("search:read", &[][..]),
            ("account", &[]),
            ("records:write", &[]),
            ("search:read records:write", &[Read, Everything]),
            ("search:read account", &[Read, Everything]),
            ("records:write account", &[Records, Everything]),
            ("search:read records:write account", &[Read, Records, Everything]),
        ] {
            assert_eq!(choices(Scopes::named(asked.split(' '))), offered, "{asked}");
        }
    }

    #[test]
    fn a_token_for_the_tools_alone_deletes_nothing() {
        let list =
            |opens_api, rights| Permissions { scopes: &["openid".to_owned()], rights, opens_api }.list().into_string();
        assert!(list(true, Scopes::EVERY).contains("delete it for ever"));
        let of_tools = list(false, Scopes::EVERY);
        assert!(!of_tools.to_lowercase().contains("delete") && of_tools.contains("charge you"), "{of_tools}");
        let reading = list(true, Scopes::of(&[Scope::SearchRead]));
        for word in ["delete", "Create", "charge", "team"] {
            assert!(!reading.contains(word), "{word}: {reading}");
        }
        assert!(reading.contains("Read the search data") && reading.contains("by a number"), "{reading}");
    }
}
