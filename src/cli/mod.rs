//! The commands: their names, arguments and actions.

pub mod backup;
pub mod check;
pub mod client;
mod greeting;
pub mod health;
pub mod keys;
pub mod remote;
pub mod secrets;
mod stop;
pub mod subscription;
mod supervisor;
mod table;
pub mod terminal;
pub mod user;

use std::net::SocketAddr;

use api::models::parse_day;
use chrono::NaiveDate;
use clap::{Args, Parser, Subcommand};
use common::{clock::Clock, random::Random};

use self::{
    backup::{Backup, Restore, backup, restore},
    client::{ClientCommand, client},
    keys::{KeysCommand, keys},
    remote::{
        api::{At, sign_in},
        login::EVERYTHING,
        logout::{Logout, logout},
        report::{Report, report},
        sites::{Sites, sites},
    },
    secrets::{SecretsCommand, secrets},
    stop::stop_signal,
    subscription::{Subscription, subscription},
    terminal::{Text, note, say},
    user::{User, user},
};
use crate::{
    app,
    config::{self, Config, Fault},
    demo,
    error::Error,
};

const EXAMPLES: &str = "Examples:
  sightline                                        serve with demo people and a simulated search engine
  SIGHTLINE_LISTEN=127.0.0.1:8090 sightline        serve at another port
  sightline login --as viewer                      print an access token of a demo person
  sightline login --server https://search.example  sign in there in a browser, and print an access token
  sightline report northmoor --as owner            print how a site is doing
  sightline user add ann@example.org --name Ann    add a local account
  sightline subscription set --user ann@example.org --plan pro

Settings are environment variables that begin with SIGHTLINE_, or stand in sightline.toml; `sightline settings` lists them.";

/// Search-performance analytics server.
#[derive(Debug, Parser)]
#[command(name = "sightline", after_help = EXAMPLES)]
pub struct Cli {
    /// The command to run; without one, `serve`.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands of `sightline`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the service. This is the default command.
    Serve,
    /// Sign in at a running server and print an access token.
    Login(Login),
    /// End the sign-in that `sites` and `report` stored.
    Logout(Logout),
    /// Print the sites of a person, with their numbers.
    Sites(Sites),
    /// Print how a site is doing.
    Report(Report),
    /// Print openapi.json.
    Openapi {
        /// Print the one-page table of operations instead.
        #[arg(long)]
        operations: bool,
    },
    /// Print the page of all settings, docs/SETTINGS.md.
    Settings,
    /// Try the settings against everything that they name, without changing anything.
    Check,
    /// Say whether the service that runs with these settings is ready; exit code 1 if it is not.
    Health,
    /// Apply pending database migrations.
    Migrate,
    /// Copy the database file to a new one while the service runs, and verify the copy.
    Backup(Backup),
    /// Put a copy of the database file where there is none, and verify it.
    Restore(Restore),
    /// Run the simulated search engine.
    Simulator(Simulator),
    /// Set, show or list the plans of people.
    #[command(subcommand)]
    Subscription(Subscription),
    /// Add, list and remove clients of the embedded issuer.
    #[command(subcommand)]
    Client(ClientCommand),
    /// Replace the signing key of the embedded issuer.
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Replace the key that seals stored secrets.
    #[command(subcommand)]
    Secrets(SecretsCommand),
    /// Add, list, reset or remove local accounts.
    #[command(subcommand)]
    User(User),
}

/// Options of `login`.
#[derive(Debug, Args)]
pub struct Login {
    /// The server and the person.
    #[command(flatten)]
    pub at: At,
    /// The scope of the token, such as `openid search:read`; everything by default.
    #[arg(long, value_name = "SCOPE")]
    pub scope: Option<String>,
}

/// Options of `simulator`. Omitted ones come from the settings.
#[derive(Debug, Args)]
pub struct Simulator {
    /// Address to listen on.
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
    /// Seed of the simulated data.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Number of sites of the account `network`, at most 10,000.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=10_000))]
    pub sites: Option<u32>,
    /// The simulated current day.
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_day)]
    pub today: Option<NaiveDate>,
    /// Least time from a request to its response, in milliseconds.
    #[arg(long, value_name = "N")]
    pub latency_ms: Option<u64>,
    /// Fault to inject; repeatable.
    #[arg(long, value_name = "KIND:RATE")]
    pub fail: Vec<Fault>,
}

impl Simulator {
    /// Overrides the settings with the command line's options.
    pub fn over(&self, settings: &mut crate::config::Simulator) {
        settings.listen = self.listen.unwrap_or(settings.listen);
        settings.seed = self.seed.unwrap_or(settings.seed);
        settings.sites = self.sites.unwrap_or(settings.sites);
        settings.today = self.today.or(settings.today);
        settings.latency_ms = self.latency_ms.unwrap_or(settings.latency_ms);
        if !self.fail.is_empty() {
            settings.fail.clone_from(&self.fail);
        }
    }
}

/// Runs the command.
///
/// # Errors
/// Described for the operator.
pub async fn run(cli: Cli) -> Result<(), Box<dyn std::error::Error>> {
    let clock = Clock::system();
    match cli.command.unwrap_or(Command::Serve) {
        Command::Openapi { operations: true } => say(&Text::own(&api::operation::listing()))?,
        Command::Openapi { operations: false } => say(&Text::own(&api::document::committed_text()))?,
        Command::Settings => say(&Text::own(&config::page()))?,
        Command::Check => {
            let (said, is_well) = check::check(&Config::of_process()?, &clock, &Random::system()).await?;
            say(&said)?;
            if !is_well {
                return Err("a part failed: the service would not work as set".into());
            }
        }
        Command::Health => {
            let (said, is_ready) = health::health(&Config::of_process()?).await?;
            say(&said)?;
            if !is_ready {
                return Err("the service is not ready".into());
            }
        }
        Command::Migrate => {
            app::migrate(&Config::of_process()?).await?;
            say(&Text::line("the database is up to date"))?;
        }
        Command::Backup(options) => say(&backup(&options, &Config::of_process()?).await?)?,
        Command::Restore(options) => say(&restore(&options, &Config::of_process()?).await?)?,
        Command::Subscription(command) => {
            say(&subscription(&command, &Config::of_process()?, &clock).await?)?;
        }
        Command::Client(command) => {
            say(&client(&command, &Config::of_process()?, &clock, &Random::system()).await?)?;
        }
        Command::Keys(command) => {
            say(&keys(&command, &Config::of_process()?, &clock, &Random::system()).await?)?;
        }
        Command::Secrets(command) => {
            say(&secrets(&command, &Config::of_process()?, &Random::system()).await?)?;
        }
        Command::User(command) => {
            let said = user(&command, &Config::of_process()?, &clock, &Random::system()).await?;
            say(&said.result)?;
            if let Some(more) = said.note {
                note(&more);
            }
        }
        Command::Serve => Box::pin(serve(Config::of_process()?, clock)).await?,
        Command::Login(Login { at, scope }) => {
            let scope = scope.as_deref().unwrap_or(EVERYTHING);
            say(&Text::line(sign_in(&at, scope, &Config::of_process()?).await?))?;
        }
        Command::Logout(options) => say(&logout(&options, &Config::of_process()?).await?)?,
        Command::Sites(options) => say(&sites(&options, &Config::of_process()?).await?)?,
        Command::Report(options) => say(&report(&options, &Config::of_process()?).await?)?,
        Command::Simulator(options) => simulate(&options, Config::of_process()?, clock).await?,
    }
    Ok(())
}

/// Refuses a command about clients or keys of the embedded issuer if another issuer is configured.
fn check_embedded(config: &Config) -> Result<(), Error> {
    if config.embeds_issuer() {
        return Ok(());
    }
    Err(Error::invalid("identity.issuer: this service uses another issuer, which has its own clients and signing keys"))
}

/// Serves until interrupted or terminated.
async fn serve(config: Config, clock: Clock) -> Result<(), Box<dyn std::error::Error>> {
    let service = Box::pin(app::start(config.clone(), clock, Random::system())).await?;
    tracing::info!(address = %service.address, "accepting requests");
    let stop = stop_signal()?;
    say(&Text::line(format!("listening on {}", service.base_url)))?;
    supervisor::send(supervisor::READY);
    if terminal::is_read() {
        let demo_people = app::demo_people(&config, service.address, &config.base_url(service.address))?;
        say(&greeting::greeting(&config, &service.base_url, demo_people))?;
    }
    stop.await;
    tracing::info!("stopping");
    supervisor::send(supervisor::STOPPING);
    service.shutdown().await;
    Ok(())
}

/// Runs the simulator alone until interrupted or terminated.
async fn simulate(options: &Simulator, mut config: Config, clock: Clock) -> Result<(), Box<dyn std::error::Error>> {
    options.over(&mut config.simulator);
    let simulator = demo::alone(&config.simulator, &clock).await?;
    let stop = stop_signal()?;
    say(&Text::line(format!("listening on {}", simulator.url())))?;
    stop.await;
    simulator.shutdown().await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_understood() {
        for line in [
            "sightline",
            "sightline serve",
            "sightline login",
            "sightline login --as viewer",
            "sightline login --scope search:read",
            "sightline login --device",
            "sightline report northmoor --device",
            "sightline login --server https://search.example.org --client-id board",
            "sightline logout",
            "sightline logout --server https://search.example.org",
            "sightline sites --as owner --json",
            "sightline report northmoor --days 91 --compare previous_year --json",
            "sightline report northmoor --csv",
            "sightline openapi",
            "sightline check",
            "sightline health",
            "sightline migrate",
            "sightline settings",
            "sightline backup copy.db",
            "sightline restore copy.db",
            "sightline subscription list",
            "sightline subscription show --user ann@test.example",
            "sightline subscription set --user ann --plan agency",
            "sightline subscription set --user ann --plan pro --state past_due --until 2026-12-31",
            "sightline subscription set --user ann --plan pro --state cancelled --until 2026-12-31T12:00:00Z",
            "sightline client add --name Board --redirect-uri https://a.example/cb --redirect-uri http://127.0.0.1/cb",
            "sightline client add --name Board --redirect-uri https://a.example/cb --no-refresh",
            "sightline client list",
            "sightline client remove 019a",
            "sightline keys rotate",
            "sightline keys rotate --discard-old",
            "sightline secrets rotate",
            "sightline user add ann@test.example --name Ann",
            "sightline user list",
            "sightline user reset ann@test.example",
            "sightline user remove ann@test.example --yes",
        ] {
            assert!(Cli::try_parse_from(line.split(' ')).is_ok(), "{line}");
        }
        assert!(Cli::try_parse_from("sightline simulator --sites 10001".split(' ')).is_err());
        for wrong in ["--plan gold", "--plan pro --state lapsed", "--plan pro --until soon"] {
            let line = format!("sightline subscription set --user ann {wrong}");
            assert!(Cli::try_parse_from(line.split(' ')).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_simulators_options_stand_over_its_settings() {
        let line = "sightline simulator --listen 127.0.0.1:9 --seed 3 --sites 205 --today 2026-03-01 --latency-ms 5 \
                    --fail slow:0.5 --fail rate429:1";
        let Some(Command::Simulator(options)) = Cli::try_parse_from(line.split_whitespace()).unwrap().command else {
            panic!("not the simulator")
        };
        let mut settings = crate::config::Simulator::default();
        options.over(&mut settings);
        assert_eq!((settings.seed, settings.sites, settings.latency_ms, settings.listen.port()), (3, 205, 5, 9));
        let faults: Vec<String> = settings.fail.iter().map(ToString::to_string).collect();
        assert_eq!(faults, ["slow:0.5", "rate429:1"]);
        assert_eq!(settings.today.unwrap().to_string(), "2026-03-01");
    }
}
