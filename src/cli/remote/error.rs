//! The reasons why a command got nothing from a server, in words for the person who ran it.

/// The reason why a command got nothing from a server.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The server or its issuer did not respond, or the response is invalid.
    #[error("{0}")]
    Failed(String),
    /// The issuer requires a person to use a page first.
    #[error(
        "the server has no such demo person: demo people are owner, editor, viewer, stranger and lapsed, and network with simulator.sites, and a \
         public server has none. `sightline login` without `--as` opens a browser"
    )]
    NeedsBrowser,
    /// The issuer refused.
    #[error("the server refused the sign-in: {0}")]
    Refused(String),
    /// Nobody signed in at the page.
    #[error("nobody signed in at that address in time")]
    TimedOut,
    /// The folder of stored sign-ins cannot be used.
    #[error("the stored sign-in: {0}")]
    Stored(#[from] std::io::Error),
}

impl RemoteError {
    /// The refusal of an issuer: a code, and perhaps a sentence.
    #[must_use]
    pub fn refused(code: String, description: Option<String>) -> Self {
        Self::Refused(match description {
            Some(description) => format!("{code}: {description}"),
            None => code,
        })
    }
}
