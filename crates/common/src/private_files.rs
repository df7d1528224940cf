//! Files and folders that only the user of this process can read.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::Path,
};

/// Creates a folder, if it does not exist. What root creates belongs to the owner of the folder that holds it.
///
/// # Errors
/// The folder cannot be created.
pub fn make_folder(path: &str) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    #[cfg(unix)]
    let absolute = std::path::absolute(path)?;
    #[cfg(unix)]
    let missing: Vec<&Path> = absolute.ancestors().take_while(|folder| !folder.exists()).collect();
    builder.create(path)?;
    #[cfg(unix)]
    for folder in missing.into_iter().rev() {
        use rustix::fs::{Mode, OFlags};
        // Whoever may rename the folder could have put a link in its place.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if let Ok(made) = rustix::fs::open(folder, flags, Mode::empty()) {
            give_to_owner_of_folder(&File::from(made), folder);
        }
    }
    Ok(())
}

/// Creates a file that is not there yet, for writing. What root creates belongs to the owner of the folder that holds it: a command of root
/// would else leave files to a service that its user cannot open.
///
/// # Errors
/// The file is there, or cannot be created.
pub fn make(path: &Path) -> io::Result<File> {
    // A file that is there may be a link to somebody else's, and is never given away.
    let file = options().create_new(true).write(true).open(path)?;
    #[cfg(unix)]
    give_to_owner_of_folder(&file, path);
    Ok(file)
}

/// Opens a file for appending. One that is not there is created as by [`make`].
///
/// # Errors
/// The file cannot be opened or created.
pub fn append(path: &Path) -> io::Result<File> {
    make_or(path, options().create(true).append(true))
}

fn make_or(path: &Path, options: &OpenOptions) -> io::Result<File> {
    match make(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => options.open(path),
        made => made,
    }
}

/// Gives a file that this process has just created at `path` to the owner of the folder that holds it. Only root can, and only root
/// needs to.
#[cfg(unix)]
fn give_to_owner_of_folder(file: &File, path: &Path) {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Ok(own), Ok(folder)) = (file.metadata(), fs::metadata(folder)) else { return };
    if own.uid() != folder.uid() {
        let _ = fchown(file, Some(folder.uid()), Some(folder.gid()));
    }
}

/// Replaces the content of a file.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = make_or(path, options().create(true).write(true).truncate(true))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Gives a whole new file its name, unless a file has it. The folder is to be synced afterwards.
///
/// # Errors
/// A file has the name, or none can be made.
pub fn give_name(new: &Path, text: &str, name: &Path) -> io::Result<()> {
    write(new, text)?;
    let linked = fs::hard_link(new, name);
    fs::remove_file(new)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => make_whole(name, text),
        linked => linked,
    }
}

/// Makes a file where there are no hard links: on disks with a file system of another system, and in shared folders of virtual machines.
fn make_whole(path: &Path, text: &str) -> io::Result<()> {
    let mut file = make(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}

/// Makes the name of a file durable, as it is once its folder is. Some network file systems and shared folders sync no folder; they keep
/// names without it.
///
/// # Errors
/// The folder cannot be opened, or its file system fails.
pub fn sync_name(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let synced = if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) };
    match synced {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}

/// Options for a file that may have to be created. A link is refused: whoever owns the folder could lead a command of root to any file.
#[must_use]
pub fn options() -> OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600).custom_flags(NO_FOLLOW);
    }
    options
}

#[cfg(unix)]
#[expect(clippy::cast_possible_wrap, reason = "the flag is one of the lower bits")]
const NO_FOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits() as i32;

/// Takes the rights of other users to a file away, if it exists and they have some. A link stays as it is, and so does what it leads to. A file
/// that belongs to another user stays as it is, and the log says so.
pub fn close_to_others(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
        let Ok(file) = File::options().read(true).custom_flags(NO_FOLLOW).open(path) else { return };
        let Ok(found) = file.metadata() else { return };
        let mode = found.permissions().mode();
        let private = mode & 0o700;
        if mode & 0o777 == private {
            return;
        }
        if let Err(error) = file.set_permissions(fs::Permissions::from_mode(private)) {
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
        let all = append(&folder.path().join("lock")).and_then(|_| append(&folder.path().join("lock")));
        assert!(all.is_ok() && make(&path).is_err(), "a file that is there is opened, and not made");
        let inner = folder.path().join("a/b");
        make_folder(inner.to_str().unwrap()).unwrap();
        assert_eq!(fs::metadata(inner).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_link_is_neither_followed_nor_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let [elsewhere, link, dangling] = ["elsewhere", "link", "dangling"].map(|name| folder.path().join(name));
        fs::write(&elsewhere, "of somebody else").unwrap();
        fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
        std::os::unix::fs::symlink(folder.path().join("not-there"), &dangling).unwrap();
        for link in [&link, &dangling] {
            assert!(write(link, "text").is_err() && append(link).is_err() && make(link).is_err());
            close_to_others(link);
        }
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "of somebody else");
        assert_eq!(fs::metadata(&elsewhere).unwrap().permissions().mode() & 0o777, 0o644);
        assert!(!folder.path().join("not-there").exists());
    }

    #[test]
    fn what_root_makes_belongs_to_the_owner_of_the_folder() {
        use std::os::unix::fs::{MetadataExt as _, chown, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        write(&at("elsewhere"), "of root").unwrap();
        if chown(folder.path(), Some(65_534), Some(65_534)).is_err() {
            // Only root gives files away.
            return;
        }
        let owner = |name: &str| fs::metadata(at(name)).map(|found| (found.uid(), found.gid())).unwrap();
        symlink(at("elsewhere"), at("link")).unwrap();
        make(&at("made")).unwrap();
        append(&at("appended")).unwrap();
        assert!(append(&at("link")).is_err());
        write(&at("written"), "text").unwrap();
        make_folder(at("a/b").to_str().unwrap()).unwrap();
        for name in ["made", "appended", "written", "a", "a/b"] {
            assert_eq!(owner(name), (65_534, 65_534), "{name}");
        }
        assert_eq!(owner("elsewhere").0, fs::metadata("/").unwrap().uid(), "a link gives nothing away");
    }
}
