//! Provider A's account endpoint: balance, limits, statistics and prices.

use serde_json::{Map, Value, json};

use super::rate;
use crate::controls::Endpoint;
use crate::providers::accounts::Account;
use crate::providers::calls::ProviderA;
use crate::providers::values::dollars;
use crate::state::Shared;

/// The account as the vendor describes it.
pub(super) fn account(shared: &Shared, account: &Account) -> Value {
    let spent = shared.controls.spent(account.name);
    let now = shared.now();
    let minute = format!("{} {:02}:00", now.today, now.hour);
    let served = |call| shared.controls.requests(Endpoint::ProviderA(call));
    let requests: u64 = ProviderA::ALL.into_iter().map(served).sum();
    let day = now.today.to_string();
    json!({
        "login": account.name,
        "timezone": "America/Los_Angeles",
        "rates": {
            "limits": { "day": { "total": 0 }, "minute": { "total": 10_000, "total_appendix": 6 } },
            "statistics": {
                "day": { "value": day, "total": requests },
                "minute": { "value": minute, "total": requests },
            },
        },
        "money": {
            "total": dollars(account.credit),
            "balance": dollars(account.credit.saturating_sub(spent)),
            "limits": { "day": { "total": 0 }, "minute": { "total": 0 } },
            "statistics": {
                "day": { "value": day, "total": dollars(spent) },
                "minute": { "value": minute, "total": dollars(spent) },
            },
        },
        "price": prices(),
        "backlinks_subscription_expiry_date": null,
        "llm_mentions_subscription_expiry_date": null,
    })
}

/// The price of each live endpoint, below the steps of its path.
fn prices() -> Value {
    let mut tree = Map::new();
    for call in ProviderA::ALL.into_iter().filter(|call| *call != ProviderA::UserData) {
        let (request, row) = rate(call);
        let cost = json!([
            { "cost_type": "per_request", "cost": dollars(request) },
            { "cost_type": "per_result", "cost": dollars(row) },
        ]);
        let leaf = json!({ "live": { "priority_low": [], "priority_normal": cost, "priority_high": cost } });
        let steps: Vec<&str> = call.path().split('/').filter(|step| !["v3", "live", "google"].contains(step)).collect();
        let Some((last, before)) = steps.split_last() else { continue };
        let mut place = &mut tree;
        for step in before {
            let below = place.entry(*step).or_insert_with(|| json!({}));
            let Value::Object(below) = below else { return Value::Null };
            place = below;
        }
        place.insert((*last).to_owned(), leaf);
    }
    Value::Object(tree)
}
