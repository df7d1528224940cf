//! The pages: of people who are signed in, and of readers of share links.

use std::collections::BTreeSet;

use api::{
    error::Code,
    models::{Feature, Role},
};
use sightline::web::dashboard;

use super::{
    operation,
    world::{CANARY, Caller, Named, PEOPLE, SITE, Site, World},
};
use crate::{
    coverage::NOBODYS,
    support::signed_in::{Browser, Page},
};

/// The operations of each page of a site, of each of them that reads search data, and of those that show performance.
const OF_A_SITE: &[&str] = &["getProperty", "listProperties"];
const READING: &[&str] = &["listPropertySegments", "listFilterPresets"];
const PERFORMANCE: &[&str] = &["getPropertyPerformance"];
const OVERVIEW: &[&[&str]] =
    &[OF_A_SITE, READING, PERFORMANCE, &["getPropertyTableSparklines", "listPropertyAnnotations"]];
const TABLE: &[&[&str]] = &[OF_A_SITE, READING, PERFORMANCE];
const SETTINGS: &[&str] = &[
    "listTags",
    "listPropertyShareLinks",
    "listTeamMembers",
    "listPropertyBrandedKeywords",
    "listPropertySegments",
    "listPropertyTopicClusters",
    "getBillingSummary",
];
const SHARED: &[&[&str]] = &[&["getSharedPerformance"]];

/// A page, by the pattern of its path, with the operations that it asks. One that asks none shows nothing.
pub struct Row(pub &'static str, &'static [&'static [&'static str]]);

/// Every page.
pub const PAGES: [Row; 16] = [
    Row("/", &[&["listProperties", "getPortfolio", "listTags"]]),
    Row("/p/:id", OVERVIEW),
    Row("/p/:id/where/*conditions", OVERVIEW),
    Row("/p/:id/queries", TABLE),
    Row("/p/:id/pages", TABLE),
    Row("/p/:id/countries", &[OF_A_SITE, READING, PERFORMANCE, &["getPropertyCountriesTimeseries"]]),
    Row("/p/:id/growth", &[OF_A_SITE, READING, &["getPropertyGrowthOpportunities"]]),
    Row("/p/:id/cannibalization", &[OF_A_SITE, READING, &["getPropertyCannibalization"]]),
    Row("/p/:id/insights", &[OF_A_SITE, READING, &["getPropertyQueryInsights"]]),
    Row("/p/:id/notes", &[OF_A_SITE, &["listPropertyAnnotations"]]),
    Row("/p/:id/settings", &[OF_A_SITE, SETTINGS]),
    Row("/p/:id/:part", &[]),
    Row("/share/:token", SHARED),
    Row("/share/:token/where/*conditions", SHARED),
    Row("/share/:token/queries.csv", SHARED),
    Row("/share/:token/pages.csv", SHARED),
];

/// The order in which a caller learns of refusals.
const REFUSALS: [Code; 5] =
    [Code::Unauthorized, Code::InsufficientScope, Code::NotFound, Code::Forbidden, Code::SubscriptionRequired];

impl Row {
    /// The operations that the page asks.
    pub fn asks(&self) -> BTreeSet<&'static str> {
        self.1.iter().copied().flatten().copied().collect()
    }

    /// The address of the page of a site or a share link.
    pub fn address(&self, of: &str) -> String {
        let named = self.0.replace(":id", of).replace(":token", of);
        named.replace("*conditions", "country=usa/overview").replace(":part", "nothing")
    }

    fn is_of(&self, start: &str) -> bool {
        self.0.starts_with(start)
    }

    /// Returns whether the page is shown: if each of its operations answers.
    fn judged(&self, world: &World, caller: Option<Caller>, site: Option<&Site>) -> Result<(), Code> {
        let asked = self.asks();
        if asked.is_empty() {
            return Err(Code::NotFound);
        }
        let refused = asked.into_iter().filter_map(|id| world.judged(operation(id), caller, site).err());
        let place = |code: &Code| REFUSALS.iter().position(|known| known == code).unwrap();
        refused.min_by_key(place).map_or(Ok(()), Err)
    }
}

/// Everybody with a browser, and nobody.
async fn visitors(world: &World) -> Vec<(Option<Caller>, Browser)> {
    let mut found = vec![(None, Browser::anonymous(&world.app))];
    for name in PEOPLE {
        found.push((Some(Caller::person(name)), Browser::signed_in(&world.app, name).await));
    }
    found
}

/// Opens every page of people as everybody, for each of the `sites`.
pub async fn check(world: &World, sites: &[Named<'_>]) {
    for (caller, browser) in &visitors(world).await {
        let mut missing = None;
        for (id, site) in sites {
            for row in PAGES.iter().filter(|row| row.is_of("/p/")) {
                let address = row.address(id);
                let page = browser.get(&address).await;
                let place = format!("{caller:?} {address} {}", page.status);
                match (row.judged(world, *caller, *site), site) {
                    (Ok(()), Some(site)) => {
                        assert_eq!(page.status, 200, "{place}: {}", page.body);
                        assert!(page.body.contains(site.name), "{place}: {}", page.body);
                        world.names_none(&page.body, &[site.name]);
                    }
                    (Err(Code::Unauthorized), _) => leads_to_sign_in(&page),
                    (expected, _) => {
                        refused(world, &page, expected.unwrap_err(), &place);
                        if page.status == 404 {
                            assert_eq!(*missing.get_or_insert_with(|| page.body.clone()), page.body, "{place}");
                        }
                    }
                }
            }
        }
        of_all_sites(world, *caller, browser).await;
        if let Some(caller) = *caller {
            of_settings(world, caller, browser).await;
        }
    }
}

/// Opens every page of a site with texts that are no ids, among them the site's own id in another spelling.
pub async fn check_malformed(world: &World) {
    let browser = Browser::signed_in(&world.app, "owner").await;
    let missing = browser.get(&format!("/p/{NOBODYS}")).await;
    for text in [&world.site(SITE).id.replace('-', ""), "x", "%00", "a%2Fb", "..%2F"] {
        for row in PAGES.iter().filter(|row| row.is_of("/p/")) {
            let page = browser.get(&row.address(text)).await;
            assert_eq!((page.status.as_u16(), &page.body), (404, &missing.body), "{} {text}", row.0);
        }
    }
}

#[track_caller]
fn leads_to_sign_in(page: &Page) {
    assert_eq!(page.status, 303, "{}", page.body);
    assert!(page.header("location").starts_with("/auth/login?return_to=/"), "{}", page.header("location"));
}

/// Fails unless a page is refused with the status of `code`, says why, and says nothing of a site.
#[track_caller]
fn refused(world: &World, page: &Page, code: Code, place: &str) {
    assert_eq!(page.status, code.status(), "{place}: {}", page.body);
    world.names_none(&page.body, &[]);
    has_no_figures(world, &page.body);
    assert!(code != Code::SubscriptionRequired || page.body.contains("This site is locked"), "{place}: {}", page.body);
}

#[track_caller]
fn has_no_figures(world: &World, html: &str) {
    let shapes = ["<table", "class=\"tile", "class=\"figures"];
    for one in shapes.into_iter().chain(world.figures.iter().map(String::as_str)) {
        assert!(!html.contains(one), "{one}: {html}");
    }
}

/// The page of all sites has an entry for each site that the caller sees, with figures where its operation answers.
async fn of_all_sites(world: &World, caller: Option<Caller>, browser: &Browser) {
    let page = browser.get("/").await;
    let Some(caller) = caller else { return leads_to_sign_in(&page) };
    let row = PAGES.iter().find(|row| row.0 == "/").unwrap();
    assert_eq!((row.judged(world, Some(caller), None), page.status.as_u16()), (Ok(()), 200), "{}", page.body);
    let seen = world.sites.iter().filter(|site| site.role(caller.name).is_some());
    let names: Vec<&str> = seen.clone().map(|site| site.name).collect();
    // The entries show no record of a site.
    assert!(!page.body.contains(CANARY), "{}", page.body);
    world.names_none(&page.body, &names);
    for site in seen {
        let (_, entry) = page.body.split_once(&format!("id=\"site-{}\"", site.id)).unwrap();
        let entry = entry.split_once("</li>").unwrap().0;
        assert!(entry.contains(site.name), "{entry}");
        match world.judged(operation("getProperty"), Some(caller), Some(site)) {
            Ok(()) => assert!(entry.contains("class=\"figures") && !entry.contains("Locked"), "{entry}"),
            Err(code) => {
                assert_eq!(code, Code::SubscriptionRequired);
                assert!(entry.contains("Locked."), "{entry}");
                has_no_figures(world, entry);
                assert!(site.name != SITE || world.figures.iter().all(|one| !page.body.contains(one)), "{}", page.body);
            }
        }
    }
}

/// The parts of the settings with a form that a plan may lack: the action of the form, its operation, the lowest role that is shown it,
/// the feature, and the notice.
const PARTS: [(&str, &str, Role, Feature, &str); 2] = [
    ("links.make", "createPropertyShareLink", Role::Admin, Feature::ShareLinks, "does not include share links"),
    ("team.invite", "inviteTeamMember", Role::Owner, Feature::Team, "does not include a team"),
];

/// The owner is shown a notice instead of a form that the plan lacks. An admin does not know the plan, and is shown the form.
async fn of_settings(world: &World, caller: Caller, browser: &Browser) {
    let site = world.site(SITE);
    let page = browser.get(&format!("/p/{}/settings", site.id)).await;
    let role = site.role(caller.name).filter(|_| page.status == 200);
    for (action, id, least, feature, notice) in PARTS {
        let asked = operation(id);
        assert!(!asked.is_property_scoped() || asked.role == least, "{id}");
        let lacks = role == Some(Role::Owner) && !world.includes(site, feature);
        assert_eq!(page.body.contains(notice), lacks, "{caller:?} {action}: {}", page.body);
        let has_form = page.body.contains(&format!("value=\"{action}\""));
        assert_eq!(has_form, role >= Some(least) && !lacks, "{caller:?} {action}: {}", page.body);
    }
}

/// Opens every page and file of every share link, as somebody without a session, as its owner and as a stranger.
pub async fn check_links(world: &World) {
    let mut missing = None;
    for name in [None, Some("owner"), Some("stranger")] {
        let browser = match name {
            Some(name) => Browser::signed_in(&world.app, name).await,
            None => Browser::anonymous(&world.app),
        };
        for (token, opens) in &world.links {
            let site = opens.map(|name| world.site(name));
            for row in PAGES.iter().filter(|row| row.is_of("/share/")) {
                let address = row.address(token);
                let page = browser.get(&address).await;
                let place = format!("{name:?} {address} {}", page.status);
                let said = format!("{}{}", page.header("content-disposition"), page.body);
                match row.judged(world, name.map(Caller::person), site) {
                    Ok(()) => {
                        assert_eq!(page.status, 200, "{place}: {}", page.body);
                        assert!(said.contains(site.unwrap().name), "{place}: {said}");
                        world.names_none(&said, &[site.unwrap().name]);
                    }
                    Err(code) => {
                        refused(world, &page, code, &place);
                        assert_eq!(*missing.get_or_insert(page.body.clone()), page.body, "{place}");
                    }
                }
            }
        }
    }
}

#[test]
fn every_page_is_in_the_table() {
    // The script is the same for everybody.
    let known: BTreeSet<&str> =
        dashboard::paths().map(|(path, _)| path).filter(|path| !path.starts_with("/assets/")).collect();
    assert_eq!(PAGES.iter().map(|row| row.0).collect::<BTreeSet<_>>(), known);
}
