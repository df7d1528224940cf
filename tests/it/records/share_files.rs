//! Tests of the tables behind a share link as files.

use serde_json::json;

use super::share_views::{Board, condition, text};

#[tokio::test]
async fn a_file_has_the_rows_of_the_operation() {
    let board = Board::new().await;
    let link = board.link(json!({ "filters": [condition("country", "equals", "usa")] })).await;
    let answer = link.ask(&[("scope", "all"), ("queryLimit", "5000"), ("pageLimit", "5000")]).await.expect(200).json;
    for table in ["queries", "pages"] {
        let file = link.open(&format!("/{table}.csv")).await.expect(200);
        assert_eq!(file.header("content-type"), "text/csv; charset=utf-8; header=present");
        assert_eq!(file.header("x-robots-tag"), "noindex, nofollow");
        assert_eq!(file.header("cache-control"), "no-store");
        let name = format!("attachment; filename=\"northmoor.example_{table}_2026-10-22_2026-11-18.csv\"");
        assert_eq!(file.header("content-disposition"), name);
        let rows = answer["data"]["tables"][table].as_array().unwrap();
        assert_eq!(file.header("x-rows-shown"), rows.len().to_string());
        let said = text(&file);
        let mut lines = said.split("\r\n");
        assert_eq!(lines.next(), Some("\u{feff}key,clicks,impressions,ctr,position"), "with the mark for spreadsheets");
        for row in rows {
            let cells = format!(",{},{},", row["clicks"], row["impressions"]);
            let written = lines.next().unwrap();
            assert!(written.starts_with('"') && written.contains(&cells), "{written} {row}");
        }
        assert_eq!(lines.collect::<Vec<_>>(), [""]);
    }
}

#[tokio::test]
async fn a_file_takes_the_parameters_of_the_operation_except_its_size() {
    let board = Board::new().await;
    let link = board.link(json!({})).await;
    let path = format!("/share/{}/pages.csv", link.token());
    let changes = [("compare", "previous_period"), ("sort", "-change.clicks")];
    let table = [("table", "pages"), ("pageLimit", "5000"), ("bom", "true")];
    let own = board.owner.ask(&board.of("export"), &[&changes[..], &table].concat()).await.expect(200);
    let file = board.app.anonymous().ask(&path, &changes).await.expect(200);
    assert_eq!(text(&file), text(&own));
    assert_eq!(file.header("x-window"), own.header("x-window"));
    assert!(!file.header("x-compare-window").is_empty());
    for (name, value) in [("scope", "all"), ("pageLimit", "3"), ("shape", "round"), ("startDate", "x")] {
        let refused = board.app.anonymous().ask(&path, &[(name, value)]).await.expect(400);
        assert!(refused.hint().starts_with(name), "{}", refused.hint());
    }
}

#[tokio::test]
async fn a_file_opens_for_the_links_that_the_page_opens_for() {
    let board = Board::new().await;
    let unknown = board.app.anonymous().get(&format!("/share/{}", "A".repeat(43))).await.expect(404);
    for token in ["x", &"A".repeat(43)] {
        for table in ["queries", "pages"] {
            let file = board.app.anonymous().get(&format!("/share/{token}/{table}.csv")).await.expect(404);
            assert_eq!(file.bytes, unknown.bytes);
        }
    }
    let link = board.link(json!({})).await;
    for other in ["/countries.csv", "/queries", "/queries.csv/x"] {
        link.open(other).await.expect(404);
    }
    assert_eq!(
        board.app.anonymous().head(&format!("/share/{}/queries.csv", link.token())).await.status().as_u16(),
        200
    );
    let path = format!("/share/{}/queries.csv", link.token());
    let refused = board.app.anonymous().send(poem::http::Method::POST, &path, None, &[]).await.expect(405);
    assert_eq!(refused.header("allow"), "GET, HEAD");
    board.owner.delete(&format!("{}/{}", board.of("share-links"), link.made["id"].as_str().unwrap())).await.expect(204);
    assert_eq!(link.open("/queries.csv").await.expect(404).bytes, unknown.bytes);
}
