//! The sites that questions are about, and the people who ask them.

use std::collections::HashMap;

use crate::{
    analytics::performance::{Asker, PAPER, SMALL},
    support::app::{TestApp, shared},
};

/// A site of `owner` that went live seven months before the date of the tests.
pub const YOUNG: &str = "https://tinyfern.test/";

/// A URL-prefix property of medium size, of `owner`.
pub const SOFTWARE: &str = "https://www.ledgerline.example/";

/// The largest site, of `owner`. Its queries contain every character that a CSV file has to quote or escape.
pub const SHOP: &str = "sc-domain:northmoor.example";

/// The demo people and their properties.
pub struct People(HashMap<&'static str, Asker>);

impl People {
    /// The people of the shared app.
    pub async fn new() -> Self {
        Self::of(shared()).await
    }

    pub async fn of(app: &TestApp) -> Self {
        let (mut known, owner) = (HashMap::new(), app.actor("owner").await);
        for url in [PAPER, YOUNG, SOFTWARE, SHOP] {
            let property = owner.property(url).await;
            known.insert(url, Asker { actor: owner.clone(), property });
        }
        known.insert(SMALL, Asker::of(app, "stranger", SMALL).await);
        Self(known)
    }

    /// The person who asks about a site.
    pub fn asker(&self, site: &str) -> &Asker {
        &self.0[site]
    }
}
