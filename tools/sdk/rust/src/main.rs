//! Typed calls with the Rust client of openapi-generator; `BASE_URL` and `TOKEN` come from the environment.

use std::{env, error::Error};

use sightline_client::{
    apis::{
        self, Error as Failure,
        analytics_api::{
            ExportPropertyPerformanceCsvParams, GetPropertyPerformanceParams, GetPropertyPerformanceSuccess,
            ListPropertyCountriesParams, ListPropertyCountriesSuccess,
        },
        configuration::Configuration,
        properties_api::{ListPropertiesError, ListPropertiesParams, ListPropertiesSuccess},
    },
    models::{DateRange, FilterCondition, FilterDimension, FilterOperator, Role, SearchType, TrackedProperty},
};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn configuration(token: Option<String>) -> Outcome<Configuration> {
    Ok(Configuration { base_path: env::var("BASE_URL")?, bearer_access_token: token, ..Configuration::new() })
}

async fn find_property(signed_in: &Configuration) -> Outcome<TrackedProperty> {
    let params = ListPropertiesParams {
        days: Some(28),
        series: None,
        usual: None,
        headline: None,
        tag: None,
        favorite: None,
        role: None,
        search: None,
        hidden: None,
        sort: None,
        limit: None,
        offset: None,
        x_api_version: None,
        if_none_match: None,
    };
    let listed = apis::properties_api::list_properties(signed_in, params).await?;
    let Some(ListPropertiesSuccess::Status200(listed)) = listed.entity else { return Err(listed.content.into()) };
    let found = listed.data.into_iter().find(|one| one.site_url == "sc-domain:northmoor.example");
    let found = found.ok_or("the property is not listed")?;
    assert_eq!(found.role, Role::Owner);
    assert!(found.headline.as_ref().is_some_and(|headline| headline.current.clicks > 0), "{found:?}");
    Ok(found)
}

async fn read_performance(signed_in: &Configuration, id: &str, window: &DateRange) -> Outcome<()> {
    let mobile = FilterCondition::new(FilterDimension::Device, FilterOperator::Equals, "MOBILE".to_owned());
    let params = GetPropertyPerformanceParams {
        id: id.to_owned(),
        start_date: Some(window.start_date),
        end_date: Some(window.end_date),
        compare_start: None,
        compare_end: None,
        classification: None,
        search_type: Some(SearchType::Web.to_string()),
        filters: Some(serde_json::to_string(&[mobile])?),
        scope: Some("all".to_owned()),
        query_limit: Some(10),
        page_limit: None,
        explain: None,
        explain_limit: None,
        usual: None,
        include_system: None,
        data_state: None,
        compare: None,
        granularity: None,
        sort: None,
        metric_filters: None,
        query_offset: None,
        page_offset: None,
        x_api_version: None,
        if_none_match: None,
    };
    let answer = apis::analytics_api::get_property_performance(signed_in, params).await?;
    let Some(GetPropertyPerformanceSuccess::Status200(answer)) = answer.entity else {
        return Err(answer.content.into());
    };
    assert_eq!(*answer.meta.window, *window);
    let days = answer.data.series.ok_or("no series")?;
    let (clicks, totals): (i64, _) =
        (days.iter().map(|day| day.clicks).sum(), answer.data.totals.ok_or("no day is counted")?);
    assert!(clicks > 0 && totals.clicks == clicks, "{totals:?}");
    assert!(totals.ctr.is_some_and(|ctr| ctr > 0.0 && ctr <= 1.0), "{totals:?}");
    let tables = answer.data.tables.ok_or("no tables")?;
    assert_eq!(tables.queries.map(|rows| rows.len()), Some(10));
    Ok(())
}

async fn read_countries(signed_in: &Configuration, id: &str, window: &DateRange) -> Outcome<()> {
    let params = ListPropertyCountriesParams {
        id: id.to_owned(),
        start_date: Some(window.start_date),
        end_date: Some(window.end_date),
        compare_start: None,
        compare_end: None,
        classification: None,
        search_type: None,
        filters: None,
        limit: None,
        data_state: None,
        compare: None,
        sort: None,
        metric_filters: None,
        offset: None,
        x_api_version: None,
        if_none_match: None,
    };
    let answer = apis::analytics_api::list_property_countries(signed_in, params).await?;
    let Some(ListPropertyCountriesSuccess::Status200(answer)) = answer.entity else {
        return Err(answer.content.into());
    };
    let first = answer.data.first().ok_or("no country")?;
    assert!(first.key.len() == 3 && first.clicks > Some(0), "{first:?}");
    assert_eq!(answer.meta.coverage.countries.rows_shown, Some(i64::try_from(answer.data.len())?));
    Ok(())
}

async fn read_csv(signed_in: &Configuration, id: &str) -> Outcome<()> {
    let params = ExportPropertyPerformanceCsvParams {
        bom: None,
        id: id.to_owned(),
        start_date: None,
        end_date: None,
        compare_start: None,
        compare_end: None,
        classification: None,
        search_type: None,
        filters: None,
        table: Some("devices".to_owned()),
        query_limit: None,
        page_limit: None,
        data_state: None,
        compare: None,
        sort: None,
        metric_filters: None,
        query_offset: None,
        page_offset: None,
        x_api_version: None,
    };
    let text = apis::analytics_api::export_property_performance_csv(signed_in, params).await?.content;
    assert!(text.starts_with("key,clicks,impressions,ctr,position") && text.lines().count() > 1, "{text}");
    Ok(())
}

async fn be_refused() -> Outcome<()> {
    let params = ListPropertiesParams {
        days: None,
        series: None,
        usual: None,
        headline: None,
        tag: None,
        favorite: None,
        role: None,
        search: None,
        hidden: None,
        sort: None,
        limit: None,
        offset: None,
        x_api_version: None,
        if_none_match: None,
    };
    let refusal = match apis::properties_api::list_properties(&configuration(None)?, params).await {
        Err(Failure::ResponseError(refusal)) => refusal,
        other => return Err(format!("a call without a token gave {other:?}").into()),
    };
    assert_eq!(refusal.status.as_u16(), 401);
    // The client tells its variants by shape, and all errors have one shape: the status above says which it was.
    let Some(ListPropertiesError::Status400(error)) = refusal.entity else { return Err(refusal.content.into()) };
    assert_eq!(error.code.as_deref(), Some("unauthorized"));
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let signed_in = configuration(Some(env::var("TOKEN")?))?;
    let found = find_property(&signed_in).await?;
    let (id, window) = (found.id.to_string(), found.headline.ok_or("no headline")?.window);
    read_performance(&signed_in, &id, &window).await?;
    read_countries(&signed_in, &id, &window).await?;
    read_csv(&signed_in, &id).await?;
    be_refused().await
}
