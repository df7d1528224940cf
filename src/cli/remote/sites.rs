//! The `sites` command: the properties of a person, as a table on a terminal.

use std::{
    collections::BTreeMap,
    ptr,
    time::{Duration, Instant},
};

use api::properties::{Headline, TrackedProperty};
use clap::Args;
use common::{
    names::sites::{SiteName, address, addresses, among, is_found_by, is_named, is_shown_as},
    plain_text::quoted,
};
use poem_openapi::types::{ParseFromJSON, ToJSON};
use serde_json::Value;

use super::{
    api::{Api, At},
    error::RemoteError,
    numbers::{change, grouped, position, sparkline},
};
use crate::{
    cli::{
        table::table,
        terminal::{self, Text, json, short},
    },
    config::Config,
};

/// The time between two looks at a list that is still being read.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The longest time that a list may still be read.
const TIMEOUT: Duration = Duration::from_mins(15);

/// The most properties in one answer.
const PAGE: usize = 1_000;

/// The most properties of a person that a table can hold.
const MOST: usize = 100_000;

/// The most names of sites in an error.
const NAMED: usize = 10;

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
    let all: Vec<TrackedProperty> = list(&api, true).await?;
    Ok(if all.is_empty() { Text::line(NOBODYS) } else { drawn(&all) })
}

const NOBODYS: &str =
    "There are no sites yet: connect a search account at the server's page /account, or ask for an invitation.";

/// All properties of the person, once the search engine has been read for all of them if `headlines` are wanted.
pub async fn list<T: ParseFromJSON>(api: &Api, headlines: bool) -> Result<Vec<T>, RemoteError> {
    let progress = terminal::Progress::new();
    let mut all = Vec::new();
    let end = Instant::now() + TIMEOUT;
    loop {
        let mut query = BTreeMap::from([("limit", PAGE.to_string()), ("offset", all.len().to_string())]);
        query.insert("headline", headlines.to_string());
        query.insert("series", headlines.to_string());
        let answer = api.get("/properties", &query).await?;
        if let Some(still_reading @ 1..) = answer.part("/meta/progress/stillReading")? {
            let read: u64 = answer.part("/meta/progress/read")?;
            progress.say(&format!("reading: {read} of {} sites", read.saturating_add(still_reading)));
            if Instant::now() > end {
                let minutes = TIMEOUT.as_secs() / 60;
                return Err(RemoteError::Failed(format!(
                    "{still_reading} sites are still being read after {minutes} minutes: ask again later"
                )));
            }
            tokio::time::sleep(LOOK_EVERY).await;
            continue;
        }
        let (data, has_more): (Vec<T>, bool) = (answer.part("/data")?, answer.part("/meta/hasMore")?);
        let is_last = !has_more || data.is_empty();
        all.extend(data);
        if all.len() > MOST {
            return Err(RemoteError::Failed(format!("the server lists more than {MOST} sites: ask its API by pages")));
        }
        if is_last {
            return Ok(all);
        }
    }
}

/// The names of sites among one another.
fn names(all: &[TrackedProperty]) -> Vec<SiteName> {
    let addresses: Vec<&str> = all.iter().map(|site| site.site_url.as_str()).collect();
    among(&addresses)
}

fn drawn(all: &[TrackedProperty]) -> Text {
    let rows = all.iter().zip(names(all)).map(|(property, name)| {
        let start = [name.to_string(), word(&property.role)];
        let numbers = match &property.headline {
            Some(Headline { current, previous, series, .. }) => [
                grouped(current.clicks),
                change(current.clicks, previous.as_ref().map(|previous| previous.clicks)),
                grouped(current.impressions),
                position(current.position),
                sparkline(&series.iter().flatten().map(|day| day.metrics.clicks).collect::<Vec<_>>()),
            ],
            None => {
                [String::new(), String::new(), String::new(), String::new(), word(&property.access).replace('_', " ")]
            }
        };
        let [name, role] = start;
        let [clicks, change, impressions, position, days] = numbers;
        [name, role, clicks, change, impressions, position, days]
    });
    table(["SITE", "ROLE", "CLICKS", "CHANGE", "IMPRESSIONS", "POSITION", "28 DAYS"], rows)
}

/// The word of an enumeration, as answers write it.
fn word(value: &impl ToJSON) -> String {
    value.to_json().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// The site that a person means, and its name among the others: by its id, or by what is shown of it; else by its name; else by a part of
/// its name.
pub fn chosen<'a>(all: &'a [TrackedProperty], wanted: &str) -> Result<(&'a TrackedProperty, SiteName), RemoteError> {
    let wanted = wanted.trim();
    let names = names(all);
    let having = |is_meant: &dyn Fn(&TrackedProperty, &SiteName) -> bool| {
        all.iter().zip(&names).filter(|(site, name)| is_meant(site, name)).collect::<Vec<_>>()
    };
    let part = wanted.split_once("://").map_or(wanted, |(_, rest)| rest).trim_start_matches("www.");
    let mut found = having(&|site, name| site.id.to_string() == wanted || is_shown_as(&site.site_url, name, wanted));
    found.truncate(1);
    if found.is_empty() {
        found = having(&|site, _| address(&site.site_url) == wanted);
    }
    if found.is_empty() {
        found = having(&|site, _| is_named(&site.site_url, wanted));
    }
    if found.is_empty() && !part.trim_matches('/').is_empty() {
        found = having(&|site, _| is_found_by(&site.site_url, part));
    }
    let called = addresses(&all.iter().map(|site| site.site_url.as_str()).collect::<Vec<_>>());
    let called = |site: &TrackedProperty| {
        let place = all.iter().position(|other| ptr::eq(other, site));
        place.map_or_else(|| address(&site.site_url), |place| called[place].clone())
    };
    let listed = |sites: &[&TrackedProperty]| {
        let names = sites.iter().take(NAMED).map(|site| short(&called(site))).collect::<Vec<_>>().join(", ");
        let more = sites.len().saturating_sub(NAMED);
        if more == 0 { names } else { format!("{names} and {more} more (`sightline sites` lists them)") }
    };
    match &found[..] {
        [(site, name)] => Ok((*site, (*name).clone())),
        [] if all.is_empty() => Err(RemoteError::Failed("there are no sites yet".to_owned())),
        [] => Err(RemoteError::Failed(format!(
            "no site is called {}; there are {}",
            quoted(wanted),
            listed(&all.iter().collect::<Vec<_>>())
        ))),
        several => {
            let sites: Vec<&TrackedProperty> = several.iter().map(|(site, _)| *site).collect();
            Err(RemoteError::Failed(format!("{} may be {}; name one of them", quoted(wanted), listed(&sites))))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    fn site(name: &str) -> TrackedProperty {
        at(&format!("sc-domain:{name}"), name)
    }

    fn at(address: &str, name: &str) -> TrackedProperty {
        let id = Uuid::from_u128(name.bytes().map(u128::from).sum());
        let site = json!({
            "id": id, "siteUrl": address, "name": name, "role": "owner", "favorite": false, "hidden": false, "tagIds": [],
            "access": "ok",
        });
        TrackedProperty::parse_from_json(Some(site)).unwrap()
    }

    #[test]
    fn a_site_is_found_by_its_name_or_by_a_part_of_it() {
        let all = ["north.example", "north.example.org", "south.example"].map(site);
        let found =
            |wanted: &str| chosen(&all, wanted).map(|(site, _)| site.name.clone()).map_err(|error| error.to_string());
        assert_eq!(found("north.example").unwrap(), "north.example");
        assert_eq!(found("sc-domain:south.example").unwrap(), "south.example");
        assert_eq!(found(&all[2].id.to_string()).unwrap(), "south.example");
        assert_eq!(found("sou").unwrap(), "south.example");
        assert_eq!(found("https://www.SOUTH.example/").unwrap(), "south.example");
        assert_eq!(
            found("nor").unwrap_err(),
            "\"nor\" may be sc-domain:north.example, sc-domain:north.example.org; name one of them"
        );
        // As it was typed, with a backslash and a combining accent.
        assert!(found("we\\d e\u{301}").unwrap_err().starts_with("no site is called \"we\\d e\u{301}\"; "));
        for unknown in ["west", "", "https://"] {
            assert!(found(unknown).unwrap_err().contains("there are sc-domain:north.example, "), "{unknown}");
        }
    }

    #[test]
    fn sites_of_one_name_are_told_apart_by_their_addresses() {
        let all = [
            "sc-domain:north.example",
            "https://north.example/",
            "http://north.example/",
            "https://north.example/%d7%a9/",
            "https://north.example/%D7%A9/",
            "https://ann:secret@north.example:81/",
            "https://xn--80ak6aa92e.example/",
        ];
        let all = all.map(|address| at(address, "north.example"));
        for site in &all {
            assert_eq!(chosen(&all, &site.site_url).unwrap().0.site_url, site.site_url);
        }
        for (name, site) in names(&all).iter().zip(&all) {
            let (found, called) = chosen(&all, &name.to_string()).unwrap();
            assert_eq!((&found.site_url, &called), (&site.site_url, name), "the name that the list prints");
        }
        for name in ["north.example", "nor"] {
            let said = chosen(&all, name).unwrap_err().to_string();
            assert!(said.contains("may be sc-domain:north.example, https://north.example/, http://"), "{said}");
        }
    }

    #[test]
    fn an_international_name_is_found_in_both_forms() {
        let all = ["https://xn--bcher-kva.example/", "https://shop.example/"].map(|address| at(address, "any"));
        for wanted in
            ["bücher.example", "BÜCHER.example/", "xn--bcher-kva.example", "https://bücher.example", "büch", "xn--bch"]
        {
            let (site, name) = chosen(&all, wanted).unwrap();
            assert_eq!(
                (&*site.site_url, name.to_string().as_str()),
                ("https://xn--bcher-kva.example/", "bücher.example")
            );
        }
    }
}
