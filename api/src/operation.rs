//! The table of operations, derived from the traits; the document, the middleware and the coverage tests read it.

use std::sync::LazyLock;

use poem::http::Method;

use crate::{
    Tag,
    error::Code,
    models::{Feature, Role},
    params::ParameterDoc,
    scope::Scope,
};

/// Callers that an operation admits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anyone, without credentials.
    Public,
    /// A bearer token or the web app's session cookie.
    SessionOrOauth,
    /// A share link's token in the path.
    ShareToken,
}

/// Effect of `Idempotency-Key` on a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idempotency {
    /// The first answer is stored and replayed.
    Enforced,
    /// The header is accepted and has no effect.
    Ignored,
}

/// Kind of `ETag` on a read's answer, used to compare the client's copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EtagKind {
    /// No tag: the answer is streamed, or public and different each time.
    None,
    /// Strong tag: the same bytes.
    Strong,
    /// Weak tag: the same numbers, computed from search data.
    Weak,
}

/// A part of a plan that an operation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanPart {
    /// A feature.
    Feature(Feature),
    /// Tracked properties.
    Tracking,
}

/// The end of an operation that another one replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deprecated {
    /// Day since which it is deprecated, `YYYY-MM-DD`.
    pub since: &'static str,
    /// Id of the operation that returns the same and more.
    pub successor: &'static str,
}

/// A parameter of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathParameter {
    /// `{id}` of a property.
    PropertyId,
    /// `{id}` of a tag.
    TagId,
    /// `{id}` of a filter preset.
    FilterPresetId,
    /// `{segmentId}`.
    SegmentId,
    /// `{clusterId}`.
    ClusterId,
    /// `{annotationId}`.
    AnnotationId,
    /// `{linkId}`.
    LinkId,
    /// `{memberId}`.
    MemberId,
    /// `{token}` of a share link.
    Token,
}

impl PathParameter {
    /// Every path parameter.
    pub const ALL: [Self; 9] = [
        Self::PropertyId,
        Self::TagId,
        Self::FilterPresetId,
        Self::SegmentId,
        Self::ClusterId,
        Self::AnnotationId,
        Self::LinkId,
        Self::MemberId,
        Self::Token,
    ];

    /// The name of its component in the document, its name in paths, and what it identifies.
    #[must_use]
    pub fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::PropertyId => ("PropertyId", "id", "property"),
            Self::TagId => ("TagId", "id", "tag"),
            Self::FilterPresetId => ("FilterPresetId", "id", "filter preset"),
            Self::SegmentId => ("SegmentId", "segmentId", "segment"),
            Self::ClusterId => ("ClusterId", "clusterId", "topic cluster"),
            Self::AnnotationId => ("AnnotationId", "annotationId", "annotation"),
            Self::LinkId => ("LinkId", "linkId", "share link"),
            Self::MemberId => ("MemberId", "memberId", "team grant"),
            Self::Token => ("ShareToken", "token", "share link"),
        }
    }
}

/// Declaration of an operation, taken from its trait method.
#[derive(Debug, Clone)]
pub struct Operation {
    /// The operation id, camelCase.
    pub id: &'static str,
    /// The HTTP method.
    pub method: Method,
    /// The path with `{names}`.
    pub path: &'static str,
    /// The tag.
    pub tag: Tag,
    /// Callers that it admits.
    pub access: Access,
    /// Scope that an access token needs, if any.
    pub scope: Option<Scope>,
    /// On writes: effect of an idempotency key.
    pub idempotency: Option<Idempotency>,
    /// On property-scoped operations: role that the caller needs on the property.
    pub role: Role,
    /// The part of a plan that it needs, if any.
    pub plan: Option<PlanPart>,
    /// On reads: kind of the answer's tag.
    pub etag: EtagKind,
    /// On reads: true if the answer may cost the caller money at a provider. Such a read refuses `HEAD`, and
    /// cross-site requests with the session cookie.
    pub is_paid: bool,
    /// Its end, if another operation replaces it.
    pub deprecated: Option<Deprecated>,
    /// Codes beyond those that follow from access, path and idempotency.
    pub errors: &'static [Code],
    /// The parameters of the path, in their order.
    pub path_parameters: &'static [PathParameter],
    /// True if the write takes `If-Match`.
    pub takes_if_match: bool,
    /// True if the write takes a body.
    pub takes_body: bool,
    /// Functions that document the query parameters.
    pub params: &'static [fn(&mut Vec<ParameterDoc>)],
    /// The name of the schema of `meta.question`, if the answer echoes its parameters there.
    pub question: Option<&'static str>,
    /// The doc comment.
    pub docs: &'static str,
}

impl Operation {
    /// Returns true if `{id}` in the path names a property.
    #[must_use]
    pub fn is_property_scoped(&self) -> bool {
        self.path_parameters.first() == Some(&PathParameter::PropertyId)
    }

    /// Returns true if the operation accepts the parameters of the conventions that mean nothing to it: every read of a property, and
    /// every answer that echoes its parameters.
    #[must_use]
    pub fn takes_conventions(&self) -> bool {
        self.question.is_some() || (self.method == Method::GET && self.is_property_scoped())
    }

    /// Returns true if answers name parameters that had no effect.
    #[must_use]
    pub fn names_ignored(&self) -> bool {
        self.takes_conventions() || self.parameters().iter().any(|parameter| !parameter.required)
    }

    /// The query parameters.
    #[must_use]
    pub fn parameters(&self) -> Vec<ParameterDoc> {
        let mut out = Vec::new();
        self.params.iter().for_each(|document| document(&mut out));
        out
    }

    /// The path as a URL template whose names say what each id identifies.
    #[must_use]
    pub fn template(&self) -> String {
        match self.path_parameters.first().map(|parameter| parameter.words()) {
            Some((component, "id", _)) => {
                let (initial, rest) = component.split_at(1);
                self.path.replacen("{id}", &format!("{{{}{rest}}}", initial.to_ascii_lowercase()), 1)
            }
            _ => self.path.to_owned(),
        }
    }

    /// Number of the path's `{names}` that have a value in `path`; `None` if `path` does not belong to this operation.
    #[must_use]
    pub fn matches(&self, path: &str) -> Option<usize> {
        // Most operations differ before the first name or after the last one.
        let literal_start = self.path.split('{').next().unwrap_or_default();
        let literal_end = self.path.rsplit('}').next().unwrap_or_default();
        if !path.starts_with(literal_start) || !path.ends_with(literal_end) {
            return None;
        }
        let (mut pattern, mut actual) = (self.path.split('/'), path.split('/'));
        let mut names = 0;
        loop {
            match (pattern.next(), actual.next()) {
                (None, None) => return Some(names),
                (Some(expected), Some(found)) if expected.starts_with('{') && !found.is_empty() => names += 1,
                (Some(expected), Some(found)) if expected == found => {}
                _ => return None,
            }
        }
    }

    /// Value of the path's `{name}` in `path`, which must belong to this operation.
    #[must_use]
    pub fn value<'p>(&self, name: &str, path: &'p str) -> Option<&'p str> {
        let is_named = |part: &str| part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) == Some(name);
        self.path.split('/').zip(path.split('/')).find(|(part, _)| is_named(part)).map(|(_, value)| value)
    }
}

static TABLE: LazyLock<Vec<Operation>> = LazyLock::new(|| crate::OPERATIONS.concat());

/// Every operation, in the order of the tags.
#[must_use]
pub fn all() -> &'static [Operation] {
    &TABLE
}

/// Returns the operation with this id.
#[must_use]
pub fn named(id: &str) -> Option<&'static Operation> {
    TABLE.iter().find(|operation| operation.id == id)
}

/// Returns the operations at the concrete `path`. A literal segment wins over a name, for every method, as in the router.
pub fn at(path: &str) -> impl Iterator<Item = &'static Operation> {
    let fewest_names = TABLE.iter().filter_map(|operation| operation.matches(path)).min();
    TABLE.iter().filter(move |operation| fewest_names.is_some() && operation.matches(path) == fewest_names)
}

/// Finds the operation for `method` and the concrete `path`.
#[must_use]
pub fn find(method: &Method, path: &str) -> Option<&'static Operation> {
    let wanted = if *method == Method::HEAD { &Method::GET } else { method };
    at(path).find(|operation| operation.method == *wanted)
}

/// Finds the operation that previews the creation or replacement of a record by `write`.
#[must_use]
pub fn preview_of(write: &Operation) -> Option<&'static Operation> {
    let list = match write.method {
        Method::POST => write.path,
        Method::PUT => write.path.rsplit_once('/')?.0,
        _ => return None,
    };
    TABLE.iter().find(|operation| operation.path.strip_suffix("/preview") == Some(list))
}

/// Lists every operation on a line of its own, for review: id, method, path, access, idempotency, role, tag of the
/// answer, scope, and feature of the plan.
#[must_use]
pub fn listing() -> String {
    let mut lines = Vec::new();
    let mut tag = None;
    for operation in all() {
        if tag.replace(operation.tag) != Some(operation.tag) {
            let gap = if lines.is_empty() { "" } else { "\n" };
            lines.push(format!("{gap}{:?}", operation.tag));
        }
        lines.push(line(operation));
    }
    lines.join("\n") + "\n"
}

fn line(operation: &Operation) -> String {
    let access = match operation.access {
        Access::Public => "public",
        Access::SessionOrOauth => "session-or-oauth",
        Access::ShareToken => "share-token",
    };
    let key = match operation.idempotency {
        Some(Idempotency::Enforced) => "enforced",
        Some(Idempotency::Ignored) => "ignored",
        None => "-",
    };
    let role =
        if operation.is_property_scoped() { format!("{:?}", operation.role).to_lowercase() } else { "-".to_owned() };
    let etag = match operation.etag {
        EtagKind::None => "-",
        EtagKind::Strong => "strong",
        EtagKind::Weak => "weak",
    };
    let plan = match operation.plan {
        Some(PlanPart::Feature(feature)) => format!("{feature:?}"),
        Some(PlanPart::Tracking) => "Tracking".to_owned(),
        None => "-".to_owned(),
    };
    let scope = operation.scope.map_or("-", Scope::as_str);
    let columns = format!(
        "{:<34} {:<6} {:<52} {access:<16} {key:<8} {role:<6} {etag:<6} {scope:<13} {plan}",
        operation.id,
        operation.method.as_str(),
        operation.path
    );
    format!("  {}", columns.trim_end())
}
