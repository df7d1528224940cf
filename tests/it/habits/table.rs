//! The habits.

use chrono::{Months, NaiveDate};
use serde_json::{Value, json};

use super::server::{Habit, Said, http, ok};

/// The meaning of an answer with a habit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// The same as without the habit.
    Right,
    /// That there are no rows.
    NoRows,
    /// Nothing: it is no answer.
    None,
    /// The same, or nothing: the client may send a request on a connection that has ended.
    RightOrNone,
}

/// A habit with its name.
pub type Row = (&'static str, Meaning, Habit);

fn page(status: &str) -> Said {
    Said::Whole(http(status, "content-type: text/html\r\n", "<html>Sign in to the network</html>"))
}

fn refusal(status: &str, body: &str) -> Said {
    Said::Whole(http(status, "content-type: application/json\r\n", body))
}

fn gzip(body: impl AsRef<[u8]>) -> Said {
    Said::Whole(http("200 OK", "content-encoding: gzip\r\n", body))
}

fn chunks(body: &str, end: &str) -> Vec<u8> {
    let pieces = body.as_bytes().chunks(7).map(|piece| {
        let (length, piece) = (piece.len(), String::from_utf8_lossy(piece));
        format!("{length:x}\r\n{piece}\r\n")
    });
    let pieces: String = pieces.collect();
    format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{pieces}{end}").into_bytes()
}

fn too_long(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len() + 10).into_bytes()
}

/// Habits of whole messages, which any endpoint may have.
pub const OF_MESSAGES: &[Row] = &[
    ("nothing with a good status", Meaning::None, |_| ok("")),
    ("null", Meaning::None, |_| ok("null")),
    ("a list", Meaning::None, |body| ok(format!("[{body}]"))),
    ("a text", Meaning::None, |body| ok(json!(body).to_string())),
    ("a page with a good status", Meaning::None, |_| page("200 OK")),
    ("two answers in one", Meaning::None, |body| ok(format!("{body}{body}"))),
    ("half of the body", Meaning::None, |body| ok(&body[..body.len() / 2])),
    ("an error with a good status", Meaning::None, |_| {
        ok(r#"{"error":{"code":500,"message":"Internal error encountered.","status":"INTERNAL"}}"#)
    }),
    ("an error beside the answer", Meaning::None, |body| {
        ok(edited(body, |answer| answer["error"] = json!({ "code": 500, "message": "Backend Error" })))
    }),
    ("what is no gzip, called so", Meaning::None, |body| gzip(body)),
    ("gzip that ends early", Meaning::None, |_| gzip([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab])),
    ("an end without an answer", Meaning::None, |_| Said::Last(Vec::new())),
    ("an end in the head", Meaning::None, |_| Said::Last(b"HTTP/1.1 200 OK\r\ncontent-le".to_vec())),
    ("an end before the announced length", Meaning::None, |body| Said::Last(too_long(body))),
    ("chunks without the last one", Meaning::None, |body| Said::Last(chunks(body, ""))),
    ("no HTTP", Meaning::None, |_| Said::Last(b"\x15\x03\x01\0\x02\x02\x46".to_vec())),
    ("a redirect", Meaning::None, |_| Said::Whole(http("302 Found", "location: /webmasters/v3/sites\r\n", ""))),
    ("a redirect that keeps the body", Meaning::None, |body| {
        Said::Whole(http("307 Temporary Redirect", "location: /elsewhere\r\n", body))
    }),
    ("204", Meaning::None, |_| Said::Whole(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec())),
    ("206", Meaning::None, |body| Said::Whole(http("206 Partial Content", "content-range: bytes 0-9/100\r\n", body))),
    ("401 of a proxy", Meaning::None, |_| page("401 Unauthorized")),
    ("403 of a proxy", Meaning::None, |_| page("403 Forbidden")),
    ("403 of another shape", Meaning::None, |_| refusal("403 Forbidden", r#"{"message":"denied"}"#)),
    ("404 of a proxy", Meaning::None, |_| page("404 Not Found")),
    ("429 of a proxy", Meaning::None, |_| page("429 Too Many Requests")),
    ("429 of another shape", Meaning::None, |_| refusal("429 Too Many Requests", r#"{"message":"slow down"}"#)),
    ("502 of a proxy", Meaning::None, |_| page("502 Bad Gateway")),
    ("an end after each answer", Meaning::RightOrNone, |body| Said::Last(http("200 OK", "", body))),
    ("an end that is announced", Meaning::Right, |body| Said::Last(http("200 OK", "connection: close\r\n", body))),
    ("HTTP 1.0 without a length", Meaning::Right, |body| {
        Said::Last(format!("HTTP/1.0 200 OK\r\n\r\n{body}").into_bytes())
    }),
    ("a head before the head", Meaning::Right, |body| {
        Said::Whole([b"HTTP/1.1 103 Early Hints\r\n\r\n".to_vec(), http("200 OK", "", body)].concat())
    }),
    ("small chunks", Meaning::Right, |body| Said::Whole(chunks(body, "0\r\n\r\n"))),
    ("another content type", Meaning::Right, |body| {
        Said::Whole(http("200 OK", "content-type: text/html; charset=ascii\r\n", body))
    }),
    ("a byte order mark", Meaning::Right, |body| ok(format!("\u{feff}{body}"))),
    ("lines around the body", Meaning::Right, |body| ok(format!("\r\n\t {body}\n\n"))),
    ("members that nobody knows", Meaning::Right, |body| {
        ok(edited(body, |answer| answer["kind"] = json!({ "new": [1, null] })))
    }),
];

/// Habits of answers that stop. A time limit ends the wait.
pub const THAT_STOP: &[Row] = &[
    ("no answer", Meaning::None, |_| Said::Stuck(Vec::new())),
    ("a head that stops", Meaning::None, |_| Said::Stuck(b"HTTP/1.1 200 OK\r\ncontent-".to_vec())),
    ("a body that stops", Meaning::None, |body| Said::Stuck(too_long(body))),
    ("chunks that stop", Meaning::None, |body| Said::Stuck(chunks(body, ""))),
];

/// Habits of rows by day.
pub const OF_ROWS: &[Row] = &[
    ("no members", Meaning::None, |_| ok("{}")),
    ("rows that are an object", Meaning::None, |body| ok(edited(body, |answer| answer["rows"] = json!({})))),
    ("rows that are lists", Meaning::None, |body| each(body, |row| *row = json!([row["keys"], row["clicks"], 1]))),
    ("a row that is null", Meaning::None, |body| first(body, |row| *row = Value::Null)),
    ("a row without keys", Meaning::None, |body| first(body, |row| without(row, "keys"))),
    ("a row with too many keys", Meaning::None, |body| first(body, |row| row["keys"] = json!(["2026-10-05", "x"]))),
    ("a key that is null", Meaning::None, |body| first(body, |row| row["keys"] = json!([null]))),
    ("a row without clicks", Meaning::None, |body| first(body, |row| without(row, "clicks"))),
    ("a row without impressions", Meaning::None, |body| first(body, |row| without(row, "impressions"))),
    ("clicks below zero", Meaning::None, |body| first(body, |row| row["clicks"] = json!(-7))),
    ("clicks with a fraction", Meaning::None, |body| first(body, |row| row["clicks"] = json!(1.5))),
    ("clicks that are a text", Meaning::None, |body| each(body, |row| row["clicks"] = json!("1"))),
    ("clicks that are null", Meaning::None, |body| first(body, |row| row["clicks"] = Value::Null)),
    ("NaN", Meaning::None, |body| ok(body.replace("\"clicks\":", "\"clicks\":NaN,\"was\":"))),
    ("Infinity", Meaning::None, |body| ok(body.replace("\"impressions\":", "\"impressions\":Infinity,\"was\":"))),
    ("a position below zero", Meaning::None, |body| first(body, |row| row["position"] = json!(-0.5))),
    ("a day before the window", Meaning::None, |body| first_day(body, |day| (day - Months::new(1)).to_string())),
    ("a day after the window", Meaning::None, |body| first_day(body, |day| (day + Months::new(1)).to_string())),
    ("the same day twice", Meaning::None, |body| again(body, |day| day.to_string())),
    ("the same day twice, spelt in two ways", Meaning::None, |body| {
        again(body, |day| day.format("%Y-%-m-%-d").to_string())
    }),
    ("days without zeros", Meaning::None, |body| days(body, |day| day.format("%Y-%-m-%-d").to_string())),
    ("days as Europe writes them", Meaning::None, |body| days(body, |day| day.format("%d/%m/%Y").to_string())),
    ("times in place of days", Meaning::None, |body| days(body, |day| format!("{day}T07:00:00Z"))),
    ("an aggregation that is a number", Meaning::None, |body| {
        ok(edited(body, |answer| answer["responseAggregationType"] = json!(7)))
    }),
    ("metadata that is a list", Meaning::None, |body| ok(edited(body, |answer| answer["metadata"] = json!([])))),
    ("a first incomplete day of another year", Meaning::None, |body| {
        ok(edited(body, |answer| answer["metadata"] = json!({ "firstIncompleteDate": "2036-10-05" })))
    }),
    ("rows without an aggregation", Meaning::Right, |body| {
        ok(edited(body, |answer| without(answer, "responseAggregationType")))
    }),
    ("rows with members that nobody knows", Meaning::Right, |body| each(body, |row| row["ctr2"] = json!([1]))),
    ("days from the last to the first", Meaning::Right, |body| ok(edited(body, |answer| rows(answer).reverse()))),
    ("rows that are null", Meaning::NoRows, |body| ok(edited(body, |answer| answer["rows"] = Value::Null))),
    ("no rows", Meaning::NoRows, |body| ok(edited(body, |answer| without(answer, "rows")))),
];

/// Habits of the list of sites.
pub const OF_SITES: &[Row] = &[
    ("sites that are null", Meaning::None, |body| ok(edited(body, |answer| answer["siteEntry"] = Value::Null))),
    ("sites that are an object", Meaning::None, |body| ok(edited(body, |answer| answer["siteEntry"] = json!({})))),
    ("a site without a name", Meaning::None, |body| {
        ok(edited(body, |answer| without(&mut answer["siteEntry"][0], "siteUrl")))
    }),
    ("sites by their names alone", Meaning::None, |_| ok(r#"{"siteEntry":["sc-domain:quietmeadow.test"]}"#)),
    ("sites under another name", Meaning::None, |body| ok(body.replace("siteEntry", "sites"))),
    ("a site twice", Meaning::Right, |body| {
        ok(edited(body, |answer| {
            let sites = answer["siteEntry"].as_array_mut().unwrap();
            sites.push(sites[0].clone());
        }))
    }),
];

fn edited(body: &str, edit: impl Fn(&mut Value)) -> String {
    let mut answer = serde_json::from_str(body).unwrap();
    edit(&mut answer);
    answer.to_string()
}

/// Edits each row, if there are any.
fn each(body: &str, edit: impl Fn(&mut Value)) -> Said {
    ok(edited(body, |answer| rows(answer).iter_mut().for_each(&edit)))
}

fn first(body: &str, edit: impl Fn(&mut Value)) -> Said {
    ok(edited(body, |answer| rows(answer).iter_mut().take(1).for_each(&edit)))
}

/// Writes each day in another way.
fn days(body: &str, write: impl Fn(NaiveDate) -> String) -> Said {
    each(body, |row| redated(row, &write))
}

fn first_day(body: &str, write: impl Fn(NaiveDate) -> String) -> Said {
    first(body, |row| redated(row, &write))
}

/// Adds the first row once more, with its day written in another way.
fn again(body: &str, write: impl Fn(NaiveDate) -> String) -> Said {
    ok(edited(body, |answer| {
        if let Some(mut row) = rows(answer).first().cloned() {
            redated(&mut row, &write);
            answer["rows"].as_array_mut().unwrap().push(row);
        }
    }))
}

fn redated(row: &mut Value, write: &impl Fn(NaiveDate) -> String) {
    if let Some(day) = row["keys"][0].as_str().and_then(|day| day.parse().ok()) {
        row["keys"] = json!([write(day)]);
    }
}

fn rows(answer: &mut Value) -> &mut [Value] {
    answer.get_mut("rows").and_then(Value::as_array_mut).map_or(&mut [], Vec::as_mut_slice)
}

fn without(value: &mut Value, member: &str) {
    value.as_object_mut().unwrap().remove(member);
}
