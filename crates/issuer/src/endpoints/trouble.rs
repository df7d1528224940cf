//! Reasons why nobody came back from another provider signed in, in words for people.

use identity::relying_party::SignInError;
use maud::{Markup, html};
use poem::http::StatusCode;

use crate::upstream::arrival::{ArrivalError, Turned};

/// The reason why nobody came back signed in.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    /// The person refused at the provider, or the provider refused them.
    #[error("refused at the provider: {0}")]
    Refused(String),
    /// The provider does not respond.
    #[error("{0}")]
    Away(String),
    /// The provider's answer is invalid.
    #[error("{0}")]
    Invalid(String),
    /// The provider did not ask the person again.
    #[error("the provider did not ask for a new sign-in, or does not say when it last did")]
    NotAskedAgain,
    /// The person may not sign in.
    #[error(transparent)]
    Turned(Turned),
    /// Something failed here.
    #[error("{0}")]
    Internal(String),
}

impl From<SignInError> for Trouble {
    fn from(error: SignInError) -> Self {
        match error {
            SignInError::IssuerUnavailable(error) => Self::Away(error.to_string()),
            SignInError::Database(error) => Self::Internal(error.to_string()),
            other => Self::Invalid(other.to_string()),
        }
    }
}

impl From<ArrivalError> for Trouble {
    fn from(error: ArrivalError) -> Self {
        match error {
            ArrivalError::Turned(turned) => Self::Turned(turned),
            ArrivalError::Database(error) => Self::Internal(error.to_string()),
        }
    }
}

/// The status and title of the page.
pub(super) fn heading(trouble: &Trouble) -> (StatusCode, &'static str) {
    match trouble {
        Trouble::Refused(_) => (StatusCode::FORBIDDEN, "You have not signed in"),
        Trouble::Away(_) | Trouble::Internal(_) => {
            (StatusCode::SERVICE_UNAVAILABLE, "Sign-in is not available at the moment")
        }
        Trouble::Invalid(_) | Trouble::NotAskedAgain => (StatusCode::BAD_GATEWAY, "The sign-in failed"),
        Trouble::Turned(_) => (StatusCode::FORBIDDEN, "You cannot sign in with this account"),
    }
}

/// The text of the page: the reason and the way out.
pub(super) fn reason(trouble: &Trouble, host: &str) -> Markup {
    html! {
        p role="alert" {
            @match trouble {
                Trouble::Refused(error) if error == "access_denied" => { (host) " says that you have not agreed to sign in." },
                Trouble::Refused(_) => { (host) " did not sign you in." },
                Trouble::Away(_) => { (host) " does not answer. Try again in a few seconds." },
                Trouble::Invalid(_) => { "The answer of " (host) " cannot be used." },
                Trouble::NotAskedAgain => {
                    "The application asks for a new sign-in, and " (host) " does not show that there was one."
                },
                Trouble::Turned(turned) => (turned_away(turned, host)),
                Trouble::Internal(_) => { "Something failed here. Try again in a few seconds." },
            }
        }
        @match trouble {
            Trouble::Invalid(_) => p { "If it fails again, ask the operator of this service. The reason is in its log." },
            Trouble::Turned(turned) => p { (advice(turned, host)) },
            _ => {},
        }
    }
}

fn turned_away(turned: &Turned, host: &str) -> Markup {
    html! {
        @match turned {
            Turned::NotVouchedFor(Some(address)) => {
                (host) " says that your address is " strong { (address) } ", and does not say that it is verified. Only verified "
                "addresses open this service."
            },
            Turned::NotVouchedFor(None) => {
                (host) " does not say what your e-mail address is. Only verified addresses open this service."
            },
            Turned::NotInvited(address) => {
                (host) " knows you as " strong { (address) } ". This address has not been invited."
            },
            Turned::Taken(address) => {
                (host) " knows you as " strong { (address) } ". Another account here has this address."
            },
        }
    }
}

fn advice(turned: &Turned, host: &str) -> Markup {
    html! {
        @match turned {
            Turned::NotVouchedFor(_) => {
                "Verify your address at " (host) " and try again, or ask the operator of this service."
            },
            Turned::NotInvited(address) => {
                "Ask the operator of this service to add you with " code { "sightline user add " (address) } ", or sign in with another "
                "account."
            },
            Turned::Taken(_) => {
                "Ask the operator of this service whose account it is. If it is yours, they can free it for this sign-in."
            },
        }
    }
}
