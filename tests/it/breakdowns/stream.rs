//! Long files: they are cut at the ceiling, say so, and are sent while they are made.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use super::{CEILING, Case, PAPER, People, Window, csv::Sheet};
use crate::app::shared;

const LONG: Window = ("2026-10-28", "2026-11-17");
const DAY: Window = ("2026-10-21", "2026-10-21");

#[tokio::test]
async fn a_file_cut_at_the_ceiling_says_so() {
    let people = People::new().await;
    for (case, least) in [
        (Case::web(PAPER, LONG), CEILING),
        (Case::web(PAPER, LONG).against(DAY), CEILING + 1),
        (Case::web(PAPER, DAY).against(LONG), CEILING),
    ] {
        let answer = case.ask(&people, "export", &[]).await.expect(200);
        assert_eq!(answer.header("x-total-rows-capped"), (case.window == LONG).to_string());
        let (sheet, expected) = (Sheet::of(&answer), case.rows("queries", CEILING));
        assert!(expected.rows.len() >= least, "{}", expected.rows.len());
        assert_eq!(sheet.rows.len(), expected.rows.len());
        for (cells, row) in sheet.rows.iter().zip(&expected.rows) {
            assert_eq!(cells[0], super::csv::defused(&row.key));
            case.cells(&cells[1..5], row.now);
            assert_eq!(cells.get(9).map(String::as_str), row.presence, "{cells:?}");
        }
    }
}

#[tokio::test]
async fn a_narrow_file_of_a_long_table_says_that_the_table_was_cut() {
    let people = People::new().await;
    let answer = Case::web(PAPER, LONG).ask(&people, "export", &[("queryLimit", "3")]).await.expect(200);
    assert_eq!((answer.header("x-total-rows-capped"), Sheet::of(&answer).rows.len()), ("true", 3));
}

#[tokio::test]
async fn a_long_file_comes_in_pieces() {
    let people = People::new().await;
    let asker = &people.0[PAPER];
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

/// The head of a response in lower case, and the pieces that its body was sent in.
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
