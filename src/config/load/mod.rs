//! Reads the settings: defaults, then the file, then credentials of systemd, then `SIGHTLINE_*` variables, of which one may name the file of
//! a secret.

mod files;

use std::path::Path;

use common::{memory, plain_text::quoted};
use figment::{
    Figment, Metadata, Profile, Source,
    error::Kind,
    providers::{Format, Serialized, Toml},
    value::{Dict, Map, Value},
};

use super::{
    Cache, Config,
    check::Refusal,
    table::{self, Kind as SettingKind},
};

const PREFIX: &str = "SIGHTLINE_";

/// An invalid setting, described for the operator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

/// Reads the settings from `file`, if it exists, and overrides them with credentials and `variables`. An empty variable is none.
///
/// # Errors
/// Names the invalid setting and the allowed values. An unknown key is an error too.
pub fn load(file: &Path, variables: impl IntoIterator<Item = (String, String)>) -> Result<Config, ConfigError> {
    load_over(&Config::default(), file, variables)
}

fn load_over(
    defaults: &Config,
    file: &Path,
    variables: impl IntoIterator<Item = (String, String)>,
) -> Result<Config, ConfigError> {
    let mut figment = Figment::from(Serialized::defaults(defaults));
    if file.exists() {
        figment = figment.merge(Toml::file_exact(file));
    }
    let variables: Vec<(String, String)> = variables.into_iter().collect();
    for secret in files::credentials(&variables)? {
        figment = figment.merge(secret);
    }
    for (name, text) in &variables {
        if let Some(secret) = files::named(name, text, &variables)? {
            figment = figment.merge(secret);
            continue;
        }
        // A file that becomes a variable brings its last end of line along, and environment files keep spaces beside `=`. A variable that
        // is passed on by its name alone is often empty.
        let text = text.trim();
        if name.starts_with(PREFIX) && is_quoted(text) {
            let hint = "the value has quotation marks around it, which `docker run --env-file` keeps; leave them out";
            return Err(ConfigError(format!("variable {name}: {hint}")));
        }
        if let Some(key) = setting(name).filter(|_| !text.is_empty()) {
            figment = figment.merge(Variable { name: format!("variable {name}"), value: typed(&key, text), key });
        }
    }
    let config: Config = figment.extract().map_err(|error| ConfigError(describe(&figment, &error)))?;
    config.check().map_err(|refusal| {
        let source = source(figment.find_metadata(&refusal.setting));
        ConfigError(format!("{source}{refusal}"))
    })?;
    Ok(config)
}

impl Config {
    /// The settings of this process, from `sightline.toml` in the working folder and from the environment.
    ///
    /// # Errors
    /// Same as [`load`].
    pub fn of_process() -> Result<Self, ConfigError> {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())));
        let defaults = Self { cache: Cache::within(memory::limit()), ..Self::default() };
        load_over(&defaults, Path::new("sightline.toml"), variables)
    }
}

/// Returns whether a value has quotation marks around it.
fn is_quoted(text: &str) -> bool {
    text.len() > 1 && ['"', '\''].iter().any(|mark| text.starts_with(*mark) && text.ends_with(*mark))
}

/// `SIGHTLINE_RATE_LIMIT__BURST` -> `rate_limit.burst`.
fn setting(variable: &str) -> Option<String> {
    Some(variable.strip_prefix(PREFIX)?.to_lowercase().replace("__", "."))
}

/// Converts a variable, which is text. It becomes a number, boolean or list only if the setting is one, so that a secret
/// made of digits stays text.
fn typed(key: &str, text: &str) -> Value {
    match table::find(key).map_or(SettingKind::Text, |setting| setting.kind) {
        SettingKind::Boolean => match text.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Value::from(true),
            "false" | "0" | "no" | "off" => Value::from(false),
            _ => Value::from(text),
        },
        SettingKind::Number => text.parse().unwrap_or_else(|_| Value::from(text)),
        SettingKind::List => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            Value::from(items.map(Value::from).collect::<Vec<_>>())
        }
        SettingKind::Text => Value::from(text),
    }
}

/// One variable, or one file of a secret, as a separate source, so that errors name it.
struct Variable {
    /// Begins with `variable` or `credential`.
    name: String,
    key: String,
    value: Value,
}

impl figment::Provider for Variable {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.name.clone())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        let nested = figment::util::nest(&self.key, self.value.clone());
        Ok(Profile::Default.collect(nested.into_dict().unwrap_or_default()))
    }
}

fn describe(figment: &Figment, error: &figment::Error) -> String {
    let (source, key) = (source(error.metadata.as_ref()), error.path.join("."));
    match (&error.kind, table::find(&key)) {
        (Kind::UnknownField(field, allowed), _) => {
            let key = if error.path.last() == Some(field) { key } else { join(&key, field) };
            let allowed = allowed.join(", ");
            match table::nearest(&key) {
                None => format!("{source}unknown setting `{key}`; allowed here are {allowed}"),
                Some(name) if source.starts_with("variable ") => {
                    format!("{source}unknown setting `{key}`. Did you mean `{name}` ({})?", table::variable(name))
                }
                Some(name) => {
                    format!("{source}unknown setting `{key}`. Did you mean `{name}`? Allowed here are {allowed}")
                }
            }
        }
        (_, Some(setting)) => {
            let refusal = Refusal { setting: setting.name.clone(), allowed: setting.allowed.clone() };
            let element = error.path.last().and_then(|index| element(figment, &setting.name, index));
            element.map_or_else(
                || format!("{source}{refusal}"),
                |element| format!("{source}{refusal}; {} is not", quoted(&element)),
            )
        }
        (kind, None) if key.is_empty() => format!("{source}{}", without_excerpt(&kind.to_string())),
        (_, None) => format!("{source}setting `{key}`: allowed is a table of settings"),
    }
}

/// The file or variable that sets a value, as the beginning of a message. Empty for a default.
fn source(metadata: Option<&Metadata>) -> String {
    match metadata {
        Some(Metadata { source: Some(Source::File(file)), .. }) => format!("{}: ", file.display()),
        Some(metadata) if ["variable ", "credential "].iter().any(|kind| metadata.name.starts_with(kind)) => {
            format!("{}: ", metadata.name)
        }
        _ => String::new(),
    }
}

/// The text in a list. No list contains secrets.
fn element(figment: &Figment, setting: &str, index: &str) -> Option<String> {
    let list = figment.find_value(setting).ok()?.into_array()?;
    list.get(index.parse::<usize>().ok()?)?.as_str().map(str::to_owned)
}

/// A syntax error quotes its line, which may contain a secret. This keeps only the position and the kind of error.
fn without_excerpt(text: &str) -> String {
    let mut lines = text.lines();
    let (place, problem) = (lines.next().unwrap_or_default(), lines.next_back());
    problem.map_or_else(|| place.to_owned(), |problem| format!("{place}: {problem}"))
}

fn join(path: &str, field: &str) -> String {
    if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") }
}

#[cfg(test)]
mod tests;
