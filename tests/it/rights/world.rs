//! People, sites, share links and the plan of the site's owner, with what follows from them for an operation.

use api::{
    error::Code,
    models::{Feature, Role},
    operation::{Access, Operation, PlanPart},
    scope::{Scope, Scopes},
};
use chrono::TimeDelta;
use entity::user::Plan;
use serde_json::{Value, json};
use sightline::{
    config::{Config, PlanTerms},
    services::users::subscriptions,
};

use crate::{
    coverage::NOBODYS,
    dashboard::grouped,
    integrations::connect_both,
    support::{
        actor::Actor,
        app::{TestApp, start_of_test},
    },
};

/// The site whose owner has the plan of the test. It is small, so that its pages are fast.
pub const SITE: &str = "tinyfern.test";

/// A site that is not tracked, and has a share link.
const UNTRACKED: &str = "harbourpost.example";

/// A word of each record of [`SITE`], and of nothing else.
pub const CANARY: &str = "canary";

/// Everybody who signs in. `lapsed` has no plan for the site of their own.
pub const PEOPLE: [&str; 5] = ["owner", "lapsed", "editor", "viewer", "stranger"];

/// Every site.
const SITES: [Site; 5] = [
    Site::of(SITE, "owner", Some(1), &[("lapsed", Role::Admin), ("editor", Role::Editor), ("viewer", Role::Viewer)]),
    Site::of("brightkettle.test", "owner", Some(0), &[("stranger", Role::Viewer)]),
    Site::of(UNTRACKED, "owner", None, &[]),
    Site::of("quietmeadow.test", "stranger", Some(0), &[]),
    Site::of("www.oakandanvil.example", "lapsed", Some(0), &[]),
];

/// The members of a site, each with a role.
type Members = &'static [(&'static str, Role)];

/// A site as a path or an argument names it, if the text names one.
pub type Named<'w> = (String, Option<&'w Site>);

/// A site.
pub struct Site {
    pub name: &'static str,
    pub id: String,
    owner: &'static str,
    /// The number of sites that the owner has tracked for longer. `None` if the site is not tracked.
    longer: Option<u32>,
    members: Members,
}

/// Somebody who asks: a person, with the scopes of the credentials.
#[derive(Debug, Clone, Copy)]
pub struct Caller {
    pub name: &'static str,
    pub scopes: Scopes,
}

/// A running service with everything.
pub struct World {
    pub app: TestApp,
    pub sites: Vec<Site>,
    /// Each share link by its token, with the site that it opens, if it opens one.
    pub links: Vec<(String, Option<&'static str>)>,
    /// Clicks and impressions of [`SITE`], as an element of a page has them.
    pub figures: [String; 2],
    /// The plan of the owner of [`SITE`].
    terms: Option<PlanTerms>,
}

/// A plan that includes everything.
pub fn everything() -> PlanTerms {
    Config::default().plans.pro
}

impl Site {
    const fn of(name: &'static str, owner: &'static str, longer: Option<u32>, members: Members) -> Self {
        Self { name, id: String::new(), owner, longer, members }
    }

    /// The role of a person.
    pub fn role(&self, person: &str) -> Option<Role> {
        self.longer?;
        if person == self.owner {
            return Some(Role::Owner);
        }
        self.members.iter().find(|(name, _)| *name == person).map(|(_, role)| *role)
    }
}

impl Caller {
    /// A person in a browser, or with a token for everything.
    pub fn person(name: &'static str) -> Self {
        Self { name, scopes: Scopes::EVERY }
    }

    /// A person with a token for each set of scopes but that of all.
    pub fn with_fewer_scopes(name: &'static str) -> impl Iterator<Item = Self> {
        // A token that names no scope has every one.
        (1..7_u8).map(move |set| {
            let chosen = Scope::ALL.into_iter().enumerate().filter(move |(bit, _)| set & (1 << bit) != 0);
            Self { name, scopes: Scopes::named(chosen.map(|(_, scope)| scope.as_str())) }
        })
    }
}

impl World {
    /// A world in which the owner of [`SITE`] has a plan with these `terms`, or none.
    pub async fn under(terms: Option<PlanTerms>) -> Self {
        Box::pin(Self::with(terms, |_| {})).await
    }

    /// A world with settings modified by `change`.
    pub async fn with(terms: Option<PlanTerms>, change: impl FnOnce(&mut Config)) -> Self {
        let free = terms.clone().unwrap_or_else(everything);
        let app = TestApp::start(|config| {
            config.plans.free = free;
            change(config);
        })
        .await;
        let (owner, sites) = (app.actor("owner").await, found(&app).await);
        let untracked = link(&owner, &at(&sites, UNTRACKED), None).await;
        track(&app, &owner, &sites).await;
        share(&owner, &sites).await;
        let path = at(&sites, SITE);
        records(&owner, &path).await;
        let links = [&[(untracked, Some(UNTRACKED))][..], &links(&app, &owner, &path).await].concat();
        for person in [&owner, &app.actor("stranger").await] {
            while person.get("/api/properties").await.expect(200).json["meta"]["progress"]["stillReading"] != 0 {}
        }
        let totals = owner.get(&format!("{path}/performance")).await.expect(200).json["data"]["totals"].clone();
        let figures = ["clicks", "impressions"].map(|metric| format!(">{}<", grouped(&totals[metric])));
        let plan = if terms.is_some() { Plan::Free } else { Plan::None };
        subscriptions::set(&app.service.db, "demo-owner", plan, start_of_test()).await.unwrap();
        Self { app, sites, links, figures, terms }
    }

    /// The site with this name.
    pub fn site(&self, name: &str) -> &Site {
        self.sites.iter().find(|site| site.name == name).unwrap()
    }

    /// The site of the test by its id.
    pub fn own(&self) -> Vec<Named<'_>> {
        vec![(self.site(SITE).id.clone(), Some(self.site(SITE)))]
    }

    /// Every site by its id, and an id of none.
    pub fn all(&self) -> Vec<Named<'_>> {
        let sites = self.sites.iter().map(|site| (site.id.clone(), Some(site)));
        sites.chain([(NOBODYS.to_owned(), None)]).collect()
    }

    /// Returns whether an operation answers `caller` who asks about `site`: for a share link the site that it opens.
    ///
    /// # Errors
    /// The refusal, by the row of the operation and the facts of this world.
    pub fn judged(&self, asked: &Operation, caller: Option<Caller>, site: Option<&Site>) -> Result<(), Code> {
        match asked.access {
            Access::Public => return Ok(()),
            Access::ShareToken => {
                let opens = |site: &&Site| self.opens(site, Role::Owner) && self.includes(site, Feature::ShareLinks);
                return site.filter(opens).map(|_| ()).ok_or(Code::NotFound);
            }
            Access::SessionOrOauth => {}
        }
        let caller = caller.ok_or(Code::Unauthorized)?;
        if asked.scope.is_some_and(|needed| !caller.scopes.contains(needed)) {
            return Err(Code::InsufficientScope);
        }
        if !asked.is_property_scoped() {
            assert_eq!(asked.plan, None, "{}: the plan of the caller", asked.id);
            return Ok(());
        }
        let site = site.ok_or(Code::NotFound)?;
        let role = site.role(caller.name).ok_or(Code::NotFound)?;
        if role < asked.role {
            return Err(Code::Forbidden);
        }
        let has_part = match asked.plan {
            Some(PlanPart::Feature(feature)) => self.includes(site, feature),
            Some(PlanPart::Tracking) | None => true,
        };
        if self.opens(site, role) && has_part { Ok(()) } else { Err(Code::SubscriptionRequired) }
    }

    /// Returns whether the plan of the owner of `site` includes a feature.
    pub fn includes(&self, site: &Site, feature: Feature) -> bool {
        self.terms(site).is_some_and(|terms| match feature {
            Feature::ShareLinks => terms.share_links,
            Feature::Team => terms.team,
            Feature::ToolEndpoint => terms.tool_endpoint,
            Feature::SeoProviders => terms.seo_providers,
        })
    }

    /// Returns whether the plan of its owner opens a site to a role. Readers of a share link need no team.
    fn opens(&self, site: &Site, role: Role) -> bool {
        let is_within = |terms: PlanTerms| site.longer.is_some_and(|longer| longer < terms.tracked_properties);
        self.terms(site).is_some_and(is_within) && (role == Role::Owner || self.includes(site, Feature::Team))
    }

    fn terms(&self, site: &Site) -> Option<PlanTerms> {
        match site.owner {
            "owner" => self.terms.clone(),
            "stranger" => Some(everything()),
            _ => None,
        }
    }

    /// Fails if a text names a site that is not in `but`.
    #[track_caller]
    pub fn names_none(&self, text: &str, but: &[&str]) {
        for site in self.sites.iter().filter(|site| !but.contains(&site.name)) {
            assert!(!text.contains(site.name), "{}: {text}", site.name);
        }
        assert!(but.contains(&SITE) || !text.contains(CANARY), "{text}");
    }
}

/// The path of the operations on the site with this name.
fn at(sites: &[Site], name: &str) -> String {
    format!("/api/properties/{}", sites.iter().find(|site| site.name == name).unwrap().id)
}

/// The sites with their ids.
async fn found(app: &TestApp) -> Vec<Site> {
    let mut owned = Vec::new();
    for owner in ["owner", "stranger", "lapsed"] {
        let answer = app.actor(owner).await.get("/api/properties/tracking").await.expect(200);
        owned.extend(answer.json["data"]["properties"].as_array().unwrap().clone());
    }
    let id = |name: &str| {
        let one = owned.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name}: {owned:?}"));
        one["id"].as_str().unwrap().to_owned()
    };
    SITES.map(|site| Site { id: id(site.name), ..site }).into()
}

/// Tracks the owner's sites one after the other.
async fn track(app: &TestApp, owner: &Actor, sites: &[Site]) {
    let mut tracked: Vec<&Site> = sites.iter().filter(|site| site.owner == "owner" && site.longer.is_some()).collect();
    tracked.sort_by_key(|site| site.longer);
    for count in 0..=tracked.len() {
        let ids: Vec<&str> = tracked[..count].iter().map(|site| site.id.as_str()).collect();
        owner.put("/api/properties/tracking", &json!({ "propertyIds": ids })).await.expect(200);
        app.hand.advance(TimeDelta::seconds(1));
    }
}

/// Makes the members.
async fn share(owner: &Actor, sites: &[Site]) {
    let grants = owner.listed("/api/team").await;
    for (site, (name, role)) in sites.iter().flat_map(|site| site.members.iter().map(move |member| (site, member))) {
        let email = format!("{name}@demo.test");
        let known = grants.iter().find(|grant| grant["email"] == email.as_str());
        let role = format!("{role:?}").to_lowercase();
        let mut grant = json!({ "role": role, "propertyIds": [site.id] });
        if let Some(known) = known {
            owner.put(&format!("/api/team/{}", known["id"].as_str().unwrap()), &grant).await.expect(200);
        } else {
            grant["email"] = json!(email);
            owner.made("/api/team", &grant).await;
        }
    }
}

/// Makes a record of each kind at the property, and connects the owner's accounts at providers.
async fn records(owner: &Actor, at: &str) {
    owner.made(&format!("{at}/annotations"), &json!({ "date": "2026-11-16", "text": CANARY })).await;
    let conditions = json!([{ "operator": "contains", "value": "/" }]);
    for kind in ["segments", "topic-clusters"] {
        owner.made(&format!("{at}/{kind}"), &json!({ "name": CANARY, "conditions": conditions })).await;
    }
    owner.post(&format!("{at}/branded-keywords"), &json!({ "keywords": [CANARY] })).await.expect(201);
    connect_both(owner).await;
}

/// The links of the site, one of each kind, and tokens of no link.
async fn links(app: &TestApp, owner: &Actor, at: &str) -> Vec<(String, Option<&'static str>)> {
    let open = link(owner, at, None).await;
    let revoked = link(owner, at, None).await;
    let listed = owner.listed(&format!("{at}/share-links")).await;
    let id = listed.iter().find(|link| link["token"] == revoked.as_str()).unwrap()["id"].as_str().unwrap().to_owned();
    owner.delete(&format!("{at}/share-links/{id}")).await.expect(204);
    let soon = start_of_test() + TimeDelta::minutes(1);
    let expired = link(owner, at, Some(soon.to_rfc3339())).await;
    app.hand.advance(TimeDelta::minutes(1));
    let closed = [revoked, expired, "A".repeat(43), "x".to_owned(), format!("{open}A")];
    [(open, Some(SITE))].into_iter().chain(closed.map(|token| (token, None))).collect()
}

/// The token of a new link.
async fn link(owner: &Actor, at: &str, expires_at: Option<String>) -> String {
    let body: Value = json!({ "name": CANARY, "expiresAt": expires_at });
    let made = owner.post(&format!("{at}/share-links"), &body).await.expect(201);
    made.json["data"]["token"].as_str().unwrap().to_owned()
}
