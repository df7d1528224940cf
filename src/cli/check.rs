//! The `check` command: whether the service could start with these settings, and reach what they name.

use common::{clock::Clock, random::Random};

use super::terminal::Text;
use crate::{
    app::{self, Tried},
    config::Config,
    error::Error,
};

/// Tries the settings, and returns what to print and whether the service can work with them.
pub async fn check(config: &Config, clock: &Clock, random: &Random) -> Result<(Text, bool), Error> {
    let tried = app::try_settings(config, clock, random).await?;
    Ok((drawn(&tried), tried.iter().all(|tried| tried.is_well)))
}

/// One part a line. What is said of it is not cut as a cell of a table would be: the way out stands at its end.
fn drawn(tried: &[Tried]) -> Text {
    let widest = tried.iter().map(|tried| tried.part.len()).max().unwrap_or_default();
    tried.iter().fold(Text::line("PART"), |above, Tried { part, said, is_well }| {
        let outcome = if *is_well { "ok" } else { "FAILED" };
        above.and(format!("{part:widest$}  {outcome:6}  {said}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_part_is_whole_and_on_its_line() {
        let long = format!("database.url: {}\n`GRANT`", "x".repeat(1000));
        let failed = Tried { part: "database", said: long.clone(), is_well: false };
        let well = Tried { part: "mail", said: "not set".to_owned(), is_well: true };
        let drawn = drawn(&[failed, well]).to_string();
        let first = format!("database  FAILED  {}", long.replace('\n', "\u{fffd}"));
        assert_eq!(drawn, format!("PART\n{first}\nmail      ok      not set"));
    }
}
