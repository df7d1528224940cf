//! Paths outside the API, each with its endpoint and its methods.

use std::sync::Arc;

use poem::{IntoEndpoint, Route};

/// Paths with their methods, for `Allow`.
pub type Methods = Arc<[(&'static str, &'static str)]>;

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

    /// Returns the router and the methods of its paths.
    #[must_use]
    pub fn into_parts(self) -> (Route, Methods) {
        (self.routes, self.methods.into())
    }
}
