//! A relay in front of a server, which can be cut off and let through again.

use std::{
    net::TcpListener as Listener,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::watch,
};
use url::Url;

/// A relay to one server.
pub struct Relay {
    shared: Arc<Shared>,
}

/// The message of a client, counted from the call of [`Relay::cut`], at which every connection ends.
#[derive(Debug, Clone, Copy)]
pub enum Cut {
    /// The server does not get the message.
    Before(u64),
    /// The server has answered it, and the client does not get the answer.
    After(u64),
}

struct Shared {
    far: (String, u16),
    is_cut: watch::Sender<bool>,
    at: Mutex<Option<Cut>>,
    /// The messages of clients since the last call of [`Relay::cut`].
    messages: AtomicU64,
}

impl Relay {
    /// Starts a relay to the server that `url` names, and puts its own address into `url`.
    pub fn before(url: &mut String) -> Self {
        let mut near: Url = url.parse().unwrap();
        let is_redis = near.scheme() == "redis";
        let far = (near.host_str().unwrap().to_owned(), near.port().unwrap_or(if is_redis { 6379 } else { 5432 }));
        let listener = Listener::bind(("127.0.0.1", 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        near.set_host(Some("127.0.0.1")).unwrap();
        near.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
        if !is_redis {
            near.set_query(Some("sslmode=disable"));
        }
        *url = near.into();
        let (at, messages) = Default::default();
        let shared = Arc::new(Shared { far, is_cut: watch::Sender::new(false), at, messages });
        let relay = Self { shared: shared.clone() };
        tokio::spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((client, _)) = listener.accept().await {
                let shared = shared.clone();
                tokio::spawn(async move {
                    let mut is_cut = shared.is_cut.subscribe();
                    if !*is_cut.borrow_and_update() {
                        tokio::select! {
                            () = shared.pass(client) => {}
                            _ = is_cut.wait_for(|cut| *cut) => {}
                        }
                    }
                });
            }
        });
        relay
    }

    /// The address of a server that ends every connection.
    pub fn to_nobody(url: &str) -> String {
        let mut url = url.to_owned();
        Self::before(&mut url).stop();
        url
    }

    /// Ends every connection, and refuses new ones.
    pub fn stop(&self) {
        self.shared.is_cut.send_replace(true);
    }

    /// Ends every connection at a message that is still to come.
    pub fn cut(&self, at: Cut) {
        self.shared.messages.store(0, Ordering::SeqCst);
        *self.shared.at.lock().unwrap() = Some(at);
    }

    /// Lets connections through again. Returns whether they were cut.
    pub fn resume(&self) -> bool {
        *self.shared.at.lock().unwrap() = None;
        self.shared.is_cut.send_replace(false)
    }
}

impl Shared {
    /// Passes bytes on until either side ends.
    async fn pass(&self, mut client: TcpStream) {
        let mut server = TcpStream::connect(self.far.clone()).await.unwrap();
        let (mut asked, mut answered) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
        let mut ends_at_answer = false;
        loop {
            tokio::select! {
                read = client.read(&mut asked) => {
                    let Ok(length @ 1..) = read else { return };
                    let number = self.messages.fetch_add(1, Ordering::SeqCst) + 1;
                    match *self.at.lock().unwrap() {
                        Some(Cut::Before(at)) if number == at => { self.is_cut.send_replace(true); },
                        Some(Cut::After(at)) if number == at => ends_at_answer = true,
                        _ => {}
                    }
                    if *self.is_cut.borrow() || server.write_all(&asked[..length]).await.is_err() { return }
                }
                read = server.read(&mut answered) => {
                    let Ok(length @ 1..) = read else { return };
                    if ends_at_answer && self.at.lock().unwrap().is_some() { self.is_cut.send_replace(true); }
                    if *self.is_cut.borrow() || client.write_all(&answered[..length]).await.is_err() { return }
                }
            }
        }
    }
}
