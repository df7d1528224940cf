//! File descriptors of the process.

/// Raises the number of file descriptors that may be open to the most that the system allows this process, and returns the number that
/// holds then. `None` where there is no limit.
#[must_use]
pub fn raise() -> Option<u64> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let before = getrlimit(Resource::Nofile);
        let raised = Rlimit { current: before.maximum, maximum: before.maximum };
        if setrlimit(Resource::Nofile, raised).is_ok() { before.maximum } else { before.current }
    }
    #[cfg(not(unix))]
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_that_of_the_system_from_the_first_call_on() {
        let raised = raise();
        assert_eq!(rustix::process::getrlimit(rustix::process::Resource::Nofile).current, raised);
        assert_eq!(raise(), raised);
    }
}
