//! The demo people of the embedded issuer: each connects a search account at first start, by the real code grant, and their
//! sites are taken over as a sync would.

use entity::user;
use secrecy::ExposeSecret as _;
use url::Url;

use super::{Parts, http_client};
use crate::{
    error::Error,
    search_engine::{Account, SearchEngineError},
    services::{
        accounts::{self, Connection},
        seed::{self, KnownSite},
        sync::Site,
    },
    simulator::World,
};

/// Nobody listens there: the code is read from the redirect itself.
const REDIRECT_URI: &str = "http://127.0.0.1/search-account";

/// Sites of the simulated search engine that the demo world tracks, with a topic of many of their queries.
const TRACKED: [(&str, &str); 6] = [
    ("sc-domain:northmoor.example", "jacket"),
    ("https://www.ledgerline.example/", "invoice"),
    ("sc-domain:harbourpost.example", "harbour"),
    ("https://tinyfern.test/", "fern"),
    ("https://www.oakandanvil.example/", "tent"),
    ("sc-domain:quietmeadow.test", "plant"),
];

/// Makes the demo world where it is missing. A search engine that is away is no reason not to start.
pub(super) async fn seed(parts: &Parts) -> Result<(), Error> {
    let app = &parts.app;
    if !app.config.embeds_issuer() {
        return Ok(());
    }
    let people = seed::people(&parts.store.writer, &app.random, &app.base_url, app.clock.now()).await?;
    for (person, row) in seed::PEOPLE.iter().zip(people) {
        if person.connected
            && let Err(error) = connect(parts, person.name, &row).await
        {
            tracing::warn!(person = person.name, %error, "a demo account could not be connected");
        }
    }
    Ok(())
}

async fn connect(parts: &Parts, name: &str, person: &user::Model) -> Result<(), Error> {
    let app = &parts.app;
    let account = match accounts::of_user(&parts.store.writer, person.id).await?.into_iter().next() {
        Some(account) if account.synced_at.is_some() => return Ok(()),
        Some(account) => account,
        None => {
            let connection = grant(parts, name).await.map_err(Error::internal)?;
            let now = app.clock.now();
            accounts::connect(&parts.store.writer, &app.search.secrets, &app.random, now, person.id, &connection)
                .await?
        }
    };
    let refresh_token = accounts::refresh_token(&app.search.secrets, &account, false)?.into();
    let credentials = Account { id: account.id, refresh_token };
    let sites = app.search.reader.engine().sites(&credentials).await.map_err(Error::internal)?;
    let sites: Vec<Site> = sites
        .into_iter()
        .map(|site| Site { site_url: site.site_url, permission_level: site.permission_level })
        .collect();
    seed::account(&parts.store.writer, &app.random, app.clock.now(), &account, &sites, &known_sites(parts)).await?;
    Ok(())
}

/// The code grant, with the consent that the simulated search engine gives for a `login_hint`.
async fn grant(parts: &Parts, name: &str) -> Result<Connection, SearchEngineError> {
    let app = &parts.app;
    let oauth = app.search.reader.engine().oauth();
    let (state, verifier) = (app.random.token(), app.random.token());
    let consent = oauth.authorize_url(REDIRECT_URI, &state, &verifier, Some(name))?;
    let http = http_client().map_err(|e| SearchEngineError::unavailable(e.to_string()))?;
    let answer = http.get(consent).send().await;
    let answer = answer.map_err(|e| SearchEngineError::unavailable(e.without_url().to_string()))?;
    let location = answer.headers().get("location").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let code = code(location, &state)
        .ok_or_else(|| SearchEngineError::Disconnected("consent needs a person; connect by hand".to_owned()))?;
    let tokens = oauth.exchange(&code, REDIRECT_URI, &verifier).await?;
    let who = oauth.userinfo(&tokens.access_token).await?;
    let refresh_token =
        tokens.refresh_token.ok_or_else(|| SearchEngineError::Disconnected("no refresh token".to_owned()))?;
    Ok(Connection { subject: who.sub, email: who.email, refresh_token: refresh_token.expose_secret().to_owned() })
}

fn code(location: &str, state: &str) -> Option<String> {
    let url = Url::parse(location).ok()?;
    let find = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    (find("state")? == state).then(|| find("code")).flatten()
}

fn known_sites(parts: &Parts) -> Vec<KnownSite> {
    let settings = &parts.app.config.simulator;
    let world = World::new(settings.seed, settings.today.unwrap_or_else(|| parts.app.clock.pacific_today()));
    let known = TRACKED.iter().filter_map(|(url, topic)| {
        let site = world.site(url)?;
        let section = site.sections().next()?;
        Some(KnownSite {
            site_url: (*url).to_owned(),
            brand_terms: site.brand_terms().iter().map(|term| (*term).to_owned()).collect(),
            section: format!("/{section}/"),
            topic: (*topic).to_owned(),
        })
    });
    known.collect()
}
