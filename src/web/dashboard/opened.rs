//! A page of a property that is being answered.

use chrono::NaiveDate;
use common::base_url::BaseUrl;

use super::{
    ask::Asker,
    door::{Door, Site},
    view::View,
};

/// A page of a property that is being answered.
pub struct Opened<'a> {
    pub asker: Asker<'a>,
    pub door: Door,
    pub site: Site,
    pub view: View,
    pub today: NaiveDate,
    pub last_final: NaiveDate,
    pub base_url: &'a BaseUrl,
}

impl Opened<'_> {
    /// The parameters of the page's question.
    pub fn question(&self) -> Vec<(&'static str, String)> {
        let window = self.view.window(self.today, self.last_final);
        let mut question = self.view.question(window, self.today, self.last_final);
        if self.site.fixed_window && self.view.text("compare").is_none() {
            question.retain(|(name, _)| *name != "compare");
        }
        question
    }
}
