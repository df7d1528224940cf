//! Fault injection: the kinds of faults and their rates.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// 403 `quotaExceeded` on the API: the long-lasting load quota.
    Quota403,
    /// 403 `forbidden` on the API: the caller lost the site.
    Permission403,
    /// 429 `rateLimitExceeded` on the API.
    Rate429,
    /// 500 `backendError` on the API.
    Error500,
    /// The body of an error with status 200, as a proxy may send it.
    Error200,
    /// 400 `invalid_grant` for a refresh token.
    InvalidGrant,
    /// The API's body is sent at one byte a second, slower than any client's deadline.
    Slow,
    /// The API's body ends halfway through the announced length.
    Truncated,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Quota403,
        Self::Permission403,
        Self::Rate429,
        Self::Error500,
        Self::Error200,
        Self::InvalidGrant,
        Self::Slow,
        Self::Truncated,
    ];

    /// The name in settings and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Quota403 => "quota403",
            Self::Permission403 => "permission403",
            Self::Rate429 => "rate429",
            Self::Error500 => "error500",
            Self::Error200 => "error200",
            Self::InvalidGrant => "invalid_grant",
            Self::Slow => "slow",
            Self::Truncated => "truncated",
        }
    }
}

/// A kind of fault and the share of requests it affects. Written `KIND:RATE`, for example `rate429:0.05`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// Share of the eligible requests, 0 to 1.
    pub rate: f64,
}

/// The error for a text that is not a [`Fault`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not KIND:RATE with a rate from 0 to 1 and one of the kinds {kinds}", kinds = kinds())]
pub struct InvalidFault(String);

fn kinds() -> String {
    FaultKind::ALL.map(FaultKind::name).join(", ")
}

impl FromStr for Fault {
    type Err = InvalidFault;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidFault(text.to_owned());
        let (kind, rate) = text.trim().split_once(':').ok_or_else(invalid)?;
        let kind = FaultKind::ALL.into_iter().find(|known| known.name() == kind).ok_or_else(invalid)?;
        let rate = rate.parse().ok().filter(|rate| (0.0..=1.0).contains(rate)).ok_or_else(invalid)?;
        Ok(Self { kind, rate })
    }
}

impl TryFrom<String> for Fault {
    type Error = InvalidFault;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Fault> for String {
    fn from(fault: Fault) -> Self {
        fault.to_string()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.name(), self.rate)
    }
}
