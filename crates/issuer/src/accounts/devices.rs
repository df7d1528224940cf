//! Browsers that the holder of an account has signed in with. A sealed cookie names the browser and its accounts, so that nothing
//! is stored here.

use chrono::TimeDelta;
use entity::account;
use http::HeaderMap;
use identity::cookie::SealedCookie;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::IdentityProvider;

const COOKIE: &str = "sightline_device";
/// Time for which a browser stays known after its last sign-in.
const LIFETIME: TimeDelta = TimeDelta::days(180);
/// The accounts that a browser stays known for, the latest ones.
const MOST_ACCOUNTS: usize = 5;

/// The content of the cookie.
#[derive(Clone, Serialize, Deserialize)]
struct Device {
    id: Uuid,
    /// The accounts, each with the time of its password. A browser of someone who knew an older password is not known.
    accounts: Vec<(Uuid, i64)>,
}

impl IdentityProvider {
    pub(crate) fn device_cookie(&self) -> SealedCookie {
        SealedCookie::new(COOKIE, LIFETIME, &self.secrets, self.base_url())
    }

    /// Returns the id of the browser, if the holder of `account` has signed in with it since the password was set.
    pub(crate) fn known_device(&self, headers: &HeaderMap, account: &account::Model) -> Option<Uuid> {
        let device: Device = self.device_cookie().open(headers)?;
        device.accounts.contains(&entry(account)).then_some(device.id)
    }

    /// The cookie's value after a sign-in of the holder of `account`.
    pub(crate) fn device_knowing(&self, headers: &HeaderMap, account: &account::Model) -> String {
        let fresh = || Device { id: self.random.id(self.clock.now()), accounts: Vec::new() };
        let cookie = self.device_cookie();
        let mut device = cookie.open(headers).unwrap_or_else(fresh);
        device.accounts.retain(|(id, _)| *id != account.id);
        device.accounts.insert(0, entry(account));
        device.accounts.truncate(MOST_ACCOUNTS);
        cookie.sealed(&device).unwrap_or_default()
    }
}

fn entry(account: &account::Model) -> (Uuid, i64) {
    (account.id, account.password_changed_at.timestamp_millis())
}
