//! A page of a property that is being answered.

use api::models::Role;
use chrono::NaiveDate;
use common::base_url::BaseUrl;
use maud::Markup;

use super::{
    ask::Asker,
    door::{Door, Site},
    forms::{self, Sent},
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
    /// The part of the keys of its forms that no other view of the page has.
    pub key: String,
    /// The form that was sent and changed nothing.
    pub sent: Option<Sent>,
}

impl Opened<'_> {
    /// The hidden fields of a form of the page.
    pub fn form(&self, action: &str) -> Markup {
        let sent = self.sent.as_ref().filter(|sent| sent.text(forms::ACTION) == Some(action));
        match sent.and_then(Sent::kept_key) {
            Some(key) => forms::hidden(action, key),
            None => forms::hidden(action, &format!("{}.{action}", self.key)),
        }
    }

    /// The form with this `action` of the record with this `id`, if it was sent and changed nothing.
    pub fn again(&self, action: &str, id: Option<&str>) -> Option<&Sent> {
        self.sent.as_ref().filter(|sent| sent.is(action, id))
    }

    /// What was written in a field of the form with this `action`, if the form changed nothing.
    pub fn kept(&self, action: &str, field: &str) -> Option<&str> {
        self.sent.as_ref().filter(|sent| sent.text(forms::ACTION) == Some(action))?.text(field)
    }

    /// The part of the traffic that the page shows, as the value of `classification` and its name. `None` if it shows all.
    pub fn class(&self) -> Option<&(String, String)> {
        let class = self.view.text("classification").filter(|class| self.view.has_class(class))?;
        self.site.classes.iter().find(|(value, _)| value == class)
    }

    /// True if the visitor may write notes and classifications.
    pub fn may_edit(&self) -> bool {
        self.site.role.is_some_and(|role| role >= Role::Editor)
    }

    /// True if the visitor may make share links.
    pub fn may_share(&self) -> bool {
        self.site.role.is_some_and(|role| role >= Role::Admin)
    }

    /// True if the site is the visitor's own.
    pub fn is_owner(&self) -> bool {
        self.site.role == Some(Role::Owner)
    }

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
