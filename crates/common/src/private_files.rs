//! Files and folders that only the user of this process can read.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::Path,
};

/// Creates a folder, if it does not exist.
///
/// # Errors
/// The folder cannot be created.
pub fn make_folder(path: &str) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Replaces the content of a file.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = options().create(true).write(true).truncate(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Options for a file that may have to be created.
#[must_use]
pub fn options() -> OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Takes the rights of other users to a file away, if it exists and they have some. A file that belongs to another user stays as it is, and
/// the log says so.
pub fn close_to_others(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let Ok(found) = fs::metadata(path) else { return };
        let mode = found.permissions().mode();
        let private = mode & 0o700;
        if mode & 0o777 == private {
            return;
        }
        if let Err(error) = fs::set_permissions(path, fs::Permissions::from_mode(private)) {
            tracing::warn!(path = %path.display(), %error, "other users of this machine may read a file, and that cannot be changed");
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_keeps_the_rights_of_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        close_to_others(&path);
        assert!(!path.exists(), "nothing is made");
        write(&path, "text").unwrap();
        assert_eq!(mode(), 0o600);
        for (before, after) in [(0o644, 0o600), (0o664, 0o600), (0o440, 0o400), (0o600, 0o600), (0o400, 0o400)] {
            fs::set_permissions(&path, fs::Permissions::from_mode(before)).unwrap();
            close_to_others(&path);
            assert_eq!(mode(), after, "{before:o}");
        }
        let inner = folder.path().join("a/b");
        make_folder(inner.to_str().unwrap()).unwrap();
        assert_eq!(fs::metadata(inner).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
