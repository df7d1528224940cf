//! Tags whose operations are declared but not implemented. Each answers 501 `not_implemented`. README lists them.

use api::{billing::BillingApi, integrations::IntegrationsApi, privacy::PrivacyApi};

use super::App;

impl BillingApi for App {}
impl IntegrationsApi for App {}
impl PrivacyApi for App {}
