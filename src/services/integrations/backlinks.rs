//! Backlinks of a property's site.

use api::integrations::{
    BacklinkList, BacklinkRow, BacklinkScope, BacklinkSummary, Backlinks, BacklinksAnswer, BacklinksParams,
    ReferringDomain, ReferringDomainList,
};
use seo::{Domain, Findings, Link, Page, Question, RowPage, Summary, Target};

use super::{Answers, Integrations};
use crate::{
    error::Error,
    services::{access::ReadableProperty, users::Member},
};

impl Integrations {
    /// Asks the person's provider about the links to a property's site.
    pub async fn backlinks(
        &self,
        member: &Member,
        access: &ReadableProperty,
        params: &BacklinksParams,
    ) -> Result<BacklinksAnswer, Error> {
        let target = Target::of_site(&access.property().site_url).ok_or_else(|| {
            Error::invalid("id: the property's site has no domain on the web, so there are no backlinks to it")
        })?;
        let opened = self.open(member, params.provider).await?;
        let now = self.search.clock.now();
        let page = Page {
            target: target.clone(),
            status: params.status,
            offset: params.offset.0 as usize,
            limit: params.limit.0 as usize,
        };
        let parts = [
            (BacklinkScope::Summary, Question::Summary { target: target.clone(), day: now.date_naive() }),
            (BacklinkScope::Links, Question::Links(page.clone())),
            (BacklinkScope::Domains, Question::Domains(page)),
        ];
        let wanted = parts.into_iter().filter(|(part, _)| params.scope.is_none_or(|scope| scope == *part));
        let answers = self.ask(&opened, wanted.map(|(_, question)| question).collect()).await?;
        let mut data = Backlinks {
            target: target.host,
            includes_subdomains: target.subdomains,
            rank_scale: self.paid_answers.provider(opened.provider).rank_scale(),
            summary: None,
            links: None,
            domains: None,
        };
        fill(&mut data, &answers, params.offset.0.into());
        Ok(BacklinksAnswer { meta: self.meta(member, &opened, &answers, (now, &params.ignored)).await?, data })
    }
}

/// Adds the rows from `offset` on.
fn fill(data: &mut Backlinks, answers: &Answers, offset: u64) {
    let more = |known: Option<u64>, rows: usize| known.map(|known| offset + (rows as u64) < known && rows > 0);
    for given in &answers.given {
        match &given.reading.found {
            Findings::Summary(found) => data.summary = Some(summary(found)),
            Findings::Links(RowPage { known, rows }) => {
                data.links = Some(BacklinkList {
                    rows_matched: *known,
                    has_more: more(*known, rows.len()),
                    rows: rows.iter().map(link).collect(),
                });
            }
            Findings::Domains(RowPage { known, rows }) => {
                data.domains = Some(ReferringDomainList {
                    rows_matched: *known,
                    has_more: more(*known, rows.len()),
                    rows: rows.iter().map(domain).collect(),
                });
            }
            Findings::Keywords(_) => {}
        }
    }
}

fn summary(found: &Summary) -> BacklinkSummary {
    BacklinkSummary { backlinks: found.backlinks, referring_domains: found.domains, rank: found.rank }
}

fn link(found: &Link) -> BacklinkRow {
    BacklinkRow {
        url_from: found.url_from.clone(),
        url_to: found.url_to.clone(),
        anchor: found.anchor.clone(),
        dofollow: found.dofollow,
        source_rank: found.source_rank,
        first_seen: found.first_seen,
        last_seen: found.last_seen,
        is_new: found.is_new,
        lost: found.lost,
    }
}

fn domain(found: &Domain) -> ReferringDomain {
    ReferringDomain {
        domain: found.domain.clone(),
        rank: found.rank,
        backlinks: found.backlinks,
        first_seen: found.first_seen,
        lost_at: found.lost_at,
    }
}
