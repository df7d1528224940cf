//! The ways out of errors: the part that is missing, and the person who must act.

use std::sync::Arc;

/// The person who must act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Responsible {
    /// The caller.
    Caller,
    /// The owner of the property, as the team shows them to the caller, in quotation marks. `None` if nobody is shown.
    Owner(Option<Arc<str>>),
}

impl Responsible {
    /// The subject of a sentence, and the verb to the caller in its place.
    #[must_use]
    pub fn must(&self, verb: &str) -> String {
        match self {
            Self::Caller => {
                let mut verb = verb.to_owned();
                verb[..1].make_ascii_uppercase();
                verb
            }
            Self::Owner(None) => format!("The owner of the property must {verb}"),
            Self::Owner(Some(name)) => format!("The owner of the property, {name}, must {verb}"),
        }
    }
}

/// The part of a subscription that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// The requested feature.
    This,
    /// Team members.
    Team,
    /// This many tracked properties.
    Tracked(u64),
}

impl Lack {
    pub(super) fn way_out(self, by: &Responsible) -> String {
        let wanted = match self {
            Self::This => "subscribe to a plan that includes this".to_owned(),
            Self::Team => "subscribe to a plan with a team".to_owned(),
            Self::Tracked(properties) => {
                format!("subscribe to a plan that tracks {properties} properties, or untrack others")
            }
        };
        format!("{}.", by.must(&wanted))
    }
}

/// A search account that cannot be used, and the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disconnected {
    /// The reason.
    pub reason: Disconnection,
    /// The person whose account it is, who must act.
    pub by: Responsible,
    /// The URL of the account page. `None` if this deployment has none.
    pub page: Option<Arc<str>>,
}

/// The reason why a search account cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disconnection {
    /// The person has never connected one.
    NeverConnected,
    /// The search engine refused the stored grant.
    Revoked,
    /// The grant does not allow reading search data.
    ScopeMissing,
    /// The person disconnected it here.
    ByPerson,
}

impl Disconnected {
    pub(super) fn way_out(&self) -> String {
        if self.by != Responsible::Caller {
            return format!("{}.", self.by.must("reconnect the search account"));
        }
        let place = self.page.as_deref().map_or_else(
            || ". This service has no account page: its operator must set identity.client_id first.".to_owned(),
            |page| format!(" at {page}."),
        );
        match self.reason {
            Disconnection::NeverConnected => format!("No search account is connected. Connect yours{place}"),
            Disconnection::Revoked => {
                format!(
                    "The search engine has ended the access of your search account. Reconnect your search account{place}"
                )
            }
            Disconnection::ScopeMissing => format!(
                "Your search account does not let this service read search data. Leave that box ticked when you reconnect your \
                 search account{place}"
            ),
            Disconnection::ByPerson => {
                format!("You disconnected this search account. Reconnect your search account{place}")
            }
        }
    }
}
