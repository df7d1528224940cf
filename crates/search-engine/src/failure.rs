//! Classifies an error response and decides whether to retry. Quota errors arrive as 403 as well as 429, so the *reason*
//! decides, not the status.

use std::time::Duration;

use common::json::unmarked;
use serde::Deserialize;
use serde_json::Value;
use telemetry::upstream::UpstreamOutcome;

use super::error::SearchEngineError;

/// Recovery time of the load quota, from the search engine's documentation.
const LOAD_QUOTA: Duration = Duration::from_mins(15);

/// The reaction to a failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The access token was refused: refresh it, once.
    Refresh(String),
    /// Retry, after at least the given time if the response had one.
    Retry(Option<Duration>, String),
    /// Do not retry.
    Fail(SearchEngineError),
}

/// A parsed error response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The next step.
    pub verdict: Verdict,
    /// True if the quota is used up, so that fewer requests help.
    pub over_quota: bool,
}

impl Failure {
    /// Its name among the metrics.
    #[must_use]
    pub fn outcome(&self) -> UpstreamOutcome {
        match self.verdict {
            _ if self.over_quota => UpstreamOutcome::Quota,
            Verdict::Retry(..) => UpstreamOutcome::Failed,
            Verdict::Refresh(_) | Verdict::Fail(_) => UpstreamOutcome::Refused,
        }
    }
}

impl From<Verdict> for Failure {
    /// A failure unrelated to the quota.
    fn from(verdict: Verdict) -> Self {
        Self { verdict, over_quota: false }
    }
}

impl From<SearchEngineError> for Failure {
    /// A failure to get an access token.
    fn from(error: SearchEngineError) -> Self {
        match error {
            SearchEngineError::Unavailable { detail, .. } => Verdict::Retry(None, detail).into(),
            error => Verdict::Fail(error).into(),
        }
    }
}

/// The three formats of the member `error` in one. Every field may be absent.
#[derive(Debug, Default, Deserialize)]
struct Problem {
    #[serde(default)]
    message: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    errors: Vec<Item>,
    #[serde(default)]
    details: Vec<Item>,
}

#[derive(Debug, Default, Deserialize)]
struct Item {
    #[serde(default)]
    reason: String,
}

/// Reasons and statuses that mean too many requests.
const TOO_FAST: [&str; 4] = ["quotaExceeded", "rateLimitExceeded", "userRateLimitExceeded", "RESOURCE_EXHAUSTED"];

/// Parses an error response.
#[must_use]
pub fn judge(status: u16, retry_after: Option<Duration>, body: &[u8]) -> Failure {
    let mut body: Value = serde_json::from_slice(unmarked(body)).unwrap_or_default();
    let error = body.get_mut("error").map(Value::take).filter(Value::is_object);
    let is_foreign = error.is_none();
    let problem: Problem = error.and_then(|error| serde_json::from_value(error).ok()).unwrap_or_default();
    let reasons: Vec<&str> = problem.errors.iter().chain(&problem.details).map(|item| item.reason.as_str()).collect();
    let is = |names: &[&str]| reasons.iter().any(|reason| names.contains(reason)) || names.contains(&&*problem.status);
    let said = format!("{status} {} {}", reasons.join(","), problem.message);
    let load = matches!(status, 403 | 429) && (problem.message.contains("load quota") || is(&["dailyLimitExceeded"]));
    let over_quota = load || status == 429 || status == 403 && is(&TOO_FAST);
    let verdict = match status {
        // It comes from a proxy in between, and says nothing about the account or the site.
        _ if is_foreign => Verdict::Retry(retry_after, said),
        401 => Verdict::Refresh(said),
        403 | 429 if load => {
            let retry_after = retry_after.unwrap_or_default().max(LOAD_QUOTA);
            Verdict::Fail(SearchEngineError::Unavailable { retry_after, quota: true, detail: said })
        }
        403 if over_quota => Verdict::Retry(retry_after, said),
        403 if is(&["accessNotConfigured", "SERVICE_DISABLED"]) => {
            Verdict::Fail(SearchEngineError::Misconfigured(said))
        }
        403 if is(&["insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"]) => {
            Verdict::Fail(SearchEngineError::ScopeMissing(said))
        }
        403 if is(&["forbidden", "PERMISSION_DENIED"]) => Verdict::Fail(SearchEngineError::PermissionLost(said)),
        404 => Verdict::Fail(SearchEngineError::PermissionLost(said)),
        // A 403 without a reason is a proxy's, too.
        403 | 408 | 429 | 500.. => Verdict::Retry(retry_after, said),
        _ => Verdict::Fail(SearchEngineError::InvalidRequest(said)),
    };
    Failure { verdict, over_quota }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(reason: &str, message: &str) -> Vec<u8> {
        format!(r#"{{"error":{{"code":403,"message":"{message}","errors":[{{"domain":"x","reason":"{reason}"}}]}}}}"#)
            .into()
    }

    #[test]
    fn the_reason_decides_not_the_status() {
        let kind = |status, reason: &str, message: &str| match judge(status, None, &body(reason, message)).verdict {
            Verdict::Refresh(_) => "refresh",
            Verdict::Retry(..) => "retry",
            Verdict::Fail(SearchEngineError::PermissionLost(_)) => "lost",
            Verdict::Fail(SearchEngineError::ScopeMissing(_)) => "scope",
            Verdict::Fail(SearchEngineError::Misconfigured(_)) => "operator",
            Verdict::Fail(SearchEngineError::InvalidRequest(_)) => "invalid",
            Verdict::Fail(SearchEngineError::Unavailable { retry_after, .. }) if retry_after >= LOAD_QUOTA => "later",
            Verdict::Fail(_) => "other",
        };
        let cases = [
            (400, "badRequest", "", "invalid"),
            (400, "invalidParameter", "", "invalid"),
            (401, "authError", "Invalid Credentials", "refresh"),
            (403, "forbidden", "User does not have sufficient permission", "lost"),
            (403, "insufficientPermissions", "", "scope"),
            (403, "accessNotConfigured", "", "operator"),
            (403, "quotaExceeded", "Search Analytics load quota exceeded.", "later"),
            (429, "quotaExceeded", "Search Analytics load quota exceeded.", "later"),
            (403, "quotaExceeded", "Search Analytics QPS quota exceeded.", "retry"),
            (403, "rateLimitExceeded", "", "retry"),
            (403, "userRateLimitExceeded", "", "retry"),
            (403, "dailyLimitExceeded", "", "later"),
            (429, "dailyLimitExceeded", "", "later"),
            (429, "", "Search Analytics load quota exceeded.", "later"),
            (429, "rateLimitExceeded", "", "retry"),
            (404, "notFound", "", "lost"),
            (500, "backendError", "", "retry"),
            (503, "", "", "retry"),
        ];
        for (status, reason, message, expected) in cases {
            assert_eq!(kind(status, reason, message), expected, "{status} {reason} {message}");
        }
    }

    #[test]
    fn a_used_up_quota_is_waited_for_whatever_shorter_time_the_search_engine_names() {
        let longer = LOAD_QUOTA * 2;
        for (named, expected) in [
            (None, LOAD_QUOTA),
            (Some(Duration::ZERO), LOAD_QUOTA),
            (Some(Duration::from_secs(1)), LOAD_QUOTA),
            (Some(LOAD_QUOTA), LOAD_QUOTA),
            (Some(longer), longer),
        ] {
            let Verdict::Fail(SearchEngineError::Unavailable { retry_after, quota: true, .. }) =
                judge(429, named, &body("dailyLimitExceeded", "")).verdict
            else {
                panic!("{named:?}")
            };
            assert_eq!(retry_after, expected, "{named:?}");
        }
    }

    #[test]
    fn the_quota_is_told_from_other_refusals() {
        let over_quota = |status, reason: &str, message: &str| judge(status, None, &body(reason, message)).over_quota;
        for status in [403, 429] {
            for reason in ["quotaExceeded", "rateLimitExceeded", "userRateLimitExceeded", "dailyLimitExceeded"] {
                assert!(over_quota(status, reason, ""), "{status} {reason}");
            }
            assert!(over_quota(status, "", "Search Analytics load quota exceeded."), "{status}");
        }
        assert!(judge(429, None, b"<html>").over_quota);
        assert!(judge(403, None, br#"{"error":{"status":"RESOURCE_EXHAUSTED"}}"#).over_quota);
        let others = [(400, "badRequest"), (401, "authError"), (403, "forbidden"), (403, ""), (500, "backendError")];
        for (status, reason) in others {
            assert!(!over_quota(status, reason, ""), "{status} {reason}");
        }
    }

    #[test]
    fn bodies_without_errors_or_status_are_read_too() {
        let scope = br#"{"error":{"code":403,"details":[{"@type":"x","reason":"ACCESS_TOKEN_SCOPE_INSUFFICIENT"}]}}"#;
        assert!(matches!(judge(403, None, scope).verdict, Verdict::Fail(SearchEngineError::ScopeMissing(_))));
        let exhausted = br#"{"error":{"code":403,"status":"RESOURCE_EXHAUSTED"}}"#;
        assert!(matches!(judge(403, None, exhausted).verdict, Verdict::Retry(..)));
    }

    #[test]
    fn a_refusal_of_a_proxy_says_nothing_about_the_account_or_the_site() {
        let bodies = [
            "",
            "<html>blocked",
            "{}",
            "[]",
            "null",
            "\"no\"",
            "{\"error\":null}",
            "{\"error\":\"x\"}",
            "{\"error\":[]}",
        ];
        for body in bodies {
            for status in [204, 302, 400, 401, 403, 404, 407, 410, 413, 418, 429, 451, 500, 502, 511, 520] {
                let Failure { verdict, over_quota } = judge(status, None, body.as_bytes());
                assert!(matches!(verdict, Verdict::Retry(..)), "{status} {body}: {verdict:?}");
                assert_eq!(over_quota, status == 429, "{status} {body}");
            }
        }
        let strange = br#"{"error":{"code":401,"message":null}}"#;
        assert!(matches!(judge(401, None, strange).verdict, Verdict::Refresh(_)), "its error is an object");
        let statuses = [500, 501, 502, 503, 504, 520];
        for status in statuses {
            assert!(matches!(judge(status, None, &body("", "")).verdict, Verdict::Retry(..)), "{status}");
        }
    }
}
