//! The state that all endpoints share.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use chrono::{Datelike as _, NaiveDate, Timelike as _};
use chrono_tz::America::Los_Angeles;
use common::clock::Clock;
use poem::Request;
use poem::http::header;
use tokio::sync::Semaphore;

use super::accounts::{Account, Accounts};
use super::controls::Controls;
use super::error::ApiError;
use super::oauth::OAuth;
use super::providers::market::Market;
use super::search::Now;
use super::settings::{Conflicts, Settings};
use super::world::World;

/// Responses that are computed at the same time.
const PARALLEL_ANSWERS: usize = 2;

/// Data that the settings alone determine. All simulators of a process with the same settings share it, because it takes long to draw.
#[derive(Debug)]
pub(super) struct Drawn {
    pub world: World,
    seed: u64,
    market: OnceLock<Market>,
}

/// The seed, the month of today, and the number of more sites.
type Drawing = (u64, NaiveDate, u32);

static IN_USE: Mutex<Vec<(Drawing, Weak<Drawn>)>> = Mutex::new(Vec::new());

impl Drawn {
    fn of(seed: u64, today: NaiveDate, sites: u32) -> Arc<Self> {
        let drawing = (seed, today.with_day(1).unwrap_or(today), sites);
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        in_use.retain(|(_, drawn)| drawn.strong_count() > 0);
        let found = in_use.iter().find(|(of, _)| *of == drawing).and_then(|(_, drawn)| drawn.upgrade());
        found.unwrap_or_else(|| {
            let world = World::with_sites(seed, today, sites);
            let drawn = Arc::new(Self { world, seed, market: OnceLock::new() });
            in_use.push((drawing, Arc::downgrade(&drawn)));
            drawn
        })
    }

    /// The providers' data on keywords. Made at the first use, because it takes all queries of all sites.
    pub fn market(&self) -> &Market {
        self.market.get_or_init(|| Market::new(self.seed, &self.world))
    }
}

/// The state that all endpoints share.
#[derive(Debug)]
pub(super) struct Shared {
    pub drawn: Arc<Drawn>,
    pub accounts: Accounts,
    pub controls: Controls,
    pub oauth: OAuth,
    /// The chosen behaviour where sources disagree.
    pub conflicts: Conflicts,
    /// Permits to compute a response.
    pub turns: Arc<Semaphore>,
    clock: Clock,
    today: Option<NaiveDate>,
}

impl Shared {
    pub fn new(settings: &Settings, clock: Clock) -> Self {
        let today = settings.today.unwrap_or_else(|| clock.pacific_today());
        let drawn = Drawn::of(settings.seed, today, settings.sites);
        Self {
            accounts: Accounts::new(&drawn.world),
            drawn,
            controls: Controls::new(settings),
            oauth: OAuth::new(settings.seed, clock.clone()),
            clock,
            today: settings.today,
            conflicts: settings.conflicts,
            turns: Arc::new(Semaphore::new(PARALLEL_ANSWERS)),
        }
    }

    /// A fixed day is always at noon, so that responses do not depend on the hour.
    pub fn now(&self) -> Now {
        let local = self.clock.now().with_timezone(&Los_Angeles);
        let hour = u8::try_from(local.hour()).unwrap_or_default();
        self.today.map_or(Now { today: local.date_naive(), hour }, |today| Now { today, hour: 12 })
    }

    pub fn caller(&self, request: &Request) -> Result<Arc<Account>, ApiError> {
        let header = request.headers().get(header::AUTHORIZATION).ok_or_else(ApiError::login_required)?;
        let token = header.to_str().ok().and_then(bearer).ok_or_else(ApiError::invalid_credentials)?;
        let access = self.oauth.access(&self.accounts, token).ok_or_else(ApiError::invalid_credentials)?;
        if access.may_read_search_data() { Ok(access.account) } else { Err(ApiError::insufficient_scope()) }
    }
}

/// The token of an `Authorization: Bearer` header.
pub(super) fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}
