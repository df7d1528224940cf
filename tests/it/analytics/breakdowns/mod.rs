//! Tests of breakdowns and exports: every number of countries, their trends, sparklines and CSV files is compared with sums
//! over the generator's own cells.

mod case;
mod countries;
pub mod csv;
mod dimensions;
pub mod export;
mod figures;
mod keys;
mod query_rows;
mod refusals;
mod sparklines;
mod stream;
mod tables;
mod trends;

use std::collections::HashMap;

use self::case::{Case, Window, ordered};
use super::performance::{Asker, PAPER, SMALL};
use crate::support::{app::shared, class::Class};

/// A site of `owner` that went live seven months before the date of the tests.
const YOUNG: &str = "https://tinyfern.test/";

/// A URL-prefix property of medium size, of `owner`.
const SOFTWARE: &str = "https://www.ledgerline.example/";

/// The largest site, of `owner`. Its queries contain every character that a CSV file has to quote or escape.
const SHOP: &str = "sc-domain:northmoor.example";

/// The last final day on the date of the tests.
const LAST_FINAL: &str = "2026-11-18";

/// The maximum number of rows of queries and pages.
const CEILING: usize = 5000;

/// The sites, each with the word of its topic cluster.
const TOPICS: [(&str, &str); 5] =
    [(SMALL, "plant"), (PAPER, "harbour"), (YOUNG, "fern"), (SOFTWARE, "invoice"), (SHOP, "jacket")];

/// The demo people and their properties.
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
