//! The greeting of `serve` on a terminal.

use super::terminal::Text;
use crate::config::Config;

/// Says where a service is, who can sign in, and whose figures it shows. `has_demo_people` is true if the demo people are present.
#[must_use]
pub fn greeting(config: &Config, base_url: &str, has_demo_people: bool) -> Text {
    let (people, next) = if has_demo_people {
        ("demo people, who need no password".to_owned(), format!("open {base_url} and sign in as owner"))
    } else if let Some(issuer) = &config.identity.issuer {
        (format!("those of {issuer}"), format!("open {base_url}"))
    } else {
        ("local accounts: `sightline user add ADDRESS` adds one".to_owned(), format!("open {base_url}"))
    };
    let engine = if config.simulates_search_engine() { "simulated: all figures are made up" } else { "real" };
    let version = env!("CARGO_PKG_VERSION");
    Text::line("")
        .and(format!("Sightline {version}"))
        .and(format!("  people         {people}"))
        .and(format!("  search engine  {engine}"))
        .and(format!("  next           {next}"))
        .and("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_names_people_engine_and_the_next_step() {
        let mut config = Config::default();
        let said = |config: &Config, demo| greeting(config, "http://127.0.0.1:8080", demo).to_string();
        let demo = said(&config, true);
        assert!(
            demo.contains("no password") && demo.contains("made up") && demo.contains("sign in as owner"),
            "{demo}"
        );
        assert!(said(&config, false).contains("user add"));
        config.search_engine.client_id = Some("client".to_owned());
        config.identity.issuer = Some("https://id.example".parse().unwrap());
        let own = said(&config, false);
        assert!(own.contains("those of https://id.example") && own.contains("real"), "{own}");
    }
}
