//! The page of a list of records.

use std::ops::Range;

use super::{Ignored, QueryParams, Whole};
use crate::answer::ListMeta;

/// The page of a list of records. Without parameters it is the whole list.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
pub struct Paging {
    /// Maximum number of records in the answer. Without it: all that follow `offset`. `meta.total` counts all, and `meta.hasMore` says
    /// if some follow.
    #[param(example = "50")]
    pub limit: Option<Whole<1, 1000>>,
    /// Number of records to skip, in the order of the list.
    #[param(default = "0", example = "50")]
    pub offset: Whole<0, 100_000>,
    /// The parameters without effect.
    #[param(flatten)]
    pub ignored: Ignored,
}

impl Paging {
    /// The whole list.
    pub const WHOLE: Self = Self { limit: None, offset: Whole(0), ignored: Ignored::NONE };

    /// Returns the indices of the page in a list of `total` records.
    #[must_use]
    pub fn range(&self, total: usize) -> Range<usize> {
        let first = total.min(self.offset.0 as usize);
        let most = self.limit.map_or(usize::MAX, |limit| limit.0 as usize);
        first..total.min(first.saturating_add(most))
    }

    /// Returns the page of a list, and its place in it.
    #[must_use]
    pub fn page<T>(&self, all: Vec<T>) -> (Vec<T>, ListMeta) {
        let (meta, page) = (self.meta(all.len()), self.range(all.len()));
        (all.into_iter().skip(page.start).take(page.len()).collect(), meta)
    }

    /// Returns the place of the page in a list of `total` records.
    #[must_use]
    pub fn meta(&self, total: usize) -> ListMeta {
        ListMeta { total: total as u64, has_more: self.range(total).end < total, ignored: self.ignored.names() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_the_records_behind_the_offset_up_to_the_limit() {
        for (limit, offset, page, has_more) in [
            (None, 0, vec![0, 1, 2, 3, 4], false),
            (None, 3, vec![3, 4], false),
            (Some(2), 0, vec![0, 1], true),
            (Some(2), 3, vec![3, 4], false),
            (Some(2), 4, vec![4], false),
            (Some(5), 0, vec![0, 1, 2, 3, 4], false),
            (Some(1000), 5, vec![], false),
            (None, 100_000, vec![], false),
        ] {
            let paging = Paging { limit: limit.map(Whole), offset: Whole(offset), ..Paging::WHOLE };
            assert_eq!(
                paging.page(vec![0, 1, 2, 3, 4]),
                (page, ListMeta { total: 5, has_more, ignored: None }),
                "{limit:?} {offset}"
            );
        }
    }
}
