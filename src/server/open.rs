//! The open connections by network, and the one that gives way to a new one.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use common::addresses::network;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::watch::Watch;

/// The open connections.
#[derive(Clone)]
pub(super) struct Open(Arc<Inner>);

struct Inner {
    most: usize,
    connections: Mutex<Connections>,
    /// Notified when a connection ends.
    ended: Notify,
}

#[derive(Default)]
struct Connections {
    number: u64,
    open: usize,
    by_network: HashMap<IpAddr, Network>,
}

struct Network {
    /// True for a proxy, whose connections belong to many clients.
    is_trusted: bool,
    connections: HashMap<u64, Connection>,
}

struct Connection {
    watch: Watch,
    close: CancellationToken,
}

/// The place of an open connection. Dropping it ends the connection's count.
pub(super) struct ConnectionPlace {
    network: IpAddr,
    number: u64,
    open: Open,
    /// Cancelled when the connection has to give way.
    pub(super) close: CancellationToken,
}

/// The reason why there is no place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoPlace {
    /// The network has too many connections.
    Network,
    /// There are too many connections in total.
    All,
}

impl Open {
    /// At most `most` connections.
    pub(super) fn new(most: usize) -> Self {
        Self(Arc::new(Inner { most, connections: Mutex::default(), ended: Notify::new() }))
    }

    /// Takes a place for a connection from `address`. `most` is the limit of its network, and `None` for a trusted proxy.
    pub(super) fn enter(
        &self,
        address: IpAddr,
        most: Option<usize>,
        watch: &Watch,
    ) -> Result<ConnectionPlace, NoPlace> {
        let network = network(address);
        let mut connections = self.connections();
        let own = connections.by_network.get(&network).map_or(0, |own| own.connections.len());
        if most.is_some_and(|most| own >= most) {
            return Err(NoPlace::Network);
        }
        if connections.open >= self.0.most {
            return Err(NoPlace::All);
        }
        connections.open += 1;
        connections.number += 1;
        let (number, close) = (connections.number, CancellationToken::new());
        let own = connections.by_network.entry(network);
        let own = own.or_insert_with(|| Network { is_trusted: most.is_none(), connections: HashMap::new() });
        own.connections.insert(number, Connection { watch: watch.clone(), close: close.clone() });
        Ok(ConnectionPlace { network, number, open: self.clone(), close })
    }

    /// Closes the longest idle connection of the network with most connections among the networks with an idle one. Connections of
    /// trusted proxies come last. Returns false if no connection is idle.
    pub(super) fn make_room(&self) -> bool {
        let mut connections = self.connections();
        let mut networks: Vec<_> = connections.by_network.iter().collect();
        networks.sort_by_key(|(_, own)| (own.is_trusted, std::cmp::Reverse(own.connections.len())));
        let idlest = networks.into_iter().find_map(|(network, own)| {
            let idle = own.connections.iter().filter_map(|(number, one)| Some((one.watch.idle_since()?, *number)));
            idle.min().map(|(_, number)| (*network, number))
        });
        let Some((network, number)) = idlest else { return false };
        if let Some(connection) = connections.leave(network, number) {
            connection.close.cancel();
        }
        true
    }

    /// Waits until a connection ends.
    pub(super) async fn ended(&self) {
        self.0.ended.notified().await;
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.0.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connections {
    /// Removes a connection. One that gave way has been removed before.
    fn leave(&mut self, network: IpAddr, number: u64) -> Option<Connection> {
        let own = self.by_network.get_mut(&network)?;
        let connection = own.connections.remove(&number)?;
        self.open -= 1;
        if own.connections.is_empty() {
            self.by_network.remove(&network);
        }
        Some(connection)
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.open.connections().leave(self.network, self.number);
        self.open.0.ended.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::Version;
    use tokio::time::Instant;

    use super::*;

    fn enter(open: &Open, address: &str, most: Option<usize>, idle: u64) -> Result<ConnectionPlace, NoPlace> {
        let accepted = Instant::now() + Duration::from_hours(1) - Duration::from_secs(idle);
        open.enter(address.parse().unwrap(), most, &Watch::new(accepted))
    }

    #[test]
    fn a_network_has_so_many_connections_and_no_more() {
        let open = Open::new(10);
        for (one, same, other) in
            [("127.0.0.1", "127.0.0.1", "127.0.0.2"), ("2001:db8:1:2::1", "2001:db8:1:ffff::1", "2001:db8:2::1")]
        {
            let held: Vec<_> = (0..3).map(|_| enter(&open, one, Some(3), 0).unwrap()).collect();
            assert_eq!(enter(&open, same, Some(3), 0).err(), Some(NoPlace::Network));
            assert!(enter(&open, other, Some(3), 0).is_ok());
            drop(held);
            assert!(enter(&open, same, Some(3), 0).is_ok());
        }
        assert!(open.connections().by_network.is_empty(), "nothing is kept of connections that ended");
    }

    #[test]
    fn the_idlest_connection_of_the_greediest_network_gives_way() {
        let open = Open::new(6);
        let proxy: Vec<_> = (0..2).map(|_| enter(&open, "10.0.0.1", None, 900).unwrap()).collect();
        let greedy: Vec<_> = [5, 7].map(|idle| enter(&open, "192.0.2.1", Some(10), idle).unwrap()).into();
        let modest = enter(&open, "192.0.2.2", Some(10), 800).unwrap();
        let busy = Watch::new(Instant::now());
        let _request = busy.begin(Version::HTTP_11);
        let busy = open.enter("192.0.2.1".parse().unwrap(), Some(10), &busy).unwrap();
        assert_eq!(enter(&open, "192.0.2.3", Some(10), 0).err(), Some(NoPlace::All));

        let mut order = vec![&greedy[1], &greedy[0], &modest];
        order.extend(&proxy);
        for closed in 1..=order.len() {
            assert!(open.make_room());
            let are_closed: Vec<bool> = order.iter().map(|place| place.close.is_cancelled()).collect();
            if closed <= 3 {
                assert_eq!(are_closed, (1..=order.len()).map(|place| place <= closed).collect::<Vec<_>>());
            }
        }
        assert!(proxy.iter().all(|place| place.close.is_cancelled()));
        assert!(!open.make_room() && !busy.close.is_cancelled(), "a connection with a request never gives way");
        assert_eq!(open.connections().open, 1);
        drop((proxy, greedy, modest));
        assert_eq!(open.connections().open, 1, "each counts once");
    }
}
