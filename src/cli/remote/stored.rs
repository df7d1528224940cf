//! Stored sign-ins: a refresh token that reads, for each server, in the person's own folder of settings.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use chrono::{DateTime, Utc};
use common::private_files;
use serde::{Deserialize, Serialize};

/// A sign-in at a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignIn {
    /// The client that signed in.
    pub client: String,
    /// The address that gave the token. It is sent nowhere else.
    pub token_endpoint: String,
    /// Its refresh token, which is good for one use.
    pub refresh_token: String,
    /// The time at which the refresh token expires, if the issuer said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub good_until: Option<DateTime<Utc>>,
}

/// The sign-ins of this person, locked for this process until they are dropped.
#[derive(Debug)]
pub struct SignIns {
    file: PathBuf,
    all: BTreeMap<String, SignIn>,
    _lock: File,
}

impl SignIns {
    /// Waits for other processes, and reads the sign-ins.
    ///
    /// # Errors
    /// The folder or a file in it cannot be used.
    pub fn lock() -> io::Result<Self> {
        let folder = folder().ok_or_else(|| io::Error::other("this system names no home folder"))?;
        Self::lock_in(&folder).map_err(|error| {
            io::Error::other(format!("{}: {error}. Make it writable, or set XDG_CONFIG_HOME", folder.display()))
        })
    }

    fn lock_in(folder: &Path) -> io::Result<Self> {
        private_files::make_folder(&folder.display().to_string())?;
        let lock =
            private_files::options().write(true).create(true).truncate(false).open(folder.join("sign-ins.lock"))?;
        lock.lock()?;
        let file = folder.join("sign-ins.json");
        // A folder that cannot be written is found before a token is used up.
        write_new(&next_to(&file), "")?;
        let all = match std::fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text)
                .map_err(|error| io::Error::other(format!("{} cannot be read ({error}); delete it", file.display())))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(error),
        };
        Ok(Self { file, all, _lock: lock })
    }

    /// The sign-in at a server, if there is one.
    #[must_use]
    pub fn of(&self, server: &str) -> Option<SignIn> {
        self.all.get(server).cloned()
    }

    /// The servers with a sign-in.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.all.keys().map(String::as_str)
    }

    /// Stores the sign-in at a server, readable by this person alone.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&mut self, server: &str, sign_in: SignIn) -> io::Result<()> {
        self.all.insert(server.to_owned(), sign_in);
        self.write()
    }

    /// Removes the sign-in at a server.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn remove(&mut self, server: &str) -> io::Result<()> {
        self.all.remove(server);
        self.write()
    }

    fn write(&self) -> io::Result<()> {
        // A process that dies while it writes leaves the file as it was.
        let next = next_to(&self.file);
        write_new(&next, &serde_json::to_string_pretty(&self.all)?)?;
        std::fs::rename(next, &self.file)
    }
}

/// The file that replaces `file`. The lock is held, so there is one at a time.
fn next_to(file: &Path) -> PathBuf {
    file.with_extension("json.next")
}

/// Writes a file that is made here, so that it is nobody else's and leads nowhere else.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = private_files::options().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// The folder of this program's settings of a person.
fn folder() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the system's own place, not a setting of the service")]
    let base = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    Some(base.or_else(|| std::env::home_dir().map(|home| home.join(".config")))?.join("sightline"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign_in(token: &str) -> SignIn {
        let token_endpoint = "https://a.example/token".to_owned();
        SignIn { client: "sightline-cli".to_owned(), token_endpoint, refresh_token: token.to_owned(), good_until: None }
    }

    #[test]
    fn sign_ins_are_kept_by_server_and_closed_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings");
        let mut stored = SignIns::lock_in(&path).unwrap();
        assert_eq!(stored.of("https://a.example"), None);
        stored.keep("https://a.example", sign_in("one")).unwrap();
        stored.keep("https://b.example", sign_in("two")).unwrap();
        stored.keep("https://a.example", sign_in("three")).unwrap();
        drop(stored);
        let mut stored = SignIns::lock_in(&path).unwrap();
        assert_eq!(stored.of("https://a.example"), Some(sign_in("three")));
        assert_eq!(stored.servers().collect::<Vec<_>>(), ["https://a.example", "https://b.example"]);
        assert_eq!(stored.of("https://b.example"), Some(sign_in("two")));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o077;
            assert_eq!((mode(&path), mode(&path.join("sign-ins.json"))), (0, 0));
        }
        stored.remove("https://a.example").unwrap();
        drop(stored);
        let stored = SignIns::lock_in(&path).unwrap();
        assert_eq!((stored.of("https://a.example"), stored.of("https://b.example")), (None, Some(sign_in("two"))));
    }

    /// Somebody else may write in the folder, and wants the token in a file of theirs.
    #[cfg(unix)]
    #[test]
    fn sign_ins_are_written_through_no_link_and_to_no_file_of_others() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        for name in ["sign-ins.json", "sign-ins.json.next", "sign-ins.lock"] {
            for is_link in [true, false] {
                let folder = tempfile::tempdir().unwrap();
                let (path, theirs) = (folder.path().join("settings"), folder.path().join("theirs"));
                std::fs::create_dir(&path).unwrap();
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).unwrap();
                std::fs::write(&theirs, "{}").unwrap();
                if is_link {
                    symlink(&theirs, path.join(name)).unwrap();
                } else {
                    std::fs::hard_link(&theirs, path.join(name)).unwrap();
                }
                if is_link && name == "sign-ins.lock" {
                    assert!(SignIns::lock_in(&path).is_err(), "a lock behind a link is somebody else's");
                    continue;
                }
                SignIns::lock_in(&path).unwrap().keep("https://a.example", sign_in("one")).unwrap();
                assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "{}", "{name} {is_link}");
                let kept = std::fs::symlink_metadata(path.join("sign-ins.json")).unwrap();
                assert!(kept.is_file() && kept.permissions().mode() & 0o777 == 0o600, "{name} {is_link}: {kept:?}");
                assert!(!path.join("sign-ins.json.next").exists(), "{name} {is_link}");
            }
        }
    }

    #[test]
    fn a_damaged_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sign-ins.json"), "{").unwrap();
        let said = SignIns::lock_in(folder.path()).unwrap_err().to_string();
        assert!(said.contains("sign-ins.json") && said.contains("delete it"), "{said}");
    }
}
