//! The catalogue of plans, and what a person has and uses of them.

use api::billing::{
    BillingInterval, BillingPeriod, BillingSummary, Plan, PlanRateLimit, Price, RequestUsage, SubscriptionStatus,
    Usage, UsageCount,
};
use chrono::{DateTime, Utc};
use common::{base_url::BaseUrl, rate_limit::LimitState};
use entity::user;
use sea_orm::{ConnectionTrait, Statement};

use super::{
    sharing::MAX_LINKS,
    team::MAX_GRANTS,
    users::{Member, plans},
};
use crate::{
    config::{self, Config, PlanTerms},
    error::Error,
};

/// Counts a person's things, in one statement. A link to a property that is not tracked opens nothing.
const USED: &str = "SELECT (SELECT count(*) FROM property p WHERE p.user_id = $1 AND p.tracked) AS tracked, \
     (SELECT count(*) FROM team_grant g WHERE g.owner_id = $1) AS grants, \
     (SELECT count(*) FROM share_link k JOIN property p ON p.id = k.property_id WHERE p.user_id = $1 AND p.tracked \
      AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $2)) AS links";

/// Returns the plans for sale, smallest first. Nothing is for sale without billing.
#[must_use]
pub fn catalogue(config: &Config) -> Vec<Plan> {
    if !config.billing.enabled {
        return Vec::new();
    }
    plans::catalogue(config).map(|(plan, terms)| offer(config, plan, terms)).into()
}

/// Returns the subscription of a person and the use of its limits. `requests` is the state of the person's rate limit.
pub async fn summary(
    db: &impl ConnectionTrait,
    config: &Config,
    base_url: &BaseUrl,
    member: &Member,
    requests: Option<LimitState>,
    now: DateTime<Utc>,
) -> Result<BillingSummary, Error> {
    let (user, entitlement) = (&member.user, &member.entitlement);
    let status = entitlement.status;
    let terms = plans::terms(config, entitlement.plan).filter(|_| status != SubscriptionStatus::NotRequired);
    Ok(BillingSummary {
        status,
        plan: terms.map(|terms| offer(config, entitlement.plan, terms)),
        period: terms.and_then(|_| period(user, status)),
        access_ends_at: entitlement.ends_at.map(Into::into),
        features: entitlement.usable(),
        usage: usage(db, member, requests, now).await?,
        trial_ends_at: user.trial_ends_at.filter(|_| status == SubscriptionStatus::Trialing).map(Into::into),
        subscribe_url: config.subscribe_url(base_url),
    })
}

fn period(user: &user::Model, status: SubscriptionStatus) -> Option<BillingPeriod> {
    let is_trial = status == SubscriptionStatus::Trialing;
    let ends_at = if is_trial { user.trial_ends_at } else { user.period_ends_at };
    let starts_at = user.period_starts_at;
    (starts_at.is_some() || ends_at.is_some())
        .then_some(BillingPeriod { starts_at: starts_at.map(Into::into), ends_at: ends_at.map(Into::into) })
}

async fn usage(
    db: &impl ConnectionTrait,
    member: &Member,
    requests: Option<LimitState>,
    now: DateTime<Utc>,
) -> Result<Usage, Error> {
    let entitlement = &member.entitlement;
    let ask = Statement::from_sql_and_values(db.get_database_backend(), USED, [member.user.id.into(), now.into()]);
    let row = db.query_one_raw(ask).await?.ok_or_else(|| Error::internal("a count has no row"))?;
    let used = |name: &str| row.try_get::<i64>("", name).map(|count| u64::try_from(count).unwrap_or_default());
    let tracked = entitlement.tracked_properties.map(u64::from);
    let included = entitlement.usable();
    let limit = |max: u64, included: bool| Some(if included { max } else { 0 });
    let properties = used("tracked")?;
    let most_links = MAX_LINKS.max.saturating_mul(properties);
    Ok(Usage {
        tracked_properties: UsageCount { used: properties, limit: tracked },
        team_grants: UsageCount { used: used("grants")?, limit: limit(MAX_GRANTS.max, included.team) },
        share_links: UsageCount { used: used("links")?, limit: limit(most_links, included.share_links) },
        requests: requests.and_then(requests_used),
    })
}

fn requests_used(standing: LimitState) -> Option<RequestUsage> {
    Some(RequestUsage {
        used: standing.limit.saturating_sub(standing.remaining).into(),
        limit: standing.limit.into(),
        resets_at: DateTime::from_timestamp(standing.reset, 0)?.into(),
    })
}

fn offer(config: &Config, plan: user::Plan, terms: &PlanTerms) -> Plan {
    let (per_minute, burst) = plans::rate(config, Some(terms));
    Plan {
        key: plan.name().to_owned(),
        name: terms.name.clone(),
        prices: terms.prices.iter().map(price).collect(),
        tracked_properties: terms.tracked_properties.into(),
        features: plans::built(plans::features(terms)),
        rate_limit: PlanRateLimit { per_minute: per_minute.into(), burst: burst.into() },
    }
}

fn price(price: &config::Price) -> Price {
    Price {
        amount_minor: price.amount_minor,
        currency: price.currency.clone(),
        interval: match price.interval {
            config::Interval::Month => BillingInterval::Month,
            config::Interval::Year => BillingInterval::Year,
        },
    }
}
