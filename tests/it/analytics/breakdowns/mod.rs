//! Breakdowns and exports: every figure of countries, their trends, sparklines and CSV files, held against sums over the
//! generator's own cells.

mod case;
mod countries;
mod csv;
mod export;
mod figures;
mod keys;
mod query_rows;
mod refusals;
mod sparklines;
mod stream;
mod tables;
mod trends;

use std::collections::HashMap;

use self::case::{Case, Class, Window, ordered};
use super::performance::{Asker, PAPER, SMALL};
use crate::support::app::shared;

/// A site that went live seven months before the tests' day, of `owner`.
const YOUNG: &str = "https://tinyfern.test/";

/// A URL-prefix property of middling size, of `owner`.
const SOFTWARE: &str = "https://www.ledgerline.example/";

/// The largest site, of `owner`. Its queries have every sign that a CSV file must take care of.
const SHOP: &str = "sc-domain:northmoor.example";

/// The last day whose numbers are final on the tests' day.
const LAST_FINAL: &str = "2026-11-18";

/// The most rows of queries and pages that are read.
const CEILING: usize = 5000;

/// The sites with the word that each one's topic cluster looks for.
const TOPICS: [(&str, &str); 5] =
    [(SMALL, "plant"), (PAPER, "harbour"), (YOUNG, "fern"), (SOFTWARE, "invoice"), (SHOP, "jacket")];

/// The demo people who ask, and their properties.
struct People(HashMap<&'static str, Asker>);

impl People {
    async fn new() -> Self {
        let (mut known, owner) = (HashMap::new(), shared().actor("owner").await);
        for url in [PAPER, YOUNG, SOFTWARE, SHOP] {
            let property = owner.property(url).await;
            known.insert(url, Asker { actor: owner.clone(), property });
        }
        known.insert(SMALL, Asker::small().await);
        Self(known)
    }
}
