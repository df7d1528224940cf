//! The simulated accounts and the sites that each can see.

use std::sync::Arc;

use super::world::rng::{named, unit};
use super::world::{Site, Standing, World};

/// A site in an account's list: its URL and its permission level as the API spells it.
pub(crate) type ListedSite = (String, &'static str);

/// One account of the simulated search engine.
#[derive(Debug)]
pub(crate) struct Account {
    /// The account's id. Its e-mail address is `NAME@demo.test`.
    pub name: &'static str,
    /// The stable identifier in the userinfo response.
    pub subject: &'static str,
    /// The account's sites in list order.
    pub sites: Vec<ListedSite>,
}

/// All accounts.
#[derive(Debug)]
pub(crate) struct Accounts(Vec<Arc<Account>>);

/// The permission level of a site that is listed but cannot be read.
pub(crate) const UNVERIFIED: &str = "siteUnverifiedUser";

/// An account that every simulator has. The fields are those of [`Account`].
struct Fixed {
    name: &'static str,
    subject: &'static str,
    sites: &'static [(&'static str, &'static str)],
}

static ALL: [Fixed; 6] = [
    Fixed {
        name: "owner",
        subject: "110000000000000000001",
        sites: &[
            ("sc-domain:northmoor.example", "siteOwner"),
            ("https://www.ledgerline.example/", "siteFullUser"),
            ("sc-domain:harbourpost.example", "siteRestrictedUser"),
            ("https://tinyfern.test/", "siteOwner"),
            ("https://legacy.northmoor.example/", UNVERIFIED),
            ("sc-domain:brightkettle.test", "siteFullUser"),
        ],
    },
    Fixed { name: "editor", subject: "110000000000000000002", sites: &[] },
    Fixed { name: "viewer", subject: "110000000000000000003", sites: &[] },
    Fixed { name: "stranger", subject: "110000000000000000004", sites: &[("sc-domain:quietmeadow.test", "siteOwner")] },
    Fixed {
        name: "lapsed",
        subject: "110000000000000000005",
        sites: &[("https://www.oakandanvil.example/", "siteOwner")],
    },
    // Shares sites with the owner: some it can read better, some less well.
    Fixed {
        name: "agency",
        subject: "110000000000000000006",
        sites: &[
            ("sc-domain:northmoor.example", "siteFullUser"),
            ("https://www.ledgerline.example/", "siteOwner"),
            ("https://www.oakandanvil.example/", "siteFullUser"),
        ],
    },
];

impl Accounts {
    /// The accounts that can see the sites of `world`. The account `network` is there if it has sites.
    pub fn new(world: &World) -> Self {
        let fixed = ALL.iter().map(|fixed| Account {
            name: fixed.name,
            subject: fixed.subject,
            sites: fixed.sites.iter().map(|(url, level)| ((*url).to_owned(), *level)).collect(),
        });
        let sites: Vec<ListedSite> = world.network().map(|site| (site.url().to_owned(), level(site))).collect();
        let network = Account { name: "network", subject: "110000000000000000007", sites };
        Self(fixed.chain((!network.sites.is_empty()).then_some(network)).map(Arc::new).collect())
    }

    /// Returns the account with the name or e-mail address `hint`.
    pub fn find(&self, hint: &str) -> Option<&Arc<Account>> {
        let name = hint.strip_suffix("@demo.test").unwrap_or(hint);
        self.iter().find(|account| account.name == name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<Account>> {
        self.0.iter()
    }
}

/// The permission level of the account `network` at one of its sites.
fn level(site: &Site) -> &'static str {
    match unit(named(0, site.url())) {
        _ if site.standing() == Standing::Unverified => UNVERIFIED,
        u if u < 0.5 => "siteOwner",
        u if u < 0.85 => "siteFullUser",
        _ => "siteRestrictedUser",
    }
}

impl Account {
    /// The e-mail address.
    pub fn email(&self) -> String {
        format!("{}@demo.test", self.name)
    }
}
