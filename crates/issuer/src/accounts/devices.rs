//! Browsers that the holder of an account has signed in with. A sealed cookie names the browser and its accounts, so that nothing
//! is stored here.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::TimeDelta;
use entity::account;
use http::HeaderMap;
use identity::credentials::{cookies, host_cookie};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::IdentityProvider;

const COOKIE: &str = "sightline_device";
/// Time for which a browser stays known after its last sign-in.
pub(crate) const LIFETIME: TimeDelta = TimeDelta::days(180);
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
    pub(crate) fn device_cookie(&self) -> String {
        host_cookie(COOKIE, self.issuer())
    }

    /// Returns the id of the browser, if the holder of `account` has signed in with it since the password was set.
    pub(crate) fn known_device(&self, headers: &HeaderMap, account: &account::Model) -> Option<Uuid> {
        let device = self.device(headers)?;
        device.accounts.contains(&entry(account)).then_some(device.id)
    }

    /// The cookie's value after a sign-in of the holder of `account`.
    pub(crate) fn device_knowing(&self, headers: &HeaderMap, account: &account::Model) -> String {
        let fresh = || Device { id: self.random.id(self.clock.now()), accounts: Vec::new() };
        let mut device = self.device(headers).unwrap_or_else(fresh);
        device.accounts.retain(|(id, _)| *id != account.id);
        device.accounts.insert(0, entry(account));
        device.accounts.truncate(MOST_ACCOUNTS);
        let plain = serde_json::to_vec(&device).unwrap_or_default();
        URL_SAFE_NO_PAD.encode(self.secrets.seal(&plain, COOKIE))
    }

    fn device(&self, headers: &HeaderMap) -> Option<Device> {
        let name = self.device_cookie();
        let sealed = URL_SAFE_NO_PAD.decode(cookies(headers, &name).next()?).ok()?;
        serde_json::from_slice(&self.secrets.open(&sealed, COOKIE).ok()?).ok()
    }
}

fn entry(account: &account::Model) -> (Uuid, i64) {
    (account.id, account.password_changed_at.timestamp_millis())
}
