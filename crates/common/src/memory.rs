//! The memory that the process may use.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The folder of the control groups of Linux.
const ROOT: &str = "/sys/fs/cgroup";

/// Returns the memory limit of the control group of this process, or of one around it if that is lower, in bytes. `None` if there is none.
#[must_use]
pub fn limit() -> Option<u64> {
    limit_in(Path::new(ROOT), &fs::read_to_string("/proc/self/cgroup").ok()?)
}

/// `groups` has the lines of `/proc/self/cgroup`: one for all controllers in version 2, one for each in version 1.
fn limit_in(root: &Path, groups: &str) -> Option<u64> {
    let limits = groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        match (parts.next(), parts.next()) {
            (Some(""), Some(group)) => limits(root, group, &["memory.max", "memory.high"]),
            (Some("memory"), Some(group)) => limits(&root.join("memory"), group, &["memory.limit_in_bytes"]),
            _ => Vec::new(),
        }
    });
    // Version 1 has a number near 2^63 in place of none.
    limits.filter(|limit| *limit < i64::MAX as u64 / 2).min()
}

/// The limits of a group and of those around it. In a container the group may be the root of what can be seen.
fn limits(root: &Path, group: &str, files: &[&str]) -> Vec<u64> {
    let group: PathBuf = root.join(group.trim_start_matches('/'));
    let around = group.ancestors().take_while(|folder| folder.starts_with(root));
    let read = |folder: &Path, file: &&str| fs::read_to_string(folder.join(file)).ok()?.trim().parse().ok();
    around.flat_map(|folder| files.iter().filter_map(move |file| read(folder, file))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_limit_of_a_group_and_those_around_it_holds() {
        let root = tempfile::tempdir().unwrap();
        let put = |file: &str, text: &str| {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let own = "0::/system.slice/sightline.service\n";
        assert_eq!(limit_in(root.path(), own), None);
        put("system.slice/sightline.service/memory.max", "max\n");
        assert_eq!(limit_in(root.path(), own), None);
        put("system.slice/memory.max", "2000\n");
        assert_eq!(limit_in(root.path(), own), Some(2000));
        put("system.slice/sightline.service/memory.high", "1000\n");
        assert_eq!(limit_in(root.path(), own), Some(1000));
        put("memory.max", "500\n");
        assert_eq!(limit_in(root.path(), "0::/\n"), Some(500), "in a container");
        put("memory/docker/7f/memory.limit_in_bytes", "9223372036854771712\n");
        let first = "4:memory:/docker/7f\n3:cpu,cpuacct:/\n";
        assert_eq!(limit_in(root.path(), first), None);
        put("memory/docker/7f/memory.limit_in_bytes", "268435456\n");
        assert_eq!(limit_in(root.path(), first), Some(268_435_456));
    }
}
