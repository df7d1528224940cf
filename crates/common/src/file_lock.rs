//! Locks files against other processes. A process that is ending may hold a lock a moment longer, so a lock is tried for two seconds.

use std::{
    fs::{File, TryLockError},
    thread,
    time::Duration,
};

const ATTEMPTS: u32 = 40;
const PAUSE: Duration = Duration::from_millis(50);

/// Locks the file for this process alone.
///
/// # Errors
/// Another process holds a lock, or the file cannot be locked.
pub fn alone(file: &File) -> Result<(), TryLockError> {
    patiently(|| file.try_lock())
}

/// Locks the file together with other processes.
///
/// # Errors
/// Another process holds the file alone, or the file cannot be locked.
pub fn shared(file: &File) -> Result<(), TryLockError> {
    patiently(|| file.try_lock_shared())
}

fn patiently(attempt: impl Fn() -> Result<(), TryLockError>) -> Result<(), TryLockError> {
    for _ in 1..ATTEMPTS {
        match attempt() {
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            done => return done,
        }
    }
    attempt()
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread};

    use super::*;

    #[test]
    fn a_lock_that_another_holder_gives_up_is_taken() {
        let path = tempfile::NamedTempFile::new().unwrap();
        let (first, second) = (path.reopen().unwrap(), path.reopen().unwrap());
        alone(&first).unwrap();
        let (waits, waiting) = mpsc::channel();
        let other = thread::spawn(move || {
            waits.send(()).unwrap();
            alone(&second)
        });
        waiting.recv().unwrap();
        drop(first);
        other.join().unwrap().unwrap();
    }

    #[test]
    fn a_lock_that_is_held_is_refused_and_shared_ones_stand_together() {
        let path = tempfile::NamedTempFile::new().unwrap();
        let open = || path.reopen().unwrap();
        let (first, second) = (open(), open());
        shared(&first).unwrap();
        shared(&second).unwrap();
        assert!(matches!(alone(&open()), Err(TryLockError::WouldBlock)));
    }
}
