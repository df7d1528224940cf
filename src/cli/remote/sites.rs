//! The `sites` command: the properties of a person, as a table on a terminal.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    api::{Answer, Api, At},
    error::RemoteError,
    numbers::{Day, Metrics, change, grouped, sparkline},
};
use crate::{
    cli::{
        table::table,
        terminal::{self, Text, json},
    },
    config::Config,
};

/// The time between two looks at a list that is still being read.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The longest time that a list may still be read.
const PATIENCE: Duration = Duration::from_mins(15);

/// The most properties in one answer.
const PAGE: usize = 1_000;

/// The most properties of a person that a table can hold.
const MOST: usize = 100_000;

/// Options of `sites`.
#[derive(Debug, Args)]
pub struct Sites {
    /// The server and the person.
    #[command(flatten)]
    pub at: At,
    /// Print the sites as JSON, as the API has them.
    #[arg(long)]
    pub json: bool,
}

/// A property of the list.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Property {
    /// The id.
    pub id: String,
    /// The name of the property at the search engine.
    pub site_url: String,
    /// The short name.
    pub name: String,
    role: String,
    access: String,
    headline: Option<Headline>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Headline {
    current: Metrics,
    previous: Option<Metrics>,
    series: Option<Vec<Day>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    has_more: bool,
    progress: Option<Progress>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Progress {
    read: u64,
    still_reading: u64,
}

/// Returns what `sites` prints.
///
/// # Errors
/// Nobody signs in, or the server refuses or does not answer.
pub async fn sites(options: &Sites, config: &Config) -> Result<Text, RemoteError> {
    let api = Api::open(&options.at, config).await?;
    if options.json {
        let all: Vec<Value> = list(&api, true).await?;
        return json(&all).map_err(|error| RemoteError::Failed(error.to_string()));
    }
    let all: Vec<Property> = list(&api, true).await?;
    Ok(if all.is_empty() { Text::line(NOBODYS) } else { drawn(&all) })
}

const NOBODYS: &str =
    "There are no sites yet: connect a search account at the server's page /account, or ask for an invitation.";

/// All properties of the person, once the search engine has been read for all of them if `headlines` are wanted.
pub async fn list<T: for<'a> Deserialize<'a>>(api: &Api, headlines: bool) -> Result<Vec<T>, RemoteError> {
    let progress = terminal::Progress::new();
    let mut all = Vec::new();
    let end = Instant::now() + PATIENCE;
    loop {
        let mut query = BTreeMap::from([("limit", PAGE.to_string()), ("offset", all.len().to_string())]);
        query.insert("headline", headlines.to_string());
        query.insert("series", headlines.to_string());
        let Answer { data, meta }: Answer<Vec<T>, Meta> = api.get("/properties", &query).await?;
        if let Some(Progress { read, still_reading }) = meta.progress.filter(|progress| progress.still_reading > 0) {
            progress.say(&format!("reading: {read} of {} sites", read.saturating_add(still_reading)));
            if Instant::now() > end {
                let minutes = PATIENCE.as_secs() / 60;
                return Err(RemoteError::Failed(format!(
                    "{still_reading} sites are still being read after {minutes} minutes: ask again later"
                )));
            }
            tokio::time::sleep(LOOK_EVERY).await;
            continue;
        }
        let is_last = !meta.has_more || data.is_empty();
        all.extend(data);
        if all.len() > MOST {
            return Err(RemoteError::Failed(format!("the server lists more than {MOST} sites: ask its API by pages")));
        }
        if is_last {
            return Ok(all);
        }
    }
}

fn drawn(all: &[Property]) -> Text {
    let rows = all.iter().map(|property| {
        let start = [property.name.clone(), property.role.clone()];
        let numbers = match &property.headline {
            Some(Headline { current, previous, series }) => [
                grouped(current.clicks),
                change(current.clicks, previous.as_ref().map(|previous| previous.clicks)),
                grouped(current.impressions),
                current.position(),
                series.as_deref().map(sparkline).unwrap_or_default(),
            ],
            None => [String::new(), String::new(), String::new(), String::new(), property.access.replace('_', " ")],
        };
        let [name, role] = start;
        let [clicks, change, impressions, position, days] = numbers;
        [name, role, clicks, change, impressions, position, days]
    });
    table(["SITE", "ROLE", "CLICKS", "CHANGE", "IMPRESSIONS", "POSITION", "28 DAYS"], rows)
}
