//! Runs each write in one transaction, and commits the response to an `Idempotency-Key` with it.
//!
//! Runs after authorization, so a caller who lost access never gets a replay, and before parameters and body are parsed. Responses
//! of the operation itself carry `Idempotency-Replayed`.

use std::sync::Arc;

use api::{
    body::{ParsedBody, check_content_type},
    error::{ApiError, Code},
    operation::{Idempotency, Operation},
};
use common::{clock::Clock, places::Places, random::Random, secrets::Secrets, strict_json::parse};
use poem::{
    Endpoint, IntoResponse, Request, Response, Result,
    http::{HeaderValue, StatusCode, header},
};
use sea_orm::DbErr;
use store::{database::OpenDatabase, unit_of_work::UnitOfWork};

use super::{REPLAYED, errors, operation, request_id, version};
use crate::{
    config::ReplayStore,
    error::Error,
    services::{
        change::IfMatch,
        replays::{self, BodyHashes, Known, Replay, Scope, Start, StoreOutcome, Stored},
        users::Member,
    },
};

const KEY: &str = "idempotency-key";
const STORAGE: &str = "idempotency-storage";

/// The maximum length of a key.
const LONGEST_KEY: usize = 255;

/// Everything that the layer needs.
pub struct Writes {
    /// The database.
    pub db: OpenDatabase,
    /// Selects whether responses are stored.
    pub store: ReplayStore,
    /// The maximum total size of a person's stored responses, in bytes.
    pub max_bytes_per_user: u64,
    /// Seals stored responses, which may contain secrets.
    pub secrets: Secrets,
    /// The newest version of the API, in whose shape responses are stored.
    pub version: &'static str,
    /// The keys in use in this process.
    pub keys: Places<Scope>,
    /// The clock.
    pub clock: Clock,
    /// The source of new ids.
    pub random: Random,
}

/// The idempotency layer.
///
/// # Errors
/// 400, 409 or 422 for the key, and the errors of the inner layers.
pub async fn idempotency<E: Endpoint>(settings: Arc<Writes>, next: Arc<E>, mut request: Request) -> Result<Response> {
    let write = operation::of(&request).and_then(|operation| Some((operation, operation.idempotency?)));
    let Some((operation, kind)) = write else {
        return next.call(request).await.map(IntoResponse::into_response);
    };
    let if_match = request.headers().get_all(header::IF_MATCH).iter();
    let if_match = if_match.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect();
    request.set_data(IfMatch(if_match));
    let key = if kind == Idempotency::Enforced { key(&request)? } else { None };
    // No keyed write takes query parameters. One that is refused for them leaves its key unused, so that the refusal is not replayed to
    // the same write without them.
    let key = key.filter(|_| request.uri().query().unwrap_or_default().is_empty());
    let has_other_shape = version::pin(&request).is_some_and(|pin| pin.changes_body(operation));
    let hashes = if key.is_some() || has_other_shape { json(&mut request, operation).await? } else { None };
    let Some(key) = key else { return settings.once(&next, request).await };
    if settings.store == ReplayStore::None {
        let id = request_id::of(&request).cloned();
        let answer = settings.once(&next, request).await;
        return Ok(unstored(answer.unwrap_or_else(|error| errors::response_of(error, id.as_ref()))));
    }
    match hashes {
        // A body that is not JSON is refused without using the key.
        None => settings.once(&next, request).await,
        Some(hashes) => settings.keyed(&next, request, key, hashes).await,
    }
}

/// Returns the value of `Idempotency-Key`, which has 1 to 255 printable ASCII characters.
fn key(request: &Request) -> Result<Option<String>, ApiError> {
    let mut values = request.headers().get_all(KEY).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return if request.headers().contains_key(KEY) { Err(bad_key("was sent twice; send one")) } else { Ok(None) };
    };
    let printable = value.as_bytes().iter().all(|byte| (0x20..=0x7e).contains(byte));
    let text = value.to_str().unwrap_or_default();
    if printable && (1..=LONGEST_KEY).contains(&text.len()) {
        Ok(Some(text.to_owned()))
    } else {
        Err(bad_key(&format!("must be 1 to {LONGEST_KEY} printable ASCII characters")))
    }
}

/// Returns the hashes of the body's JSON value, and keeps the value in the newest shape for the operation. Returns `None` if the
/// body is not JSON or is not declared as JSON.
async fn json(request: &mut Request, operation: &Operation) -> Result<Option<BodyHashes>> {
    let bytes = request.take_body().into_bytes().await?;
    let is_json = check_content_type(request.headers()).is_ok();
    let value = if is_json { parse(&bytes).ok() } else { None };
    request.set_body(bytes);
    Ok(value.map(|mut value| {
        let mut hashes = BodyHashes::of(&value);
        if let Some(pin) = version::pin(request) {
            pin.upgrade(operation, &mut value, |newer| hashes.add(newer));
        }
        request.set_data(ParsedBody::new(value));
        hashes
    }))
}

fn bad_key(problem: &str) -> ApiError {
    ApiError::new(Code::InvalidIdempotencyKey).hint(format!("Idempotency-Key: {problem}"))
}

fn unstored(mut response: Response) -> Response {
    response.headers_mut().insert(STORAGE, HeaderValue::from_static("unavailable"));
    response
}

fn replayed(mut response: Response, replayed: bool) -> Response {
    let value = HeaderValue::from_static(if replayed { "true" } else { "false" });
    response.headers_mut().insert(REPLAYED, value);
    response
}

impl Writes {
    /// Runs the operation in its own transaction and commits it unless the operation fails.
    async fn once<E: Endpoint>(&self, next: &E, mut request: Request) -> Result<Response> {
        let unit = Arc::new(UnitOfWork::new(&self.db));
        request.set_data(unit.clone());
        let answer = next.call(request).await.map(IntoResponse::into_response);
        let unit = into_unique(unit)?;
        match answer {
            Ok(response) if response.status().is_success() => {
                unit.commit().await.map_err(failed)?;
                Ok(response)
            }
            unwritten => {
                unit.roll_back().await.map_err(failed)?;
                unwritten
            }
        }
    }

    /// Handles a request with a key: replays the stored response, or runs the operation and stores its response.
    async fn keyed<E: Endpoint>(
        &self,
        next: &E,
        mut request: Request,
        key: String,
        hashes: BodyHashes,
    ) -> Result<Response> {
        let Some(member) = request.data::<Arc<Member>>() else { return self.once(next, request).await };
        // Ids are case-insensitive, and no two of these paths differ only in case.
        let (method, path) = (request.method().to_string(), request.uri().path().to_ascii_lowercase());
        let scope = Scope { user_id: member.user.id, method, path, key };
        let Some(_place) = self.keys.take(scope.clone()) else { return Err(in_progress().into()) };
        let unit = match self.start(&scope, &hashes).await {
            Ok(unit) => Arc::new(unit),
            Err(answered) => return answered,
        };
        request.set_data(unit.clone());
        let id = request_id::of(&request).cloned();
        match next.call(request).await.map(IntoResponse::into_response) {
            // The plan has run out meanwhile. Refusals because of the plan are not stored.
            Err(error) if error.status() == StatusCode::PAYMENT_REQUIRED => {
                into_unique(unit)?.roll_back().await.map_err(failed)?;
                Err(error)
            }
            Err(error) => self.settle(into_unique(unit)?, errors::response_of(error, id.as_ref()), scope, hashes).await,
            Ok(response) => self.settle(into_unique(unit)?, response, scope, hashes).await,
        }
    }

    /// Returns a unit of work that holds the key.
    ///
    /// # Errors
    /// The answer, if the operation must not run.
    async fn start(&self, scope: &Scope, hashes: &BodyHashes) -> Result<UnitOfWork, Result<Response>> {
        let unit = UnitOfWork::new(&self.db);
        let start = replays::start(&unit, &self.db.reader, &self.secrets, scope, hashes, self.clock.now()).await;
        let answer = match start.map_err(|error| Err(ApiError::from(error).into()))? {
            Start::Free => return Ok(unit),
            Start::Locked => Err(in_progress().into()),
            Start::Known(known) => answer_to(known),
        };
        // Rolls back before answering. A dropped transaction would hold the key for other processes until its connection is reused.
        unit.roll_back().await.map_err(|error| Err(failed(error).into()))?;
        Err(answer)
    }

    /// Commits the writes of a request together with its response. Stores a refusal without the writes of the refused operation.
    async fn settle(&self, unit: UnitOfWork, response: Response, scope: Scope, hashes: BodyHashes) -> Result<Response> {
        let status = response.status();
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            unit.roll_back().await.map_err(failed)?;
            return Ok(replayed(response, false));
        }
        let unit = if status.is_success() {
            unit
        } else {
            unit.roll_back().await.map_err(failed)?;
            // The key was free for a moment, so another process may have used it.
            match self.start(&scope, &hashes).await {
                Ok(unit) => unit,
                Err(answered) => return answered,
            }
        };
        let (response, stored) = stored_of(response, self.version).await?;
        let now = self.clock.now();
        let replay = Replay { id: self.random.id(now), now, scope, request_hash: hashes.into_newest(), answer: stored };
        let outcome = replays::store(&unit, &self.secrets, replay, self.max_bytes_per_user).await;
        let outcome = outcome.map_err(ApiError::from)?;
        if outcome == StoreOutcome::KeyTaken {
            // The same request, whose client had disconnected, was being committed while the key was looked up.
            unit.roll_back().await.map_err(failed)?;
            return Err(in_progress().into());
        }
        unit.commit().await.map_err(failed)?;
        let response = replayed(response, false);
        Ok(if outcome == StoreOutcome::NoRoom { unstored(response) } else { response })
    }
}

/// Returns the response to a key that was used before.
fn answer_to(known: Known) -> Result<Response> {
    match known {
        Known::Answered(stored) => Ok(replayed(response_of(stored), true)),
        Known::BodyMismatch => {
            let way_out = "Idempotency-Key: use a new key for another body, or repeat the body of the first request";
            Err(ApiError::new(Code::IdempotencyKeyReused).hint(way_out).into())
        }
    }
}

fn in_progress() -> ApiError {
    ApiError::new(Code::IdempotencyInProgress).retry_after(1)
}

/// Returns the unit of work, which has one owner once the operation has answered.
fn into_unique(unit: Arc<UnitOfWork>) -> Result<UnitOfWork, ApiError> {
    Arc::into_inner(unit).ok_or_else(|| ApiError::from(Error::internal("an operation kept its unit of work")))
}

/// Returns the response and its stored form.
async fn stored_of(mut response: Response, version: &str) -> Result<(Response, Stored)> {
    let body = response.take_body().into_vec().await?;
    let text = |name: header::HeaderName| response.headers().get(name)?.to_str().ok().map(str::to_owned);
    let stored = Stored {
        status: response.status().as_u16(),
        content_type: text(header::CONTENT_TYPE),
        location: text(header::LOCATION),
        etag: text(header::ETAG),
        version: version.to_owned(),
        body: body.clone(),
    };
    response.set_body(body);
    Ok((response, stored))
}

fn response_of(stored: Stored) -> Response {
    let mut response = Response::builder().status(StatusCode::from_u16(stored.status).unwrap_or_default());
    let headers =
        [(header::CONTENT_TYPE, stored.content_type), (header::LOCATION, stored.location), (header::ETAG, stored.etag)];
    for (name, value) in headers.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        response = response.header(name, value);
    }
    let mut response = response.body(stored.body);
    version::name(&mut response, &stored.version);
    response
}

fn failed(error: DbErr) -> ApiError {
    Error::from(error).into()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use poem::{EndpointExt as _, endpoint::make_sync, test::TestClient};
    use test_data::noon;

    use super::*;
    use crate::{config::Config, services::users, testing::World};

    /// Sends one key twice. Returns how often an operation with a response of `bytes` ran, and the storage header of the last
    /// response.
    async fn asked_twice(bytes: usize) -> (usize, Option<String>) {
        let (world, runs) = (World::new().await, Arc::new(AtomicUsize::new(0)));
        let user = users::by_id(&world.db, world.owner).await.unwrap();
        let writes = Writes {
            db: world.store.clone(),
            store: ReplayStore::Database,
            max_bytes_per_user: 1 << 20,
            version: api::VERSION,
            secrets: Secrets::new([7; 32], Random::seeded(1)),
            keys: Places::new(1),
            clock: Clock::manual(noon()).0,
            random: Random::seeded(2),
        };
        let counted = runs.clone();
        let endpoint = make_sync(move |_: Request| {
            counted.fetch_add(1, Ordering::SeqCst);
            Response::builder().status(StatusCode::CREATED).content_type("application/json").body("x".repeat(bytes))
        });
        let member = Arc::new(Member::of(&Config::default(), Arc::new(user), noon()));
        let writes = Arc::new(writes);
        let endpoint = endpoint.around(move |next, request| idempotency(writes.clone(), next, request));
        let client =
            TestClient::new(endpoint.around(|next, request| operation::look_up(None, next, request)).data(member));
        let send = async || {
            let request = client.post("/api/tags").header(KEY, "a").content_type("application/json").body("{}");
            let answer = request.send().await.0;
            assert_eq!(answer.status(), StatusCode::CREATED);
            let storage = answer.header(STORAGE).map(str::to_owned);
            assert_eq!(answer.into_body().into_vec().await.unwrap().len(), bytes);
            storage
        };
        send().await;
        let storage = send().await;
        (runs.load(Ordering::SeqCst), storage)
    }

    #[tokio::test]
    async fn an_answer_that_is_too_large_to_keep_is_given_and_forgotten() {
        assert_eq!(asked_twice(256 * 1024).await, (1, None));
        assert_eq!(asked_twice(256 * 1024 + 1).await, (2, Some("unavailable".to_owned())));
    }
}
