//! Responses of operations: `{ "data": …, "meta": … }`, `201` with `Location`, `204`, streams of JSON, CSV.

use std::marker::PhantomData;

use bytes::Bytes;
use chrono::NaiveDate;
use poem::{
    Body, IntoResponse, Response,
    http::{StatusCode, header},
};
use poem_openapi::{
    ApiResponse, Object,
    payload::{Json, Payload},
    registry::{MetaHeader, MetaMediaType, MetaResponse, MetaResponses, MetaSchema, MetaSchemaRef, Registry},
    types::{ParseFromJSON, ToJSON, Type},
};

pub use crate::envelope::{Data, RecordMeta};
use crate::{
    JSON,
    error::ApiError,
    models::{DateRange, WarningCode},
};

/// Result of an operation.
pub type Answered<T> = Result<T, ApiError>;

/// `200` with `{ "data": … }`.
#[derive(Debug, Clone)]
pub struct Answer<T>(pub T);

/// `201` with `{ "data": … }` and `Location`.
#[derive(Debug, Clone)]
pub struct Created<T> {
    /// The record.
    pub data: T,
    /// Path of the record.
    pub location: String,
}

/// `204` without a body.
#[derive(Debug, Clone, Copy)]
pub struct NoContent;

/// `200` with an already serialised body of schema `T`. Large answers are rendered once and sent many times.
#[derive(Debug, Clone)]
pub struct Rendered<T> {
    body: Bytes,
    etag: Option<String>,
    shape: PhantomData<fn() -> T>,
}

impl<T> Rendered<T> {
    /// Takes serialised JSON of `T`.
    #[must_use]
    pub fn new(body: Bytes) -> Self {
        Self { body, etag: None, shape: PhantomData }
    }

    /// Sets a weak `ETag` from a digest of the bytes, so that no layer needs to hash them again. The tag is weak
    /// because the same question may be answered in different bytes.
    #[must_use]
    pub fn with_digest(self, digest: &str) -> Self {
        Self { etag: Some(format!("W/\"{digest}\"")), ..self }
    }

    /// Sets a strong `ETag` from a digest: the same records always have the same bytes.
    #[must_use]
    pub fn with_strong_digest(self, digest: &str) -> Self {
        Self { etag: Some(format!("\"{digest}\"")), ..self }
    }
}

/// `200` with `{ "data": … }` of one record, already serialised.
pub type Record<T> = Rendered<Data<T>>;

/// A page of a list of records.
#[derive(Debug, Clone, Object)]
pub struct List<T: ParseFromJSON + ToJSON + Send + Sync> {
    /// The records.
    pub data: Vec<T>,
    /// Place of the page in the list.
    pub meta: ListMeta,
}

/// Place of a page in a list of records.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct ListMeta {
    /// Number of records in the list, on this page or not.
    pub total: u64,
    /// True if records follow this page.
    pub has_more: bool,
    /// Parameters of the request that had no effect; absent without any.
    #[oai(validator(max_items = 30))]
    pub ignored: Option<Vec<String>>,
}

/// `200` with `{ "data": [ … ], "meta": … }`, already serialised.
pub type Listed<T> = Rendered<List<T>>;

/// `200` with `{ "data": … }` of schema `T`, written while it is sent, and stored by no cache.
pub struct Streamed<T> {
    body: Body,
    shape: PhantomData<fn() -> T>,
}

impl<T> Streamed<T> {
    /// Takes the bytes of the JSON.
    #[must_use]
    pub fn new(body: Body) -> Self {
        Self { body, shape: PhantomData }
    }
}

/// `200` with CSV, streamed.
pub struct Csv {
    /// The bytes, header row first.
    pub body: Body,
    /// File name of the download; ASCII letters, digits, dot, dash and underscore.
    pub file_name: String,
    /// Its rows; `None` if they are unknown before the last one.
    pub rows: Option<CsvRows>,
    /// The days that the rows count.
    pub days: CsvDays,
}

/// The rows of a CSV answer, as coverage counts them in JSON.
#[derive(Debug, Clone, Copy)]
pub struct CsvRows {
    /// Rows in the file.
    pub shown: usize,
    /// Rows on all pages.
    pub matched: usize,
    /// Rows that were read.
    pub known: usize,
    /// The number of rows up to which reading goes.
    pub ceiling: usize,
    /// True if reading reached it.
    pub capped: bool,
    /// True if rows that match follow.
    pub more: bool,
}

impl CsvRows {
    /// The headers of the answer, as names and values.
    fn headers(&self) -> [(&'static str, String); 6] {
        [
            ("x-rows-shown", self.shown.to_string()),
            ("x-rows-matched", self.matched.to_string()),
            ("x-rows-known", self.known.to_string()),
            ("x-rows-ceiling", self.ceiling.to_string()),
            ("x-total-rows-capped", self.capped.to_string()),
            ("x-has-more", self.more.to_string()),
        ]
    }
}

/// The days behind a CSV answer.
#[derive(Debug, Clone)]
pub struct CsvDays {
    /// The days of the window that the rows count.
    pub window: DateRange,
    /// The days of the comparison window that the rows count.
    pub compare_window: Option<DateRange>,
    /// The last day with final numbers.
    pub last_final_date: NaiveDate,
    /// The kinds of facts that the numbers do not show.
    pub warnings: Vec<WarningCode>,
}

impl CsvDays {
    /// The headers of the answer, as names and values.
    fn headers(&self) -> impl Iterator<Item = (&'static str, String)> {
        let range = |window: DateRange| format!("{}/{}", window.start_date, window.end_date);
        let codes: Vec<&str> = self.warnings.iter().map(|code| code.as_str()).collect();
        [
            Some(("x-window", range(self.window))),
            self.compare_window.map(|window| ("x-compare-window", range(window))),
            Some(("x-last-final-date", self.last_final_date.to_string())),
            (!codes.is_empty()).then(|| ("x-warnings", codes.join(", "))),
        ]
        .into_iter()
        .flatten()
    }
}

fn response(
    status: u16,
    description: &'static str,
    content: Vec<MetaMediaType>,
    headers: Vec<MetaHeader>,
) -> MetaResponses {
    MetaResponses {
        responses: vec![MetaResponse { description, status: Some(status), status_range: None, content, headers }],
    }
}

fn json_of<T: Type>() -> Vec<MetaMediaType> {
    vec![MetaMediaType { content_type: Json::<T>::CONTENT_TYPE, schema: T::schema_ref() }]
}

impl<T: ToJSON + ParseFromJSON + Send + Sync> ApiResponse for Answer<T> {
    fn meta() -> MetaResponses {
        response(200, "Success.", json_of::<Data<T>>(), vec![])
    }

    fn register(registry: &mut Registry) {
        Data::<T>::register(registry);
    }
}

impl<T: ToJSON + ParseFromJSON + Send + Sync> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        json_body(StatusCode::OK, &Data::from(self.0))
    }
}

impl<T: ToJSON + ParseFromJSON + Send + Sync> ApiResponse for Created<T> {
    fn meta() -> MetaResponses {
        let location = MetaHeader {
            name: "Location".to_owned(),
            description: Some("The path of the new record.".to_owned()),
            required: true,
            deprecated: false,
            schema: String::schema_ref(),
        };
        response(201, "Created.", json_of::<Data<T>>(), vec![location])
    }

    fn register(registry: &mut Registry) {
        Data::<T>::register(registry);
    }
}

impl<T: ToJSON + ParseFromJSON + Send + Sync> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        let mut response = json_body(StatusCode::CREATED, &Data::from(self.data));
        if let Ok(location) = self.location.parse() {
            response.headers_mut().insert("location", location);
        }
        response
    }
}

/// Serialises `value` as the response body. The `ETag` header repeats the `etag` field of a single record.
pub(crate) fn json_body(status: StatusCode, value: &impl ToJSON) -> Response {
    let value = value.to_json().unwrap_or_default();
    let mut response = Response::builder().status(status).content_type(JSON);
    if let Some(etag) = value.pointer("/data/etag").and_then(|etag| etag.as_str()) {
        response = response.header("etag", etag);
    }
    response.body(value.to_string())
}

impl ApiResponse for NoContent {
    fn meta() -> MetaResponses {
        response(204, "Done; no body.", vec![], vec![])
    }

    fn register(_: &mut Registry) {}
}

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into()
    }
}

impl<T: Type> ApiResponse for Rendered<T> {
    fn meta() -> MetaResponses {
        response(200, "Success.", json_of::<T>(), vec![])
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

impl<T: Send> IntoResponse for Rendered<T> {
    fn into_response(self) -> Response {
        let mut response = Response::builder().content_type(JSON);
        if let Some(etag) = self.etag {
            response = response.header("etag", etag);
        }
        response.body(self.body)
    }
}

impl<T: ToJSON + ParseFromJSON + Send + Sync> ApiResponse for Streamed<T> {
    fn meta() -> MetaResponses {
        response(200, "Success.", json_of::<Data<T>>(), vec![])
    }

    fn register(registry: &mut Registry) {
        Data::<T>::register(registry);
    }
}

impl<T: Send> IntoResponse for Streamed<T> {
    fn into_response(self) -> Response {
        Response::builder().content_type(JSON).header(header::CACHE_CONTROL, "no-store").body(self.body)
    }
}

impl ApiResponse for Csv {
    fn meta() -> MetaResponses {
        let schema = MetaSchemaRef::Inline(Box::new(MetaSchema::new("string")));
        let header = |name: &str, required, description: &str, schema| MetaHeader {
            name: name.to_owned(),
            description: Some(description.to_owned()),
            required,
            deprecated: false,
            schema,
        };
        let (text, flag, count) = (String::schema_ref, bool::schema_ref, u64::schema_ref);
        let rows = [
            ("X-Rows-Shown", "Rows in the file", count()),
            ("X-Rows-Matched", "Rows that `metricFilters` leaves, on all pages", count()),
            ("X-Rows-Known", "Rows that were read for the table, in both windows", count()),
            ("X-Rows-Ceiling", "Rows up to which the table is read, in each window", count()),
            ("X-Total-Rows-Capped", "True if reading reached `X-Rows-Ceiling`, so there may be more rows", flag()),
            ("X-Has-More", "True if more rows match than the file holds", flag()),
        ];
        let rows = rows.map(|(name, description, schema)| {
            header(name, false, &format!("{description}; absent if that is not known in advance."), schema)
        });
        let days = [
            header(
                "X-Window",
                true,
                "First and last day that the rows count, such as `2026-10-22/2026-11-18`. Days that are not final count only with \
                 `dataState=all` and without a comparison.",
                text(),
            ),
            header(
                "X-Compare-Window",
                false,
                "First and last day of the comparison window that the rows count; absent without a comparison.",
                text(),
            ),
            header("X-Last-Final-Date", true, "The last day with final numbers.", text()),
            header(
                "X-Warnings",
                false,
                "Codes of the facts that the numbers do not show, such as `data_incident, windows_shortened`; absent without any.",
                text(),
            ),
        ];
        let disposition = header("Content-Disposition", true, "`attachment` with the file's name.", text());
        let headers = [disposition].into_iter().chain(rows).chain(days).collect();
        let content = vec![MetaMediaType { content_type: "text/csv", schema }];
        response(200, "UTF-8 CSV (RFC 4180) with a header row.", content, headers)
    }

    fn register(_: &mut Registry) {}
}

impl IntoResponse for Csv {
    fn into_response(self) -> Response {
        let mut response = Response::builder()
            .content_type("text/csv; charset=utf-8; header=present")
            .header("content-disposition", format!("attachment; filename=\"{}\"", self.file_name));
        for (name, value) in self.rows.iter().flat_map(CsvRows::headers) {
            response = response.header(name, value);
        }
        for (name, value) in self.days.headers() {
            response = response.header(name, value);
        }
        response.body(self.body)
    }
}
