//! A relay in front of a server, which can be cut off and let through again.

use std::net::TcpListener as Listener;

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};
use url::Url;

/// A relay to one server.
pub struct Relay {
    cut: watch::Sender<bool>,
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
        let (cut, is_cut) = watch::channel(false);
        tokio::spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((mut client, _)) = listener.accept().await {
                let (far, mut is_cut) = (far.clone(), is_cut.clone());
                tokio::spawn(async move {
                    if *is_cut.borrow() {
                        return;
                    }
                    let mut server = TcpStream::connect(far).await.unwrap();
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut server) => {}
                        _ = is_cut.wait_for(|cut| *cut) => {}
                    }
                });
            }
        });
        Self { cut }
    }

    /// The address of a server that ends every connection.
    pub fn to_nobody(url: &str) -> String {
        let mut url = url.to_owned();
        Self::before(&mut url).stop();
        url
    }

    /// Ends every connection, and refuses new ones.
    pub fn stop(&self) {
        self.cut.send_replace(true);
    }

    /// Lets connections through again.
    pub fn resume(&self) {
        self.cut.send_replace(false);
    }
}
