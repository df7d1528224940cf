//! Names the parameter of a method that the protocol's SDK could not read.

use serde_json::Value;

use super::clean::echo;

/// The type of a parameter.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Object,
    /// The prompt or the resource template whose argument is completed.
    Reference,
}

/// A parameter: its place in `params`, its type, and whether it is required.
type Parameter = (&'static [&'static str], Kind, bool);

/// The parameter that every method has.
const META: Parameter = (&["_meta"], Kind::Object, false);

/// Returns the parameters of a method.
fn parameters(method: &str) -> &'static [Parameter] {
    match method {
        "initialize" => &[
            (&["protocolVersion"], Kind::Text, true),
            (&["capabilities"], Kind::Object, true),
            (&["clientInfo"], Kind::Object, true),
            (&["clientInfo", "name"], Kind::Text, true),
            (&["clientInfo", "version"], Kind::Text, true),
        ],
        "tools/call" | "prompts/get" => &[(&["name"], Kind::Text, true), (&["arguments"], Kind::Object, false)],
        "resources/read" => &[(&["uri"], Kind::Text, true)],
        "completion/complete" => &[
            (&["ref"], Kind::Reference, true),
            (&["argument"], Kind::Object, true),
            (&["argument", "name"], Kind::Text, true),
            (&["argument", "value"], Kind::Text, true),
        ],
        _ => &[],
    }
}

/// Returns what is wrong with the parameters of a message that the SDK could not read.
#[must_use]
pub fn fault(method: &str, params: &Value) -> String {
    let fault = parameters(method).iter().chain([&META]).find_map(|(place, kind, is_required)| {
        let given = place.iter().fold(params, |value, name| &value[*name]);
        let is_missing = given.is_null();
        let is_wrong = if is_missing { *is_required } else { !kind.holds(given) };
        let required = if is_missing { "is required and " } else { "" };
        is_wrong.then(|| format!("{}: {required}must be {}", place.join("."), kind.allowed()))
    });
    fault.unwrap_or_else(|| format!("params: do not fit {}", echo(method)))
}

impl Kind {
    fn holds(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Object => value.is_object(),
            Self::Reference => match value["type"].as_str() {
                Some("ref/prompt") => value["name"].is_string(),
                Some("ref/resource") => value["uri"].is_string(),
                _ => false,
            },
        }
    }

    fn allowed(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Object => "an object",
            Self::Reference => r#"{"type": "ref/prompt", "name": …} or {"type": "ref/resource", "uri": …}"#,
        }
    }
}
