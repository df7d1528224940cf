//! Tests of the rights of pages and tools, as the table of operations declares them.
//!
//! A page and a tool ask operations. Each operation declares the role, the scope and the part of a plan that it needs. A [`World`] says who
//! has which. So the outcome for each caller is computed, and no case is written down.

mod asked;
mod pages;
mod resources;
pub mod tools;
mod world;

use api::operation::{self as table, Operation};
use sightline::config::PlanTerms;

use self::world::{World, everything};

/// The row of the table of operations.
fn operation(id: &str) -> &'static Operation {
    table::all().iter().find(|operation| operation.id == id).unwrap_or_else(|| panic!("{id}"))
}

/// Opens every page, link, tool and resource of the site under a plan.
async fn check(terms: Option<PlanTerms>) {
    let world = World::under(terms).await;
    pages::check(&world, &world.own()).await;
    pages::check_links(&world).await;
    tools::check(&world, &world.own()).await;
    resources::check(&world, &world.own()).await;
}

#[tokio::test]
async fn pages_show_each_site_to_its_people_and_nothing_of_it_to_others() {
    let world = World::under(Some(everything())).await;
    pages::check(&world, &world.all()).await;
    pages::check_malformed(&world).await;
    pages::check_links(&world).await;
}

#[tokio::test]
async fn tools_answer_about_each_site_to_its_people_within_their_scopes() {
    let world = World::under(Some(everything())).await;
    tools::check(&world, &world.all()).await;
    tools::check_names(&world).await;
    tools::check_scopes(&world).await;
    resources::check(&world, &world.all()).await;
}

#[tokio::test]
async fn a_plan_without_features_opens_the_pages_alone() {
    let none = PlanTerms { share_links: false, tool_endpoint: false, seo_providers: false, ..everything() };
    check(Some(none)).await;
}

#[tokio::test]
async fn a_plan_without_a_team_opens_the_pages_and_tools_to_the_owner_and_links_to_readers() {
    check(Some(PlanTerms { team: false, ..everything() })).await;
}

#[tokio::test]
async fn a_site_beyond_the_number_of_the_plan_is_locked_everywhere() {
    check(Some(PlanTerms { tracked_properties: 1, ..everything() })).await;
}

#[tokio::test]
async fn a_site_without_a_plan_is_locked_everywhere() {
    check(None).await;
}
