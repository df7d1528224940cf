//! Provider B's account endpoint: the subscription and the units used.

use chrono::{Datelike as _, Months};
use serde_json::{Value, json};

use crate::providers::accounts::{Account, Standing};
use crate::state::Shared;

/// Units of an exhausted workspace.
const EXHAUSTED: u64 = 100_000;

/// The units of the workspace, and the used ones. The key of the account has no limit of its own.
pub(super) fn limits_and_usage(shared: &Shared, account: &Account) -> Value {
    let today = shared.now().today;
    let first = today.with_day(1).unwrap_or(today);
    let reset = first.checked_add_months(Months::new(1)).unwrap_or(first);
    let expires = first.checked_add_months(Months::new(9)).unwrap_or(first);
    let spent = shared.controls.spent(account.name);
    let (limit, used) = match account.standing {
        Standing::Broke => (EXHAUSTED, EXHAUSTED),
        _ => (account.credit, spent),
    };
    json!({
        "limits_and_usage": {
            "subscription": "Advanced",
            "usage_reset_date": reset.to_string(),
            "units_limit_workspace": limit,
            "units_usage_workspace": used,
            "units_limit_api_key": null,
            "units_usage_api_key": used,
            "api_key_expiration_date": format!("{expires}T00:00:00Z"),
        }
    })
}
