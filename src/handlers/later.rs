//! Tags whose operations are declared and not built: each answers 501 `not_implemented`. README lists them.

use api::{
    annotations::AnnotationsApi, billing::BillingApi, classifications::ClassificationsApi, filters::FiltersApi,
    integrations::IntegrationsApi, privacy::PrivacyApi, sharing::SharingApi, tags::TagsApi, team::TeamApi,
};

use super::App;

impl AnnotationsApi for App {}
impl BillingApi for App {}
impl ClassificationsApi for App {}
impl FiltersApi for App {}
impl IntegrationsApi for App {}
impl PrivacyApi for App {}
impl SharingApi for App {}
impl TagsApi for App {}
impl TeamApi for App {}
