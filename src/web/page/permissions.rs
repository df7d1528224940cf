//! The rights of an application in plain words, on the page that asks for consent and on the account page.

use maud::{Markup, html};

/// The rights of a token with these scopes. Every token opens the whole API: a scope adds what the service tells of the person.
pub fn permissions(has: impl Fn(&str) -> bool) -> Markup {
    let identity = match (has("profile"), has("email")) {
        (true, true) => "Know your name and e-mail address",
        (true, false) => "Know your name",
        (false, true) => "Know your e-mail address",
        (false, false) => "Know you by a number, without name and address",
    };
    let duration = if has("offline_access") {
        "Keep this access while you are away, until you or the application ends it or it is not used for 30 days"
    } else {
        "Keep this access for an hour"
    };
    html! {
        ul {
            li { "Read the search data of every property that you can open" }
            li {
                "Change what you can change there: annotations, segments, topic clusters, branded keywords, tags, filters, share links, "
                "team members and the choice of tracked properties"
            }
            li { "Connect and disconnect SEO providers, and ask them questions that they charge you for" }
            li { "Download everything that is stored about you, and delete it for ever" }
            li { (identity) }
            li { (duration) }
        }
    }
}
