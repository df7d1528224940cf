//! Tests of the dashboard: its pages show what the operations answer, to those who may see it.

mod analyses;
mod hostile;
mod kinds;
mod names;
mod notes;
mod settings;
mod sites;
mod states;
mod unsent;
mod years;

use poem::http::Method;
use serde_json::Value;
use simulator::Endpoint;

use crate::support::{
    app::{TestApp, shared},
    signed_in::{Browser, Page},
};

/// A number with a comma between groups of three digits.
pub fn grouped(number: &Value) -> String {
    let digits = format!("{:.0}", number.as_f64().unwrap().abs());
    let mut groups: Vec<&str> = digits.as_bytes().rchunks(3).map(|group| str::from_utf8(group).unwrap()).collect();
    groups.reverse();
    groups.join(",")
}

/// Returns the JSON of an operation for the browser's person.
async fn json(browser: &Browser, path: &str) -> Value {
    let answer = browser.send(Method::GET, path, &[], &[]).await;
    assert_eq!(answer.status.as_u16(), 200, "{path}: {}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

/// Returns the path of the pages of a property.
async fn path(browser: &Browser, name: &str) -> String {
    let list = json(browser, "/api/properties?headline=false").await;
    let found = list["data"].as_array().unwrap().iter().find(|site| site["name"].as_str().unwrap().contains(name));
    format!("/p/{}", found.unwrap()["id"].as_str().unwrap())
}

/// Fails unless the page holds every text.
#[track_caller]
fn holds(page: &Page, texts: &[String]) {
    for text in texts {
        assert!(page.body.contains(text), "{text}: {}", page.body);
    }
}

/// Fails if the page holds one of the texts.
#[track_caller]
pub fn holds_none(page: &Page, texts: &[&str]) {
    for text in texts {
        assert!(!page.body.contains(text), "{text}: {}", page.body);
    }
}

/// The value of a hidden field of the first form of the page that does `action`.
fn hidden(page: &Page, action: &str, field: &str) -> String {
    let (_, form) = page.body.split_once(&format!("name=\"do\" value=\"{action}\"")).unwrap();
    let (_, value) = form.split_once(&format!("name=\"{field}\" value=\"")).unwrap();
    value.split_once('"').unwrap().0.replace("&quot;", "\"")
}

#[tokio::test]
async fn the_overview_shows_what_the_operation_answers() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let at = path(&browser, "northmoor").await;
    for (of_page, of_api) in [
        ("", "compare=previous_period"),
        ("?compare=none&metric=position", ""),
        ("?classification=branded&searchType=image", "compare=previous_period&classification=branded&searchType=image"),
        (
            "?startDate=2026-10-01&endDate=2026-10-14&tab=pages",
            "compare=previous_period&startDate=2026-10-01&endDate=2026-10-14",
        ),
    ] {
        let page = browser.get(&format!("{at}{of_page}")).await.expect(200);
        let path = format!("/api/properties/{}/performance", &at[3..]);
        let answer = json(&browser, &format!("{path}?scope=all&queryLimit=10&pageLimit=10&{of_api}")).await;
        let data = &answer["data"];
        let total = |metric: &str| format!("<strong>{}</strong>", grouped(&data["totals"][metric]));
        holds(&page, &[total("clicks"), total("impressions")]);
        for day in data["series"].as_array().unwrap() {
            holds(
                &page,
                &[
                    format!("<td>{}</td>", grouped(&day["clicks"])),
                    format!("<td>{}</td>", grouped(&day["impressions"])),
                ],
            );
        }
        let first = if of_page.contains("tab=pages") { "pages" } else { "queries" };
        let rows = data["tables"][first].as_array().unwrap();
        assert!(!rows.is_empty());
        for row in rows.iter().filter(|row| !row["clicks"].is_null()) {
            let title = maud::html! { (row["key"].as_str().unwrap()) }.into_string();
            holds(&page, &[format!("title=\"{title}\""), format!("<td>{}</td>", grouped(&row["clicks"]))]);
        }
        for table in ["countries", "devices"] {
            let first = &data["tables"][table][0];
            holds(&page, &[format!("<td>{}</td>", grouped(&first["clicks"]))]);
        }
        assert_eq!(page.body.contains("Why "), of_api.contains("compare"), "{of_page}");
    }
}

/// The upstream requests of a page of a site whose recent days are known, as they are from the page of all sites. A page of a site that nobody
/// has looked at takes one more.
#[tokio::test]
async fn a_page_costs_few_upstream_requests() {
    for (page, most) in [
        ("", 13),
        ("/where/country=usa", 16),
        ("?compare=none", 7),
        ("/queries", 9),
        ("/pages", 9),
        ("/countries", 11),
        ("/insights", 16),
        ("/growth", 3),
    ] {
        let app = TestApp::start(|_| {}).await;
        let browser = Browser::signed_in(&app, "owner").await;
        while json(&browser, "/api/properties").await["meta"]["progress"]["stillReading"] != 0 {}
        let at = path(&browser, "northmoor").await;
        let made = || app.simulator().controls().requests(Endpoint::Query);
        let before = made();
        browser.get(&format!("{at}{page}")).await.expect(200);
        let made = made() - before;
        assert!(made <= most, "{page}: {made} requests");
    }
}

/// The number of rows as a page of a table says it.
fn counted(table: &str, answer: &Value, of_page: &str) -> String {
    let coverage = &answer["meta"]["coverage"][table];
    let matched = grouped(&coverage["rowsMatched"]);
    let all = if coverage["totalRowsCapped"] == true { format!(" of at least {matched}") } else { matched };
    let narrows = ["rows=", "least=", "find="].iter().any(|name| of_page.contains(name));
    let of = match answer["meta"].get("compareWindow") {
        _ if narrows => " by these conditions",
        Some(_) => " of both periods",
        None => "",
    };
    format!("{all} {table}{of}. ")
}

#[tokio::test]
async fn the_whole_table_is_sorted_narrowed_and_turned_over() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let at = path(&browser, "northmoor").await;
    let performance = format!("/api/properties/{}/performance?scope=tables", &at[3..]);
    for (table, of_page, of_api) in [
        ("queries", "?compare=none", "queryLimit=50"),
        ("countries", "?compare=none&least=10", "metricFilters=countries.impressions>=10"),
        ("queries", "?compare=none&offset=50", "queryLimit=50&queryOffset=50"),
        (
            "queries",
            "?rows=shrinking",
            "queryLimit=50&compare=previous_period&sort=change.clicks&metricFilters=queries.change.clicks<0",
        ),
        (
            "pages",
            "?rows=growing&sort=-impressions",
            "pageLimit=50&compare=previous_period&sort=-impressions&metricFilters=pages.change.clicks>0",
        ),
        (
            "countries",
            "?rows=new&least=1&classification=branded",
            "compare=previous_period&sort=-clicks&metricFilters=countries.presence=new,countries.impressions>=1&classification=branded",
        ),
        (
            "pages",
            "?compare=none&sort=-impressions&least=100",
            "pageLimit=50&sort=-impressions&metricFilters=impressions>=100",
        ),
    ] {
        let page = browser.get(&format!("{at}/{table}{of_page}")).await.expect(200);
        let answer = json(&browser, &format!("{performance}&{of_api}")).await;
        let rows = answer["data"]["tables"][table].as_array().unwrap();
        if !rows.is_empty() {
            holds(&page, &[counted(table, &answer, of_page)]);
        }
        let titles = page.between("title=\"", "\"");
        let keys: Vec<String> =
            rows.iter().map(|row| maud::html! { (row["key"].as_str().unwrap()) }.into_string()).collect();
        let shown: Vec<&str> = titles.into_iter().filter(|title| keys.iter().any(|key| key == title)).collect();
        assert_eq!(shown, keys, "{table}{of_page}");
        let link = page
            .between("href=\"", "\"")
            .into_iter()
            .find(|link| link.contains("/export?"))
            .unwrap()
            .replace("&amp;", "&");
        let csv = browser.send(Method::GET, &link, &[], &[]).await;
        assert_eq!(csv.status.as_u16(), 200, "{link}");
        let mut file = csv::Reader::from_reader(csv.body.trim_start_matches('\u{feff}').as_bytes());
        let first: Vec<String> = file.records().map(|row| row.unwrap()[0].to_owned()).collect();
        assert!(first.len() >= rows.len(), "{link}");
        if !of_page.contains("offset") {
            let plain = |row: &Value| row["key"].as_str().unwrap().to_owned();
            assert_eq!(first[..rows.len()], rows.iter().map(plain).collect::<Vec<_>>(), "{link}");
        }
    }
}

#[tokio::test]
async fn a_row_leads_to_the_overview_that_it_filters() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let at = path(&browser, "northmoor").await;
    let page = browser.get(&at).await.expect(200);
    let link =
        page.between("href=\"", "\"").into_iter().find(|link| link.contains("country=")).unwrap().replace("&amp;", "&");
    assert!(link.starts_with(&format!("{at}/where/country=")), "{link}");
    let narrowed = browser.get(&link).await.expect(200);
    assert!(narrowed.body.contains("class=\"chip\""), "{}", narrowed.body);
    assert_ne!(narrowed.between("<strong>", "</strong>"), page.between("<strong>", "</strong>"));
    let table = browser.get(&format!("{at}/queries?sort=-impressions&least=10&find=a")).await.expect(200);
    let row = table
        .between("href=\"", "\"")
        .into_iter()
        .find(|link| link.contains("/where/query="))
        .unwrap()
        .replace("&amp;", "&");
    assert!(row.starts_with(&format!("{at}/where/query=")) && row.ends_with("/overview"), "{row}");
    browser.get(&row).await.expect(200);
}

#[tokio::test]
async fn the_heading_of_the_sorted_column_turns_its_order() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let at = path(&browser, "northmoor").await;
    for (sort, direction, turned) in [
        ("-impressions", "descending", "sort=impressions"),
        ("impressions", "ascending", "sort=-impressions"),
        ("position", "ascending", "sort=-position"),
        ("-position", "descending", "sort=position"),
    ] {
        let page = browser.get(&format!("{at}/queries?sort={sort}")).await.expect(200);
        let sorted = page.between("aria-sort=\"", "</th>");
        assert_eq!(sorted.len(), 1, "{sort}: {sorted:?}");
        assert!(sorted[0].starts_with(direction) && sorted[0].contains(turned), "{sort}: {sorted:?}");
    }
}

#[tokio::test]
async fn the_heading_of_the_order_without_a_parameter_is_marked_and_turns_it_at_once() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let at = path(&browser, "northmoor").await;
    for (page, direction, link, column) in [
        ("queries", "descending", "?sort=clicks", "Clicks"),
        ("pages?compare=none", "descending", "?compare=none&amp;sort=clicks", "Clicks"),
        ("countries?least=1&offset=0", "descending", "?least=1&amp;sort=clicks", "Clicks"),
        ("queries?rows=growing", "descending", "?rows=growing&amp;sort=change.clicks", "Change"),
        ("queries?rows=shrinking", "ascending", "?rows=shrinking&amp;sort=-change.clicks", "Change"),
        ("queries?sort=clicks", "ascending", "?", "Clicks"),
        ("queries?sort=-clicks", "descending", "?sort=clicks", "Clicks"),
    ] {
        let shown = browser.get(&format!("{at}/{page}")).await.expect(200);
        let sorted = shown.between("aria-sort=\"", "</th>");
        assert_eq!(sorted.len(), 1, "{page}: {sorted:?}");
        let start = format!("{direction}\"><a href=\"{link}\">{column}</a>");
        assert!(sorted[0].starts_with(&start), "{page}: {sorted:?}");
    }
    let clicks = async |query: &str| {
        let page = browser.get(&format!("{at}/countries?compare=none{query}")).await.expect(200);
        let rows = page.body.split("<tbody>").last().unwrap().split("</tr>").filter(|row| row.contains("<td>"));
        let number = |row: &str| row.split("<td>").nth(1).unwrap().split('<').next().unwrap().replace(',', "");
        rows.map(|row| number(row).parse::<u64>().unwrap()).collect::<Vec<_>>()
    };
    let (first, mut turned) = (clicks("").await, clicks("&sort=clicks").await);
    turned.reverse();
    assert!(first.len() > 2 && first[0] > first[first.len() - 1], "{first:?}");
    assert_eq!(first, turned, "one click turns the order");
}

/// However many links a page has, it holds its conditions a few times: its links are relative to its own address.
#[tokio::test]
async fn a_page_carries_its_question_once() {
    let app = TestApp::start(|_| {}).await;
    let (browser, owner) = (Browser::signed_in(&app, "owner").await, app.actor("owner").await);
    let at = path(&browser, "northmoor").await;
    let made =
        owner.post(&format!("/api/properties/{}/share-links", &at[3..]), &serde_json::json!({})).await.expect(201);
    let shared_at = format!("/share/{}", made.json["data"]["token"].as_str().unwrap());
    let needle = "zyx".repeat(150);
    let condition = |number| serde_json::json!({ "dimension": "page", "operator": "not_contains", "value": format!("{needle}{number}") });
    let filters = serde_json::Value::from((0..8).map(condition).collect::<Vec<_>>()).to_string();
    let filters: String = url::form_urlencoded::byte_serialize(filters.as_bytes()).collect();
    for page in [at.clone(), format!("{at}/queries"), format!("{at}/pages"), format!("{at}/growth"), shared_at] {
        let plain = browser.get(&page).await.expect(200).body.len();
        let narrowed = browser.follow(&format!("{page}?filters={filters}")).await.expect(200);
        assert!(narrowed.body.contains(&needle) && narrowed.body.contains("class=\"chip\""), "{page}");
        let (times, longer) = (narrowed.body.matches(&needle).count() / 8, narrowed.body.len().saturating_sub(plain));
        assert!(times <= 12 && longer < 60_000, "{page}: {times} times, {longer} bytes longer");
    }
    let many = serde_json::Value::from((0..9).map(condition).collect::<Vec<_>>()).to_string();
    let many: String = url::form_urlencoded::byte_serialize(many.as_bytes()).collect();
    let refused = browser.get(&format!("{at}?filters={many}")).await.expect(400);
    assert!(refused.body.contains("filters: a page takes at most 4096 bytes of conditions"), "{}", refused.body);
}

#[tokio::test]
async fn the_sentence_for_an_assistant_has_the_whole_question() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let at = path(&browser, "northmoor").await;
    for (question, words) in [
        ("?compare=none", " to 2026-11-18. Explain the change"),
        ("/where/country=usa/overview", ", where the country is exactly <bdi class=\"quoted\">usa</bdi>. Explain"),
        (
            "?searchType=image&classification=nonBranded",
            ", search type Images, only <bdi>Not brand</bdi> (classification <code>nonBranded</code>). Explain",
        ),
    ] {
        let page = browser.get(&format!("{at}{question}")).await.expect(200);
        let (_, sentence) = page.body.split_once("Show me the search performance of ").unwrap();
        let (sentence, _) = sentence.split_once("</p>").unwrap();
        assert!(sentence.contains(words), "{question}: {sentence}");
    }
}

#[tokio::test]
async fn the_traffic_is_split_by_brand_segments_and_topic_clusters() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let at = path(&browser, "northmoor").await;
    let page = browser.get(&at).await.expect(200);
    let (_, nav) = page.body.split_once("aria-label=\"Part of the traffic\"").unwrap();
    let (nav, _) = nav.split_once("</nav>").unwrap();
    for (kind, list) in [("segment", "segments"), ("topicCluster", "topic-clusters")] {
        let records = json(&browser, &format!("/api/properties/{}/{list}", &at[3..])).await;
        let record = &records["data"][0];
        let (id, name) = (record["id"].as_str().unwrap(), record["name"].as_str().unwrap());
        assert!(nav.contains(&format!("?classification={kind}%3A{id}")), "{nav}");
        assert!(nav.contains(&format!("<bdi>{name}</bdi>")), "{nav}");
    }
    assert!(nav.contains("?classification=nonBranded"), "{nav}");
}

#[tokio::test]
async fn filters_are_saved_used_and_deleted() {
    let app = TestApp::start(|_| {}).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let at = path(&browser, "northmoor").await;
    let filters = r#"[{"dimension":"country","operator":"equals","value":"usa"}]"#;
    let query: String = url::form_urlencoded::byte_serialize(filters.as_bytes()).collect();
    let page = browser.follow(&format!("{at}/queries?filters={query}")).await.expect(200);
    assert!(page.body.contains("Save these filters as"), "{}", page.body);
    let form = [("do", "save_filters"), ("key", "k"), ("filters", filters), ("name", "Only <us>")];
    for _ in 0..2 {
        let sent = browser.post(&format!("{at}/where/country=usa/queries"), &form).await;
        sent.leads_to(&format!("{at}/where/country=usa/queries?done=saved"));
    }
    let saved = json(&browser, "/api/filter-presets").await;
    assert_eq!(saved["data"].as_array().unwrap().len(), 1, "{saved}");
    let page = browser.get(&at).await.expect(200);
    let id = saved["data"][0]["id"].as_str().unwrap();
    holds(&page, &[format!("<a href=\"?preset={id}\"><bdi>Only &lt;us&gt;</bdi></a>")]);
    browser
        .get(&format!("{at}/pages?preset={id}&metric=ctr"))
        .await
        .leads_to(&format!("{at}/where/country=usa/pages?metric=ctr"));
    browser.get(&format!("{at}?preset=nothing")).await.expect(404);
    browser.post(&at, &[("do", "delete_filters"), ("id", id)]).await.leads_to(&format!("{at}?done=deleted"));
    assert!(json(&browser, "/api/filter-presets").await["data"].as_array().unwrap().is_empty());
    let nameless = browser.post(&at, &[("do", "save_filters"), ("filters", filters), ("name", "")]).await.expect(400);
    assert!(nameless.body.contains("name: "), "{}", nameless.body);
}

#[tokio::test]
async fn a_page_counts_once_however_many_operations_it_asks() {
    let app = TestApp::start(|config| {
        config.rate_limit.enabled = true;
        (config.rate_limit.per_minute, config.rate_limit.burst) = (60, 20);
    })
    .await;
    let browser = Browser::signed_in(&app, "owner").await;
    let at = path(&browser, "northmoor").await;
    let remaining = |page: &Page| page.header("x-ratelimit-remaining").parse::<u32>().unwrap();
    let first = browser.get(&at).await.expect(200);
    let second = browser.get(&at).await.expect(200);
    assert_eq!(remaining(&first), remaining(&second) + 1);
}
