//! Reads secrets from files: those that a variable with the ending `_FILE` names, and the credentials of systemd.

use std::{fs, path::Path};

use super::{ConfigError, Variable, setting, typed};
use crate::config::table::{self, Setting};

/// The end of a variable that names the file of a secret.
const ENDING: &str = "_FILE";

/// The folder of the credentials that systemd gives a service. Each file has the name of a setting.
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

/// Reads the secret whose file a variable names. `None` if the variable is none of these, or empty.
pub(super) fn named(
    variable: &str,
    path: &str,
    variables: &[(String, String)],
) -> Result<Option<Variable>, ConfigError> {
    let Some(plain) = variable.strip_suffix(ENDING) else { return Ok(None) };
    let Some(secret) = setting(plain).and_then(|key| secret(&key)) else { return Ok(None) };
    let path = path.trim();
    if path.is_empty() {
        return Ok(None);
    }
    let name = format!("variable {variable}");
    if variables.iter().any(|(other, text)| other == plain && !text.is_empty()) {
        return Err(ConfigError(format!("{name}: {plain} is set, too; leave one of them out")));
    }
    read(name, secret, Path::new(path)).map(Some)
}

/// Reads the credentials. Other files there belong to others, but for a name that is a slip away from that of a secret.
pub(super) fn credentials(variables: &[(String, String)]) -> Result<Vec<Variable>, ConfigError> {
    let folder = variables.iter().find(|(name, _)| name == CREDENTIALS).map(|(_, folder)| Path::new(folder));
    let mut found = Vec::new();
    for entry in folder.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten() {
        let key = entry.file_name().to_string_lossy().into_owned();
        let name = format!("credential {key}");
        match (secret(&key), table::nearest(&key)) {
            (Some(secret), _) => found.push(read(name, secret, &entry.path())?),
            (None, Some(meant)) => {
                let hint =
                    format!("it is the name of no secret. Did you mean `{meant}`? Others stand in sightline.toml");
                return Err(ConfigError(format!("{name}: {hint}")));
            }
            (None, None) => {}
        }
    }
    Ok(found)
}

fn secret(key: &str) -> Option<&'static Setting> {
    table::find(key).filter(|setting| setting.is_secret && setting.name == key)
}

/// Reads a secret. The end of its last line is no part of it.
fn read(name: String, secret: &Setting, path: &Path) -> Result<Variable, ConfigError> {
    let refused = |why: &str| ConfigError(format!("{name}: {} {why}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| refused(&format!("cannot be read: {error}")))?;
    let text = text.trim_end_matches(['\r', '\n']);
    if text.is_empty() {
        return Err(refused("is empty"));
    }
    Ok(Variable { name, key: secret.name.clone(), value: typed(&secret.name, text) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Secret, load::tests::read};

    #[test]
    fn a_secret_may_stand_in_a_file_that_a_variable_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let (secret, url) = (path("secret", "hunter2\n"), path("url", "postgres://ann:hunter2@db.example/sites\r\n"));
        let (secret, url) = (secret.as_str(), url.as_str());
        let toml = "[identity]\nclient_secret = \"other\"\n";
        let config =
            read(toml, &[("SIGHTLINE_IDENTITY__CLIENT_SECRET_FILE", secret), ("SIGHTLINE_DATABASE__URL_FILE", url)]);
        let config = config.unwrap();
        assert_eq!(config.identity.client_secret, Some(Secret("hunter2".to_owned())));
        assert_eq!(config.database.url.as_deref(), Some("postgres://ann:hunter2@db.example/sites"));
        assert_eq!(read("", &[("SIGHTLINE_SECRETS__KEY_FILE", "")]), Ok(Config::default()));

        let missing = folder.path().join("nothing").display().to_string();
        for (name, file, said) in [
            ("SIGHTLINE_SECRETS__KEY_FILE", missing.as_str(), format!("{missing} cannot be read: No such file")),
            ("SIGHTLINE_SECRETS__KEY_FILE", &path("empty", "\n"), "is empty".to_owned()),
            ("SIGHTLINE_SECRETS__KEY_FILE", secret, "`secrets.key`: allowed is 64 hex digits".to_owned()),
            ("SIGHTLINE_DATA_DIR_FILE", secret, "unknown setting `data_dir_file`".to_owned()),
        ] {
            let refused = read("", &[(name, file)]).unwrap_err();
            assert!(refused.starts_with(&format!("variable {name}: ")) && refused.contains(&said), "{refused}");
            assert!(!refused.contains("hunter2"), "{refused}");
        }
        let both = [("SIGHTLINE_IDENTITY__CLIENT_SECRET", "other"), ("SIGHTLINE_IDENTITY__CLIENT_SECRET_FILE", secret)];
        assert!(
            read("", &both)
                .unwrap_err()
                .contains("SIGHTLINE_IDENTITY__CLIENT_SECRET is set, too; leave one of them out")
        );
    }

    #[test]
    fn every_secret_is_read_from_the_credentials_of_systemd() {
        let secrets: Vec<&str> =
            table::SETTINGS.iter().filter(|setting| setting.is_secret).map(|setting| setting.name.as_str()).collect();
        assert_eq!(
            secrets,
            [
                "database.url",
                "identity.client_secret",
                "identity.introspection.client_secret",
                "identity.sign_in.client_secret",
                "mail.smtp_url",
                "redis.cache_url",
                "redis.url",
                "search_engine.client_secret",
                "secrets.key",
                "secrets.previous_key"
            ]
        );
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().display().to_string();
        let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let load = |variables: &[(&str, &str)]| {
            read("[secrets]\nkey = \"x\"", &[&[("CREDENTIALS_DIRECTORY", directory.as_str())], variables].concat())
        };
        let key = "ab".repeat(32);
        put("secrets.key", &format!("{key}\n"));
        put("of-another-program", "x");
        assert_eq!(load(&[]).unwrap().secrets.key, Some(Secret(key)));
        let other = "cd".repeat(32);
        let over = load(&[("SIGHTLINE_SECRETS__KEY", &other)]).unwrap();
        assert_eq!(over.secrets.key, Some(Secret(other)), "variables stand over credentials");
        put("secrets.key", "hunter2");
        let refused = load(&[]).unwrap_err();
        assert!(
            refused.starts_with("credential secrets.key: ") && refused.contains("allowed is 64 hex digits"),
            "{refused}"
        );
        assert!(!refused.contains("hunter2"), "{refused}");
        std::fs::remove_file(folder.path().join("secrets.key")).unwrap();
        put("secret.key", "x");
        assert!(
            load(&[("SIGHTLINE_SECRETS__KEY", &"ef".repeat(32))]).unwrap_err().contains("Did you mean `secrets.key`?")
        );
    }
}
