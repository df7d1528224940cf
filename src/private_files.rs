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
