//! The page of all sites for people who have no site of their own there, or none at all.

use api::{error::ApiError, system::SearchAccountHealth, team::TeamGrant};
use maud::{Markup, html};

use crate::calls::Visitor;

/// The reasons why a person has no site of their own, or none at all.
pub struct Missing {
    /// The search accounts that the person has connected.
    accounts: Vec<SearchAccountHealth>,
    /// The grants of others to somebody who sees no site.
    grants: Vec<TeamGrant>,
    /// True for somebody who sees no site because all are hidden.
    are_hidden: bool,
}

impl Missing {
    /// Asks for the reasons. `sees_none` is true for somebody who sees no site at all.
    pub async fn find(visitor: Visitor<'_>, sees_none: bool) -> Result<Self, ApiError> {
        let accounts = visitor.search_accounts().await?;
        if !sees_none {
            return Ok(Self { accounts, grants: Vec::new(), are_hidden: false });
        }
        let of_hidden =
            [("hidden", "true"), ("headline", "false"), ("limit", "1")].map(|(name, value)| (name, value.to_owned()));
        let received = [("received", "true".to_owned())];
        let (hidden, grants) = tokio::try_join!(visitor.properties(&of_hidden), visitor.team(&received),)?;
        Ok(Self { accounts, grants: grants.data, are_hidden: !hidden.data.is_empty() })
    }

    /// The page of a person who sees no site.
    pub fn instead(&self) -> Markup {
        if self.are_hidden {
            return html! {
                div.card.empty {
                    p { strong { "All your sites are hidden." } }
                    p { a.button href="?hidden=true" { "Hidden sites" } }
                }
            };
        }
        html! {
            @if !self.grants.is_empty() { (self.covers_nothing()) }
            @if self.accounts.is_empty() {
                div.card.empty {
                    p {
                        strong { "No search account is connected yet." }
                        " Connect the account with which you see your sites at the search engine, and choose the sites that you want to see here. "
                        "This service reads its search data and changes nothing there."
                    }
                    form method="post" action="/account/search/connect" { button { "Connect your search account" } }
                    @if self.grants.is_empty() { p.quiet-text { "Does somebody share a site with you? They invite you by your e-mail address, and the site appears here." } }
                }
            } @else {
                div.card.empty {
                    p { strong { "Your search account is connected, and no site of it is tracked yet." } " Tick the sites that you want to see here." }
                    p { a.button href=(self.to_choose()) { "Choose your sites" } }
                }
            }
        }
    }

    /// The notice above the sites of others, for somebody who has connected a search account and tracks nothing.
    pub fn beside(&self) -> Markup {
        html! {
            @if !self.accounts.is_empty() {
                p.notice {
                    "Your search account is connected, and no site of it is tracked yet. "
                    a href=(self.to_choose()) { "Choose your sites" }
                }
            }
        }
    }

    /// The page on which the person chooses sites: that of the only account, or the list of accounts.
    fn to_choose(&self) -> String {
        match &self.accounts[..] {
            [only] => format!("/account/search/{}", only.id),
            _ => "/account#search-accounts".to_owned(),
        }
    }

    /// The notice for a member whose grants cover nothing any more.
    fn covers_nothing(&self) -> Markup {
        let mut owners: Vec<&str> = self
            .grants
            .iter()
            .filter_map(|grant| grant.owner_name.as_deref().or(grant.owner_email.as_deref()))
            .collect();
        owners.sort_unstable();
        owners.dedup();
        html! {
            p.notice {
                "Nothing that was shared with you can be seen any more: its owner no longer tracks it, or no longer shares it."
                @if !owners.is_empty() {
                    " Ask " @for (index, owner) in owners.iter().enumerate() { @if index > 0 { ", " } bdi { (owner) } } "."
                }
            }
        }
    }
}
