//! Space on a disk.

use std::path::Path;

/// Returns the bytes that a user without privileges may still write to the file system of `path`. `None` where the system does not say.
#[must_use]
pub fn free_bytes(path: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let found = rustix::fs::statvfs(path).ok()?;
        Some(found.f_bavail.saturating_mul(found.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// The file systems whose files are on another machine, by the numbers of `statfs(2)`.
const NETWORK: [(i128, &str); 6] = [
    (0x0000_6969, "NFS"),
    (0x0000_517b, "SMB"),
    (0xff53_4d42, "SMB"),
    (0xfe53_4d42, "SMB"),
    (0x0102_1997, "9P"),
    (0x5346_414f, "AFS"),
];

/// Returns the name of the file system of `path`, if its files are on another machine. `None` where the system does not say.
#[must_use]
pub fn network_file_system(path: &Path) -> Option<&'static str> {
    #[cfg(target_os = "linux")]
    let number = rustix::fs::statfs(path).ok().map(|said| i128::from(said.f_type));
    #[cfg(not(target_os = "linux"))]
    let number = {
        let _ = path;
        None
    };
    number.and_then(network_name)
}

/// The number has 32 bits, and some machines extend its sign.
fn network_name(number: i128) -> Option<&'static str> {
    NETWORK.iter().find(|(known, _)| *known == number & 0xffff_ffff).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_of_another_machine_is_known_by_its_number() {
        let signed = i128::from(i32::from_ne_bytes(0xfe53_4d42_u32.to_ne_bytes()));
        for (number, name) in [(0x6969, Some("NFS")), (0xff53_4d42, Some("SMB")), (signed, Some("SMB")), (0xef53, None)]
        {
            assert_eq!(network_name(number), name, "{number:x}");
        }
        assert_eq!(network_file_system(Path::new("/proc")), None);
        assert_eq!(network_file_system(Path::new("/no/such/folder")), None);
    }

    #[test]
    fn a_folder_has_space_and_one_that_is_not_there_has_none() {
        assert!(free_bytes(&std::env::temp_dir()).is_some_and(|bytes| bytes > 0));
        assert_eq!(free_bytes(Path::new("/no/such/folder")), None);
    }
}
