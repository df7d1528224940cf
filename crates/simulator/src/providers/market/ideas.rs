//! Keywords found from other keywords.

use super::{Known, Research};

/// Searches related to one keyword that a result page shows.
const RELATED: usize = 8;

/// Returns whether a keyword is phrased as a question.
pub(in crate::providers) fn is_question(keyword: &str) -> bool {
    let first = keyword.split(' ').next().unwrap_or_default();
    ["how", "what", "what's", "why", "when", "where", "who", "which", "is", "can"].contains(&first)
}

/// Returns whether `keyword` contains all words of `seed` in any order.
fn has_all_words(keyword: &str, seed: &str) -> bool {
    seed.split(' ').all(|word| keyword.split(' ').any(|other| other == word))
}

/// Returns whether `keyword` contains `seed` as a phrase.
fn has_phrase(keyword: &str, seed: &str) -> bool {
    format!(" {keyword} ").contains(&format!(" {seed} "))
}

impl<'a> Research<'a> {
    fn texts(&self, wanted: impl Fn(&Known) -> bool) -> Vec<&'a str> {
        self.market.known.iter().filter(|known| wanted(known)).map(|known| known.text.as_str()).collect()
    }

    /// Keywords that contain the words of `seed`, as a phrase or in any order, most searched first.
    pub fn containing(&self, seed: &str, phrase: bool) -> Vec<&'a str> {
        let holds = if phrase { has_phrase } else { has_all_words };
        self.texts(|known| holds(&known.text, seed))
    }

    /// Keywords that begin with `seed`, most searched first.
    pub fn beginning(&self, seed: &str) -> Vec<&'a str> {
        self.texts(|known| known.text.starts_with(seed))
    }

    /// Keywords that share a word with `seed`, but not all its words, most searched first.
    pub fn mentioning(&self, seed: &str) -> Vec<&'a str> {
        let telling: Vec<&str> = seed.split(' ').filter(|word| word.chars().count() > 3).collect();
        let shares = |known: &Known| known.text.split(' ').any(|word| telling.contains(&word));
        self.texts(|known| shares(known) && !has_all_words(&known.text, seed))
    }

    /// Keywords that show the same pages as `seed`, most searched first. `seed` itself is not among them.
    pub fn ranking_together(&self, seed: &str) -> Vec<&'a str> {
        let Some(index) = self.nearest(seed) else { return Vec::new() };
        let group = self.market.groups.get(&self.market.known[index].group).map_or(&[][..], Vec::as_slice);
        let texts = group.iter().map(|index| self.market.known[*index].text.as_str());
        texts.filter(|text| *text != seed).collect()
    }

    /// The few keywords that a result page for `keyword` offers: its neighbours among keywords that show the same pages.
    pub fn offered(&self, keyword: &str) -> Vec<&'a str> {
        let Some(index) = self.nearest(keyword) else { return Vec::new() };
        let group = self.market.groups.get(&self.market.known[index].group).map_or(&[][..], Vec::as_slice);
        let at = group.iter().position(|other| *other == index).unwrap_or_default();
        let others = group.iter().cycle().skip(at + 1).take(RELATED.min(group.len().saturating_sub(1)));
        others.map(|index| self.market.known[*index].text.as_str()).collect()
    }

    /// The keyword itself, or the most searched one that shares a word with it.
    fn nearest(&self, keyword: &str) -> Option<usize> {
        let exact = self.market.by_text.get(keyword).copied();
        exact.or_else(|| self.mentioning(keyword).first().and_then(|text| self.market.by_text.get(*text).copied()))
    }
}
