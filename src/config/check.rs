//! Refusals of settings that have the right type.

use serde_json::Value;

use super::{Config, Secret, table};

/// A setting, and what is allowed for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("setting `{setting}`: allowed is {allowed}")]
pub(super) struct Refusal {
    /// The dotted name.
    pub setting: String,
    pub allowed: String,
}

const WHOLE_PATH: &str = "a whole path: `~` and `$HOME` are expanded by shells only";

/// Returns whether a path begins with what a shell would have replaced.
fn is_of_a_shell(path: &str) -> bool {
    path == "~" || path.starts_with("~/") || path.starts_with('$')
}

/// Refuses `setting` unless `holds`. What is allowed stands beside its field.
pub(super) fn require(holds: bool, setting: &str) -> Result<(), Refusal> {
    allow(holds, setting, table::find(setting).map_or_else(String::new, |setting| setting.allowed.clone()))
}

/// Refuses `setting` unless `holds`. `allowed` is what the other settings leave to it.
pub(super) fn allow(holds: bool, setting: &str, allowed: impl Into<String>) -> Result<(), Refusal> {
    if holds { Ok(()) } else { Err(Refusal { setting: setting.to_owned(), allowed: allowed.into() }) }
}

/// Refuses a client of which only the id or only the secret is set, or one of them is empty. `part` is the part of the settings that has both.
pub(super) fn client(part: &str, id: Option<&str>, secret: Option<&Secret>) -> Result<(), Refusal> {
    if id.is_none() && secret.is_none() {
        return Ok(());
    }
    let allowed = format!("a text: {part}.client_id and client_secret are set together, or neither of them");
    allow(id.is_some_and(|id| !id.is_empty()), &format!("{part}.client_id"), allowed.as_str())?;
    allow(secret.is_some_and(|Secret(secret)| !secret.is_empty()), &format!("{part}.client_secret"), allowed)
}

impl Config {
    /// Refuses numbers that are out of range, and settings that make no sense together.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let values = table::values(self);
        for setting in table::SETTINGS.iter() {
            let number = values.pointer(&format!("/{}", setting.name.replace('.', "/"))).and_then(Value::as_u64);
            require(number.is_none_or(|number| setting.range.contains(&number)), &setting.name)?;
        }
        require(!self.data_dir.is_empty(), "data_dir")?;
        allow(!is_of_a_shell(&self.data_dir), "data_dir", WHOLE_PATH)?;
        let file = self.database.url.as_deref().and_then(|url| url.strip_prefix("sqlite:"));
        allow(!file.is_some_and(|file| is_of_a_shell(file.trim_start_matches('/'))), "database.url", WHOLE_PATH)?;
        self.database.check()?;
        self.redis.check()?;
        self.mail.check()?;
        self.identity.check()?;
        self.search_engine.check()?;
        self.simulator.check()?;
        self.plans.check()?;
        self.secrets.check()
    }
}
