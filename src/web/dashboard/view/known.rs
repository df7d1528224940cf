//! The parameters that each page takes.

use super::OF_THE_API;
use crate::web::dashboard::{SITES, address::Address};

/// The names of the parameters of the page at `path` with its own `names`. Saved filters and the outcome of a form mean nothing to readers of
/// a share link, nor do saved filters to the page of all sites.
pub fn known(path: &str, address: &Address, names: &[&'static str]) -> impl Iterator<Item = &'static str> {
    let (is_of_people, is_of_a_site) = (!address.is_secret(), path != SITES);
    let question = OF_THE_API.into_iter().chain(["filters", "period", "metric"]);
    let preset = ["preset"].into_iter().filter(move |_| is_of_people && is_of_a_site);
    let done = ["done"].into_iter().filter(move |_| is_of_people);
    question.chain(preset).chain(done).chain(names.iter().copied())
}

#[cfg(test)]
mod tests {
    use crate::web::dashboard::view::View;

    #[test]
    fn a_page_refuses_what_means_nothing_to_its_visitors() {
        for (path, query, is_taken) in [
            ("/p/1", "preset=x&done=saved", true),
            ("/share/t", "period=last_week&metric=ctr", true),
            ("/share/t", "preset=x", false),
            ("/share/t/where/country=usa/overview", "preset=x", false),
            ("/share/t", "done=saved", false),
            ("/", "done=saved&tab=x", true),
            ("/", "preset=x", false),
            ("/", "period=last_week", true),
        ] {
            assert_eq!(View::read(path, query, &["tab"]).is_ok(), is_taken, "{path}?{query}");
        }
    }
}
