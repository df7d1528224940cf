//! The idempotency keys that requests of this process are using.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use super::Scope;

/// The keys in use in this process.
#[derive(Debug, Clone, Default)]
pub struct KeysInUse(Arc<Mutex<HashSet<Scope>>>);

/// A key in use. Dropping the guard frees the key.
#[derive(Debug)]
pub struct KeyGuard {
    scope: Scope,
    keys: KeysInUse,
}

impl KeysInUse {
    /// Locks a key. Returns `None` if it is already in use.
    #[must_use]
    pub fn lock(&self, scope: &Scope) -> Option<KeyGuard> {
        let was_free = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(scope.clone());
        was_free.then(|| KeyGuard { scope: scope.clone(), keys: self.clone() })
    }
}

impl Drop for KeyGuard {
    fn drop(&mut self) {
        self.keys.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.scope);
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_key_is_free_again_when_its_guard_is_dropped() {
        let keys = KeysInUse::default();
        let scope =
            |key: &str| Scope { user_id: Uuid::nil(), method: "POST".into(), path: "/x".into(), key: key.into() };
        let guard = keys.lock(&scope("a"));
        assert!(guard.is_some() && keys.lock(&scope("a")).is_none() && keys.lock(&scope("A")).is_some());
        drop(guard);
        assert!(keys.lock(&scope("a")).is_some());
    }
}
