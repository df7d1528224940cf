//! The table of all settings, made from the fields of [`Config`]: for docs/SETTINGS.md, for variables, and for refusals.
//!
//! A field's doc comment is its meaning. `range` or `x-allowed` beside it, or its type, says what is allowed. `x-default` says what
//! holds where [`Config::default`] has nothing.

use std::{fmt::Write as _, ops::RangeInclusive, sync::LazyLock};

use pages::page::words::grouped;
use schemars::generate::SchemaSettings;
use serde_json::Value;
use strsim::damerau_levenshtein;

use super::{Config, units};

/// A setting.
pub(super) struct Setting {
    /// The dotted name, such as `rate_limit.burst`.
    pub name: String,
    pub kind: Kind,
    /// True if nobody may see the value.
    pub is_secret: bool,
    /// The allowed values, in words.
    pub allowed: String,
    /// The numbers that are allowed.
    pub range: RangeInclusive<u64>,
    default: String,
    meaning: String,
}

/// The kind of value that a variable's text becomes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Boolean,
    List,
    Text,
}

/// All settings, by name.
pub(super) static SETTINGS: LazyLock<Vec<Setting>> = LazyLock::new(|| {
    let generator = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true).into_generator();
    let (schema, mut found) = (generator.into_root_schema_for::<Config>(), Vec::new());
    collect("", schema.as_value(), &values(&Config::default()), &mut found);
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
});

/// The beginning of the page.
const PAGE: &str = "# Settings

`sightline settings` prints this page. [SELF-HOSTING.md](SELF-HOSTING.md#settings) says where settings are written, and how these secrets are read
from files: $secrets.

| setting | variable | default | allowed | meaning |
| --- | --- | --- | --- | --- |
";

/// docs/SETTINGS.md.
#[must_use]
pub fn page() -> String {
    let secrets = SETTINGS.iter().filter(|setting| setting.is_secret).map(|setting| format!("`{}`", setting.name));
    let mut page = PAGE.replace("$secrets", &secrets.collect::<Vec<_>>().join(", "));
    for Setting { name, default, allowed, meaning, .. } in SETTINGS.iter() {
        let variable = variable(name);
        // Writing to a string cannot fail.
        let _ = writeln!(page, "| `{name}` | `{variable}` | {default} | {allowed} | {meaning} |");
    }
    page
}

/// The variable of a setting, such as `SIGHTLINE_RATE_LIMIT__BURST`.
pub(super) fn variable(name: &str) -> String {
    format!("SIGHTLINE_{}", name.replace('.', "__").to_uppercase())
}

/// Returns the setting with this name. The name may lead on to an element of the setting's list.
pub(super) fn find(path: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| {
        path.strip_prefix(setting.name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// The setting, or the table of settings, whose name is a slip or two away from `key`.
pub(super) fn nearest(key: &str) -> Option<&'static str> {
    /// The most letters that are left out, added, exchanged or swapped.
    const SLIPS: usize = 2;
    /// The letters of a name for each of them.
    const LETTERS: usize = 3;
    // A variable may have one underscore in place of two.
    let plain = |name: &str| name.replace('.', "_");
    let slips = |name: &str| damerau_levenshtein(&plain(name), &plain(key));
    let tables = |name: &'static str| name.match_indices('.').map(|(end, _)| &name[..end]);
    let names = SETTINGS.iter().map(|setting| setting.name.as_str());
    let names = names.flat_map(|name| tables(name).chain([name]));
    let (distance, name) = names.map(|name| (slips(name), name)).min_by_key(|(distance, _)| *distance)?;
    (distance <= SLIPS && distance * LETTERS <= key.len()).then_some(name)
}

/// The values of all settings, in tables.
pub(super) fn values(config: &Config) -> Value {
    #[expect(clippy::expect_used, reason = "settings are text, numbers, booleans and lists of them")]
    serde_json::to_value(config).expect("JSON")
}

fn collect(parent: &str, schema: &Value, defaults: &Value, found: &mut Vec<Setting>) {
    for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
        let name = if parent.is_empty() { field.clone() } else { format!("{parent}.{field}") };
        if schema.get("properties").is_some() {
            collect(&name, schema, &defaults[field], found);
        } else {
            found.push(Setting::new(name, schema, &defaults[field]));
        }
    }
}

impl Setting {
    fn new(name: String, schema: &Value, default: &Value) -> Self {
        let kind = match () {
            () if is(schema, "integer") => Kind::Number,
            () if is(schema, "boolean") => Kind::Boolean,
            () if is(schema, "array") => Kind::List,
            () => Kind::Text,
        };
        let bound = |name: &str| schema[name].as_u64();
        Self {
            kind,
            is_secret: schema["x-secret"] == true,
            allowed: allowed(schema),
            default: shown(schema, default),
            meaning: schema["description"].as_str().unwrap_or_default().replace('\n', " "),
            range: bound("minimum").unwrap_or(0)..=bound("maximum").unwrap_or(u64::MAX),
            name,
        }
    }
}

/// Returns whether a schema has a type, beside null or alone.
fn is(schema: &Value, name: &str) -> bool {
    let kind = &schema["type"];
    kind == name || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == name))
}

fn allowed(schema: &Value) -> String {
    if let Some(text) = schema["x-allowed"].as_str() {
        return text.to_owned();
    }
    let names: Vec<String> = schema["oneOf"].as_array().into_iter().flatten().map(|one| code(&one["const"])).collect();
    let bound = |name: &str| schema[name].as_u64().filter(|bound| *bound > 0).map(|bound| number(schema, bound));
    match (bound("minimum"), bound("maximum")) {
        _ if !names.is_empty() => names.join(" or "),
        _ if is(schema, "boolean") => "`true` or `false`".to_owned(),
        _ if schema["format"] == units::BYTES => "a number of bytes such as 1048576 or 256MiB".to_owned(),
        (least, Some(most)) => format!("{} to {most}", least.as_deref().unwrap_or("0")),
        (Some(least), None) => format!("a whole number from {least}"),
        (None, None) if is(schema, "integer") => "a whole number".to_owned(),
        _ => "a text".to_owned(),
    }
}

/// A default, as a person would write it.
fn shown(schema: &Value, default: &Value) -> String {
    match default {
        Value::Null => schema["x-default"].as_str().unwrap_or("none").to_owned(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Number(plain) => plain.as_u64().map_or_else(|| plain.to_string(), |plain| number(schema, plain)),
        other => code(other),
    }
}

fn code(value: &Value) -> String {
    value.as_str().map_or_else(|| format!("`{value}`"), |text| format!("`{text}`"))
}

/// A number with its unit, or with a comma between groups of three digits.
fn number(schema: &Value, number: u64) -> String {
    let format = schema["format"].as_str().unwrap_or_default();
    units::written(number, format).unwrap_or_else(|| grouped(number as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_says_what_it_means_and_what_is_allowed() {
        assert!(SETTINGS.len() > 90, "{}", SETTINGS.len());
        for setting in SETTINGS.iter() {
            let cells = [&setting.allowed, &setting.default, &setting.meaning];
            assert!(cells.iter().all(|cell| !cell.is_empty() && !cell.contains(['|', '\n'])), "{}", setting.name);
            assert!(setting.meaning.ends_with('.'), "{}: {}", setting.name, setting.meaning);
        }
    }

    #[test]
    fn a_row_shows_numbers_with_their_units() {
        let page = page();
        for row in [
            "| `cache.ttl` | `SIGHTLINE_CACHE__TTL` | 6h | 1s to 6h | ",
            "| `connections.max` | `SIGHTLINE_CONNECTIONS__MAX` | 800 | 1 to 1,000,000 | ",
            "| `identity.registration` | `SIGHTLINE_IDENTITY__REGISTRATION` | `open` | `open` or `closed` | ",
            "| `plans.agency.tracked_properties` | `SIGHTLINE_PLANS__AGENCY__TRACKED_PROPERTIES` | 250 | a whole number | ",
            "| `rate_limit.burst` | `SIGHTLINE_RATE_LIMIT__BURST` | 60 | a whole number from 1 | ",
            "| `secrets.key` | `SIGHTLINE_SECRETS__KEY` | made once, kept in `data_dir`; none with PostgreSQL on another machine | 64 hex digits | ",
        ] {
            assert!(page.contains(row), "{row}");
        }
    }

    #[test]
    fn a_slip_in_a_name_leads_to_the_name_that_was_meant() {
        for (key, meant) in [
            ("lisen", Some("listen")),
            ("rate_limit.burts", Some("rate_limit.burst")),
            ("rate_limit_burst", Some("rate_limit.burst")),
            ("rate_limt", Some("rate_limit")),
            ("database_url", Some("database.url")),
            ("plans.pro.teem", Some("plans.pro.team")),
            ("lgo", Some("log")),
            ("cat", None),
            ("colour", None),
        ] {
            assert_eq!(nearest(key), meant, "{key}");
        }
    }
}
