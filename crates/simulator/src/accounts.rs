//! The simulated accounts and the sites that each can see.

/// A site in an account's list: its URL and its permission level as the API spells it.
pub(crate) type ListedSite = (&'static str, &'static str);

/// One account of the simulated search engine.
#[derive(Debug)]
pub(crate) struct Account {
    /// The account's id. Its e-mail address is `NAME@demo.test`.
    pub name: &'static str,
    /// The stable identifier in the userinfo response.
    pub subject: &'static str,
    /// The account's sites in list order.
    pub sites: &'static [ListedSite],
}

/// The permission level of a site that is listed but cannot be read.
pub(crate) const UNVERIFIED: &str = "siteUnverifiedUser";

/// All accounts.
pub(crate) static ALL: [Account; 6] = [
    Account {
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
    Account { name: "editor", subject: "110000000000000000002", sites: &[] },
    Account { name: "viewer", subject: "110000000000000000003", sites: &[] },
    Account {
        name: "stranger",
        subject: "110000000000000000004",
        sites: &[("sc-domain:quietmeadow.test", "siteOwner")],
    },
    Account {
        name: "lapsed",
        subject: "110000000000000000005",
        sites: &[("https://www.oakandanvil.example/", "siteOwner")],
    },
    // Shares sites with the owner: some it can read better, some less well.
    Account {
        name: "agency",
        subject: "110000000000000000006",
        sites: &[
            ("sc-domain:northmoor.example", "siteFullUser"),
            ("https://www.ledgerline.example/", "siteOwner"),
            ("https://www.oakandanvil.example/", "siteFullUser"),
        ],
    },
];

/// Returns the account with the name or e-mail address `hint`.
pub(crate) fn find(hint: &str) -> Option<&'static Account> {
    let name = hint.strip_suffix("@demo.test").unwrap_or(hint);
    ALL.iter().find(|account| account.name == name)
}

impl Account {
    /// The e-mail address.
    pub fn email(&self) -> String {
        format!("{}@demo.test", self.name)
    }
}
