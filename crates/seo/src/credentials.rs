//! The credentials of a person at a provider.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use telemetry::without_addresses;

/// The maximum length of a provider's text in the log, in characters.
const LONGEST_TEXT: usize = 300;

/// Credentials. They are never printed.
#[derive(Clone)]
pub enum Credentials {
    /// For provider A.
    Login {
        /// The login.
        login: String,
        /// The password.
        password: SecretString,
    },
    /// For provider B.
    Key(SecretString),
}

impl Credentials {
    /// The name by which their owner knows them: the login, or the last four characters of a key that is long enough to hide.
    #[must_use]
    pub fn account(&self) -> String {
        match self {
            Self::Login { login, .. } => login.clone(),
            Self::Key(key) => {
                let letters: Vec<char> = key.expose_secret().chars().collect();
                // At least half of a short key stays hidden.
                let shown = (letters.len() / 2).min(4);
                format!("…{}", letters[letters.len() - shown..].iter().collect::<String>())
            }
        }
    }

    /// Bytes to be sealed.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let value = match self {
            Self::Login { login, password } => json!({ "login": login, "password": password.expose_secret() }),
            Self::Key(key) => json!({ "key": key.expose_secret() }),
        };
        value.to_string().into_bytes()
    }

    /// Reads the bytes of [`Credentials::to_bytes`].
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(bytes).ok()?;
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        match text("key") {
            Some(key) => Some(Self::Key(key.into())),
            None => Some(Self::Login { login: text("login")?, password: text("password")?.into() }),
        }
    }

    /// The beginning of `text` without the secret, should a provider repeat it as it is or as it was sent, and without the login, which
    /// is mostly a person's address.
    #[must_use]
    pub fn redacted(&self, text: &str) -> String {
        let (login, secret, sent) = match self {
            Self::Login { login, password } => {
                let secret = password.expose_secret();
                (login.as_str(), secret, BASE64_STANDARD.encode(format!("{login}:{secret}")))
            }
            Self::Key(key) => ("", key.expose_secret(), BASE64_STANDARD.encode(key.expose_secret())),
        };
        let spellings = [secret.to_owned(), sent, BASE64_STANDARD.encode(secret), login.to_owned()];
        let known = spellings.iter().filter(|spelling| !spelling.is_empty());
        let text = known.fold(text.to_owned(), |text, spelling| text.replace(spelling.as_str(), "…"));
        without_addresses(&text).chars().take(LONGEST_TEXT).collect()
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_survive_storage_and_show_nothing() {
        let login = Credentials::Login { login: "ann@a.test".into(), password: "pass:wörd".to_owned().into() };
        let key = Credentials::Key("0123456789abcdef".to_owned().into());
        for (credentials, account) in [(&login, "ann@a.test"), (&key, "…cdef")] {
            let again = Credentials::from_bytes(&credentials.to_bytes()).unwrap();
            assert_eq!((again.account().as_str(), again.to_bytes()), (account, credentials.to_bytes()));
            assert_eq!(format!("{credentials:?}"), "Credentials");
        }
        assert_eq!(login.redacted("no pass:wörd here"), "no … here");
        assert_eq!(login.redacted("Basic YW5uQGEudGVzdDpwYXNzOnfDtnJk!"), "Basic …!");
        assert_eq!(login.redacted("no ann@a.test, Ann@A.test or <bob@b.test>"), "no …, (an address) or <(an address)>");
        let cut = login.redacted(&format!("{}pass:wörd", "x".repeat(LONGEST_TEXT - 3)));
        assert!(cut.ends_with("x…"), "what is cut holds no part of the secret: {cut}");
        assert_eq!(Credentials::Key("abc".to_owned().into()).account(), "…c");
        assert!(Credentials::from_bytes(b"{}").is_none());
    }
}
