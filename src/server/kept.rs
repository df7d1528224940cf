//! Values that a response keeps until it has been sent.

use std::{any::Any, sync::Arc};

use http::Extensions;

/// A value that is dropped when its response has been sent.
pub(super) type Kept = Arc<dyn Any + Send + Sync>;

/// The values that a response keeps until the socket has taken its last byte, among its extensions.
#[derive(Clone, Default)]
pub struct KeptUntilSent(Vec<Kept>);

impl KeptUntilSent {
    /// Adds a value to those of a response with these extensions.
    pub fn add(extensions: &mut Extensions, value: Arc<dyn Any + Send + Sync>) {
        extensions.get_or_insert_default::<Self>().0.push(value);
    }

    /// Takes the values out of a response.
    pub(super) fn take(extensions: &mut Extensions) -> Vec<Kept> {
        extensions.remove::<Self>().map(|kept| kept.0).unwrap_or_default()
    }
}
