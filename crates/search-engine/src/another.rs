//! Another account reads a site while its own is busy.
//!
//! The search engine gives everybody who may read a site the same rows, so a cached reading serves the property, whichever account made it. The property's own
//! account reads as long as it need not wait, and whenever another one cannot.

use tokio::time::Instant;

use super::{
    answer::QueryResponse,
    client::SearchEngine,
    error::SearchEngineError,
    pace::{Asker, Lane},
    refusal::RefusedSite,
    settings::Account,
    trouble::TroubleKind,
    wire::{QueryRequest, SiteUrl},
};

impl SearchEngine {
    /// All rows of a query up to `cap`, with the other parts of the last page. A site that was refused is not asked again for a while. While the
    /// account is busy, another one that may read the site takes its place.
    pub async fn query(
        &self,
        account: &Account,
        site: &SiteUrl,
        asker: Asker,
        request: &QueryRequest,
        cap: usize,
    ) -> Result<QueryResponse, SearchEngineError> {
        if let Some(RefusedSite { since, wait: Some(retry_after) }) = self.refused(account.id, site) {
            return Err(SearchEngineError::SiteRefused {
                since,
                retry_after,
                detail: "not asked again yet".to_owned(),
            });
        }
        if let Some(other) = self.instead_of(account, site, asker.lane).await {
            let begun = Instant::now();
            let answer = self.query_by(&other, site, asker, request, cap).await;
            let is_late = begun.elapsed() > self.settings.patience.deadline / 2;
            if !self.is_passed_over(&other, &answer, is_late).await {
                return answer;
            }
        }
        self.query_by(account, site, asker, request, cap).await
    }

    async fn query_by(
        &self,
        account: &Account,
        site: &SiteUrl,
        asker: Asker,
        request: &QueryRequest,
        cap: usize,
    ) -> Result<QueryResponse, SearchEngineError> {
        match self.pages(account, site, asker, request, cap).await {
            Err(SearchEngineError::PermissionLost(detail)) => {
                let RefusedSite { since, wait } = self.records.refuse(account.id, site);
                Err(SearchEngineError::SiteRefused { since, retry_after: wait.unwrap_or_default(), detail })
            }
            Ok(whole) => {
                self.records.allow(account.id, site);
                Ok(whole)
            }
            failed => failed,
        }
    }

    /// Returns the account that reads a site earlier than `account`, its own, if there is one. Others are looked up only while that is busy.
    async fn instead_of(&self, account: &Account, site: &SiteUrl, lane: Lane) -> Option<Account> {
        if lane == Lane::Ahead || !self.pacer.is_busy(account.id, lane) {
            return None;
        }
        let mut others = self.grants.others(account.id, site).await;
        others.retain(|other| self.is_usable(other, site));
        let ids: Vec<_> = [account].into_iter().chain(&others).map(|account| account.id).collect();
        let other = self.pacer.first_open(&ids, lane)?.checked_sub(1)?;
        Some(others.swap_remove(other))
    }

    /// Returns whether nothing is known that speaks against reading a site by an account.
    fn is_usable(&self, account: &Account, site: &SiteUrl) -> bool {
        let is_refused = self.refused(account.id, site).is_some_and(|refused| refused.wait.is_some());
        let has_quota = self.trouble(account.id).is_none_or(|trouble| trouble.kind != TroubleKind::Quota);
        !is_refused && has_quota
    }

    /// Counts what came of a request by another account. Returns whether the site's own account has to make it, because the answer is about
    /// the other one. With `is_late`, people have waited too long to wait for a used-up quota a second time.
    async fn is_passed_over(
        &self,
        other: &Account,
        answer: &Result<QueryResponse, SearchEngineError>,
        is_late: bool,
    ) -> bool {
        let Err(error) = answer else {
            self.meter().note_other("ok");
            return false;
        };
        let is_passed_over = match error {
            SearchEngineError::Disconnected(_) | SearchEngineError::ScopeMissing(_) => {
                self.grants.refused(other, error).await;
                true
            }
            SearchEngineError::SiteRefused { .. } => true,
            SearchEngineError::Unavailable { quota: true, .. } => !is_late,
            _ => false,
        };
        tracing::info!(account = %other.id, %error, is_passed_over, "another account could not read a site");
        self.meter().note_other(if is_passed_over { "passed_over" } else { "failed" });
        is_passed_over
    }
}
