//! Tests of long files: they are truncated at the maximum, say so, and are streamed.

use std::{
    collections::BTreeSet,
    io::{Read, Write},
    net::TcpStream,
};

use super::{CEILING, Case, PAPER, People, SHOP, Window, csv::Sheet};
use crate::support::app::shared;

const LONG: Window = ("2026-10-05", "2026-10-07");
const DAY: Window = ("2026-09-21", "2026-09-21");

#[tokio::test]
async fn a_file_cut_at_the_ceiling_says_so() {
    let people = People::new().await;
    let presences = |sheet: &Sheet| sheet.rows.iter().map(|row| row[13].clone()).collect::<BTreeSet<_>>();
    let cut = Case::of(SHOP, LONG);
    assert_eq!(cut.has_true_export(&people, "queries", None).await.rows.len(), CEILING);
    let sheet = cut.against(DAY).has_true_export(&people, "queries", None).await;
    // Rows of the comparison window only follow the window's rows, which fill the file.
    assert_eq!(presences(&sheet), ["both", "new"].map(str::to_owned).into());
    let sheet = Case::of(SHOP, DAY).against(LONG).has_true_export(&people, "queries", None).await;
    assert_eq!(presences(&sheet), ["both", "lost", "unknown"].map(str::to_owned).into());
}

#[tokio::test]
async fn a_table_of_pages_is_cut_at_the_same_ceiling() {
    let people = People::new().await;
    let case = Case::of(PAPER, ("2026-10-05", "2026-10-11"));
    assert_eq!(case.rows("pages", CEILING).known.0, CEILING);
    let sheet = case.has_true_export(&people, "pages", None).await;
    assert_eq!(sheet.rows.len(), CEILING);
}

#[tokio::test]
async fn a_narrow_file_of_a_long_table_says_that_the_table_was_cut() {
    let people = People::new().await;
    let answer = Case::of(SHOP, LONG).ask(&people, "export", &[("queryLimit", "3")]).await.expect(200);
    assert_eq!((answer.header("x-total-rows-capped"), Sheet::of(&answer).rows.len()), ("true", 3));
}

#[tokio::test]
async fn alternatives_with_more_rows_than_are_shown_are_added_up_whole() {
    let people = People::new().await;
    let case = Case::of(SHOP, ("2026-10-05", "2026-10-11"));
    let case = case.and("query", "not_contains", "jacket").or("device", "not_contains", "tablet");
    for device in ["MOBILE", "DESKTOP"] {
        let part = Case::of(SHOP, case.window).and("query", "not_contains", "jacket").and("device", "equals", device);
        assert!(part.table("queries", case.window).len() > CEILING, "no part fits under the ceiling");
    }
    case.has_true_export(&people, "queries", None).await;
    case.has_true_export(&people, "countries", None).await;
    case.has_true_first_sparklines(&people, "queries", None).await;
    case.has_true_sparklines(&people, "queries", &case.some_keys("queries", 150)).await;
}

#[tokio::test]
async fn the_first_rows_of_a_cut_table_say_that_it_was_cut() {
    let people = People::new().await;
    Case::of(SHOP, LONG).has_true_first_sparklines(&people, "queries", Some(50)).await;
    Case::of(PAPER, ("2026-10-05", "2026-10-11")).has_true_first_sparklines(&people, "pages", None).await;
}

#[tokio::test]
async fn a_long_file_comes_in_pieces() {
    let people = People::new().await;
    let asker = people.asker(SHOP);
    let path = format!("/api/properties/{}/export?startDate={}&endDate={}", asker.property, LONG.0, LONG.1);
    let whole = asker.actor.get(&path).await.expect(200).bytes;
    let (base, token) = (shared().service.base_url.clone(), asker.actor.token().to_owned());
    let (head, pieces) = tokio::task::spawn_blocking(move || in_pieces(&base, &path, &token)).await.unwrap();
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert!(head.contains("transfer-encoding: chunked") && !head.contains("content-length"), "{head}");
    assert!(pieces.len() > 3, "{} pieces", pieces.len());
    assert!(pieces.iter().all(|piece| piece.len() * 2 < whole.len()), "one piece is most of the file");
    assert!(pieces.concat() == whole, "the pieces are the file");
}

/// The head of a response in lower case, and the chunks of its body.
fn in_pieces(base: &str, path: &str, token: &str) -> (String, Vec<Vec<u8>>) {
    let address = base.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let head =
        format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(answer[..end].to_vec()).unwrap().to_lowercase();
    let (mut pieces, mut rest) = (Vec::new(), &answer[end + 4..]);
    if head.contains("transfer-encoding: chunked") {
        loop {
            let line = rest.windows(2).position(|window| window == b"\r\n").unwrap();
            let length = usize::from_str_radix(std::str::from_utf8(&rest[..line]).unwrap(), 16).unwrap();
            if length == 0 {
                break;
            }
            pieces.push(rest[line + 2..line + 2 + length].to_vec());
            rest = &rest[line + 4 + length..];
        }
    }
    (head, pieces)
}
