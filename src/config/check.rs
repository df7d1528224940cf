//! Refusals of settings that have the right type.

use serde_json::Value;

use super::{Config, table};

/// A setting, and what is allowed for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("setting `{setting}`: allowed is {allowed}")]
pub(super) struct Refusal {
    /// The dotted name.
    pub setting: String,
    pub allowed: String,
}

/// Refuses `setting` unless `holds`. What is allowed stands beside its field.
pub(super) fn require(holds: bool, setting: &str) -> Result<(), Refusal> {
    allow(holds, setting, table::find(setting).map_or_else(String::new, |setting| setting.allowed.clone()))
}

/// Refuses `setting` unless `holds`. `allowed` is what the other settings leave to it.
pub(super) fn allow(holds: bool, setting: &str, allowed: impl Into<String>) -> Result<(), Refusal> {
    if holds { Ok(()) } else { Err(Refusal { setting: setting.to_owned(), allowed: allowed.into() }) }
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
