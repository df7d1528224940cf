//! The vocabulary that keyword research and backlinks share: the provider that answered, the time, the cost, the credit.

use poem_openapi::Object;

use super::{CreditUnit, Provider, ProviderBalance};
use crate::models::Timestamp;

/// The provider that answered, the time, the cost and the credit that is left.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct ProviderMeta {
    /// The provider.
    pub provider: Provider,
    /// The time at which the oldest part of the answer was read from the provider.
    pub cached_at: Timestamp,
    /// The provider's charge for this request. Zero if all parts were in the cache or on their way for another request.
    /// Absent if the provider did not say. A request that fails
    /// has no cost here although parts of it may have been charged; `balance` counts them.
    pub cost: Option<ProviderCost>,
    /// Remaining balance: the balance of the last test, less the charges here since. Absent if the provider reports none.
    pub balance: Option<ProviderBalance>,
    /// Parameters of the request that had no effect; absent without any.
    #[oai(validator(max_items = 30))]
    pub ignored: Option<Vec<String>>,
}

/// Cost of an answer.
#[derive(Debug, Clone, PartialEq, Object)]
pub struct ProviderCost {
    /// Amount, in `unit`.
    #[oai(validator(minimum(value = "0")))]
    pub amount: f64,
    /// Unit of the amount.
    pub unit: CreditUnit,
}
