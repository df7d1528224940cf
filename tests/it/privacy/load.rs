//! Tests of a deletion under load: twenty clients of the person, and twenty of others. The tests count requests, not time.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use futures_util::future::join_all;
use poem::http::Method;
use serde_json::{Value, json};

use super::{Named, delete, deletion::busy};
use crate::support::{
    actor::{Actor, Answer},
    app::TestApp,
};

/// The number of clients on either side.
const CLIENTS: usize = 20;
/// The number of writes of the person's clients after which the person is deleted.
const WRITES_BEFORE: usize = 60;
/// The number of writes of each client of others.
const WRITES_OF_OTHERS: usize = 12;

/// One client, which writes one record after the other.
#[derive(Clone)]
struct Client {
    actor: Actor,
    path: String,
    name: String,
}

impl Client {
    async fn write(&self, number: usize) -> Answer {
        let name = format!("{} {number}", self.name);
        let body: Value = if self.path == "/api/tags" {
            json!({ "name": name })
        } else {
            json!({ "date": "2026-11-16", "text": name })
        };
        let headers = [("content-type", "application/json"), ("idempotency-key", name.as_str())];
        self.actor.send(Method::POST, &self.path, Some(body.to_string()), &headers).await
    }
}

fn clients(actor: &Actor, name: &str, paths: &[String]) -> Vec<Client> {
    let client = |number: usize| Client {
        actor: actor.clone(),
        path: paths[number % paths.len()].clone(),
        name: format!("{name} {number}"),
    };
    (0..CLIENTS / 2).map(client).collect()
}

/// Writes until three requests were refused that began after the deletion had been answered. Returns the number of records that were
/// acknowledged.
async fn until_gone(client: Client, written: Arc<AtomicUsize>, gone: Arc<AtomicBool>) -> usize {
    let (mut acknowledged, mut refused) = (0, 0);
    for number in 0.. {
        let is_gone = gone.load(Ordering::SeqCst);
        let answer = client.write(number).await;
        match answer.status.as_u16() {
            201 if !is_gone => {
                acknowledged += 1;
                written.fetch_add(1, Ordering::SeqCst);
            }
            401 if is_gone => refused += 1,
            // The deletion is under way, or its answer is.
            401 | 404 if !is_gone => {}
            status => panic!("{}: {status} {}", client.name, answer.json),
        }
        if refused == 3 {
            break;
        }
    }
    acknowledged
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deletion_under_load_ends_everything_of_the_person_and_nothing_of_others() {
    let app = TestApp::start(|_| {}).await;
    let busy = busy(&app).await;
    let owner = Named::find(&app.service.db, "demo-owner").await;
    let notes = |property: &str| format!("/api/properties/{property}/annotations");
    let (own, elsewhere) = (notes(&busy.owner.property("northmoor").await), notes(&busy.elsewhere));
    let editor = app.actor("editor").await;
    let before = busy.stranger.listed(&elsewhere).await.len();

    let (written, gone) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let there = app.beside().await;
    let address = there.as_ref().unwrap_or(&app).service.address;
    let second = Actor::with_token(&format!("http://{address}"), busy.owner.token());
    let paths = [own, "/api/tags".to_owned(), elsewhere.clone()];
    let theirs = clients(&busy.owner, "here", &paths).into_iter().chain(clients(&second, "there", &paths));
    let theirs: Vec<_> = theirs.map(|client| tokio::spawn(until_gone(client, written.clone(), gone.clone()))).collect();
    assert_eq!(theirs.len(), CLIENTS);
    let of_others = clients(&busy.stranger, "stranger", std::slice::from_ref(&elsewhere)).into_iter();
    let of_others = of_others.chain(clients(&editor, "editor", &["/api/tags".to_owned()]));
    let of_others: Vec<_> = of_others
        .map(|client| {
            tokio::spawn(async move {
                for number in 0..WRITES_OF_OTHERS {
                    client.write(number).await.expect(201);
                }
            })
        })
        .collect();
    assert_eq!(of_others.len(), CLIENTS);

    while written.load(Ordering::SeqCst) < WRITES_BEFORE {
        tokio::task::yield_now().await;
    }
    delete(&busy.owner).await.expect(204);
    gone.store(true, Ordering::SeqCst);
    let acknowledged: usize = join_all(theirs).await.into_iter().map(Result::unwrap).sum();
    for other in join_all(of_others).await {
        other.unwrap();
    }
    assert!(acknowledged >= WRITES_BEFORE);
    assert_eq!(owner.places(&app.service.db).await, Vec::<String>::new());
    let kept = busy.stranger.listed(&elsewhere).await;
    let strangers = kept.iter().filter(|note| note["text"].as_str().unwrap().starts_with("stranger ")).count();
    assert_eq!(strangers, CLIENTS / 2 * WRITES_OF_OTHERS, "nobody else lost anything");
    assert!(kept.len() >= before + strangers);
    assert_eq!(editor.listed("/api/tags").await.len(), CLIENTS / 2 * WRITES_OF_OTHERS);
}
