//! The demo people of the embedded issuer. At first start each connects a search account by the real code grant, and their
//! sites are imported as by a sync.

mod consent;
mod engine;
pub mod world;

use entity::user;
use identity::issuer::EMBEDDED;
use sea_orm::DatabaseConnection;
use simulator::World;

pub use simulator::Simulator;

pub use self::engine::alone;
pub(crate) use self::engine::beside;
use self::world::{KnownSite, Person};
use crate::{
    error::{Error, Responsible},
    handlers::App,
    services::{
        properties::sync::Site,
        search_accounts::{self, disconnection},
    },
};

/// True if the program has the demo.
pub(crate) const IS_BUILT_IN: bool = true;

/// Sites of the simulated search engine that the demo people track, with a word of many of their queries.
const TRACKED: [(&str, &str); 6] = [
    ("sc-domain:northmoor.example", "jacket"),
    ("https://www.ledgerline.example/", "invoice"),
    ("sc-domain:harbourpost.example", "harbour"),
    ("https://tinyfern.test/", "fern"),
    ("https://www.oakandanvil.example/", "tent"),
    ("sc-domain:quietmeadow.test", "plant"),
];

/// Creates missing demo data. An unavailable search engine does not prevent the start.
///
/// `http` must not follow redirects.
pub(crate) async fn seed(app: &App, db: &DatabaseConnection, http: &reqwest::Client) -> Result<(), Error> {
    let (departures, now) = (&app.privacy.departures, app.clock.now());
    let rows = world::people(db, departures, &app.random, EMBEDDED, now).await?;
    let mut people: Vec<_> = world::PEOPLE.iter().zip(rows).collect();
    if app.config.simulator.sites > 0 {
        let row = world::person(db, departures, &app.random, EMBEDDED, &world::NETWORK, now).await?;
        people.push((&world::NETWORK, row));
    }
    for (person, row) in people {
        if person.connected
            && let Some(row) = row
            && let Err(error) = connect(app, db, http, person, &row).await
        {
            tracing::warn!(person = person.name, %error, "a demo account could not be connected");
        }
    }
    Ok(())
}

async fn connect(
    app: &App,
    db: &DatabaseConnection,
    http: &reqwest::Client,
    person: &Person,
    row: &user::Model,
) -> Result<(), Error> {
    let is_network = *person == world::NETWORK;
    let account = match search_accounts::of_user(db, row.id).await?.into_iter().next() {
        Some(account) if account.synced_at.is_some() && !is_network => return Ok(()),
        Some(account) if disconnection(&account).is_some() => return Ok(()),
        Some(account) => account,
        None => {
            let connection = consent::grant(app, http, person.name).await.map_err(Error::internal)?;
            let now = app.clock.now();
            search_accounts::connect(db, &app.search.secrets, &app.random, now, row.id, &connection).await?
        }
    };
    let credentials = app.search.credentials(&account, &Responsible::Caller)?;
    let sites = app.search.reader.engine().sites(&credentials).await.map_err(Error::internal)?;
    let sites: Vec<Site> = sites
        .into_iter()
        .map(|site| Site { site_url: site.site_url, permission_level: site.permission_level })
        .collect();
    if is_network {
        world::network(db, &app.random, app.clock.now(), &account, &sites).await?;
    } else {
        world::account(db, &app.random, app.clock.now(), &account, &sites, &known_sites(app)).await?;
    }
    Ok(())
}

fn known_sites(app: &App) -> Vec<KnownSite> {
    let settings = &app.config.simulator;
    let world = World::new(settings.seed, settings.today.unwrap_or_else(|| app.clock.pacific_today()));
    let known = TRACKED.iter().filter_map(|(url, topic)| {
        let site = world.site(url)?;
        let section = site.sections().next()?;
        Some(KnownSite {
            site_url: (*url).to_owned(),
            brand_terms: site.brand_terms().to_vec(),
            section: format!("/{section}/"),
            topic: (*topic).to_owned(),
        })
    });
    known.collect()
}
