//! Paths outside the API, each with its endpoint and its methods.

use std::sync::Arc;

use poem::{IntoEndpoint, Route};

/// The path of the tool endpoint, below `mcp_url`.
pub const TOOLS: &str = "/mcp";

/// Paths with their methods, for `Allow`.
pub type Methods = Arc<[(&'static str, &'static str)]>;

/// Returns whether `path` is one of `pattern`, in which a segment that starts with a colon matches any one, and one
/// that starts with an asterisk for all that follow.
#[must_use]
pub fn is_at(pattern: &str, path: &str) -> bool {
    matches(pattern, path, |part| !part.is_empty())
}

/// Returns whether the router leads `path` to `pattern`: for it, an empty segment is any one, too.
#[must_use]
pub fn is_led_to(pattern: &str, path: &str) -> bool {
    matches(pattern, path, |_| true)
}

fn matches(pattern: &str, path: &str, is_any: impl Fn(&str) -> bool) -> bool {
    let (mut expected, mut found) = (pattern.split('/'), path.split('/'));
    loop {
        match (expected.next(), found.next()) {
            (None, None) => return true,
            (Some(segment), Some(_)) if segment.starts_with('*') => return true,
            (Some(segment), Some(part)) if segment == part || (segment.starts_with(':') && is_any(part)) => {}
            _ => return false,
        }
    }
}

/// Returns the first segment of `path` that `pattern`, at which it is, names by a colon.
#[must_use]
pub fn named<'p>(pattern: &str, path: &'p str) -> Option<&'p str> {
    pattern.split('/').zip(path.split('/')).find(|(segment, _)| segment.starts_with(':')).map(|(_, part)| part)
}

/// Returns whether `path` is `start` or a path below it.
#[must_use]
pub fn is_below(start: &str, path: &str) -> bool {
    path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Paths outside the API.
#[derive(Default)]
pub struct Paths {
    routes: Route,
    methods: Vec<(&'static str, &'static str)>,
}

impl Paths {
    /// Serves `endpoint`, which answers `methods`, at `path`.
    #[must_use]
    pub fn at<E>(mut self, path: &'static str, methods: &'static str, endpoint: E) -> Self
    where
        E: IntoEndpoint,
        E::Endpoint: 'static,
    {
        self.methods.push((path, methods));
        Self { routes: self.routes.at(path, endpoint), ..self }
    }

    /// Adds the methods of a path that another router serves.
    #[must_use]
    pub fn elsewhere(mut self, path: &'static str, methods: &'static str) -> Self {
        self.methods.push((path, methods));
        self
    }

    /// Returns the router and the methods of its paths.
    #[must_use]
    pub fn into_parts(self) -> (Route, Methods) {
        (self.routes, self.methods.into())
    }
}

#[cfg(test)]
mod tests {
    use super::{is_at, is_below, is_led_to, named};

    #[test]
    fn a_path_is_below_whole_segments() {
        assert!(is_below("/api", "/api") && is_below("/api", "/api/tags") && is_below("/api", "/api/"));
        assert!(!is_below("/api", "/apix") && !is_below("/api", "/") && !is_below("/api", "/x/api"));
    }

    #[test]
    fn a_named_segment_matches_any_segment() {
        let pattern = "/account/sessions/:id/end";
        assert!(is_at(pattern, "/account/sessions/x/end") && is_at("/docs", "/docs") && is_at("/", "/"));
        for other in ["/account/sessions//end", "/account/sessions/x", "/account/sessions/x/y/end", "/account", ""] {
            assert!(!is_at(pattern, other), "{other}");
        }
        assert!(is_at("/account/*rest", "/account/x/y") && !is_at("/account/*rest", "/account"));
        assert!(is_led_to(pattern, "/account/sessions//end") && !is_led_to(pattern, "/account/sessions/end"));
        assert_eq!([named(pattern, "/account/sessions/x/end"), named("/docs", "/docs")], [Some("x"), None]);
    }
}
