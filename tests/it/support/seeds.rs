//! The data that a first start with [`settings`] stores: keys, the demo people, their search accounts and sites. It is made once for each
//! process, and a test app with such settings starts on a copy.

use std::{fs, path::Path};

use common::{clock::Clock, random::Random};
use sightline::{app, config::Config};
use test_data::postgres::{self, Fresh, Template};
use tokio::sync::OnceCell;

use super::{
    actor::Actor,
    app::{Socket, folder, settings, start_of_test},
};

/// No test app has this seed, so none makes an id or a token that the copy holds already.
const SEED: u64 = 10;

struct Seeded {
    /// The files of the data folder, by name.
    files: Vec<(String, Vec<u8>)>,
    /// On `PostgreSQL`, the database.
    database: Option<Template>,
}

/// Returns whether a first start with `config` stores the same data as one with [`settings`]. It depends on the settings named here only.
pub fn is_alike(config: &Config) -> bool {
    let usual = settings();
    let (engine, usual_engine) = (&config.search_engine, &usual.search_engine);
    let (simulator, usual_simulator) = (&config.simulator, &usual.simulator);
    config.database.migrate == usual.database.migrate
        && config.secrets == usual.secrets
        && (&config.base_url, &config.mcp) == (&usual.base_url, &usual.mcp)
        && config.identity.issuer == usual.identity.issuer
        && config.identity.demo_sign_in == usual.identity.demo_sign_in
        && (&engine.api_url, &engine.client_id) == (&usual_engine.api_url, &usual_engine.client_id)
        && (simulator.seed, simulator.sites) == (usual_simulator.seed, usual_simulator.sites)
        && (simulator.today, &simulator.fail) == (usual_simulator.today, &usual_simulator.fail)
}

/// Fills a data folder, and makes the database on `PostgreSQL`, as the first start leaves them. Returns `false` if it cannot: a database
/// is copied only while nothing is connected to it, and a pooler stays connected.
pub async fn copy(data: &Path, database: Option<&Fresh>) -> bool {
    static SEEDED: OnceCell<Seeded> = OnceCell::const_new();
    if postgres::is_pooled() {
        return false;
    }
    let seeded = SEEDED.get_or_init(|| Box::pin(first_start())).await;
    for (name, bytes) in &seeded.files {
        fs::write(data.join(name), bytes).unwrap();
    }
    if let (Some(database), Some(template)) = (database, &seeded.database) {
        database.copy(template).await;
    }
    true
}

async fn first_start() -> Seeded {
    let (data, database) = (folder(), postgres::reserve().await);
    let mut config = settings();
    config.data_dir = data.path().display().to_string();
    config.database.url = database.as_ref().map(|database| database.url.clone());
    if let Some(database) = &database {
        database.create().await;
    }
    let (clock, _) = Clock::manual(start_of_test());
    let service =
        Box::pin(app::start_on(Socket::bind().listener(), config, clock, Random::seeded(SEED))).await.unwrap();
    // The first question for keys makes one.
    Actor::anonymous(&service.base_url).get("/oauth/jwks").await;
    service.shutdown().await;
    let files = fs::read_dir(data.path()).unwrap().map(|entry| {
        let entry = entry.unwrap();
        (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())
    });
    Seeded { files: files.collect(), database: database.map(Fresh::into_template) }
}
