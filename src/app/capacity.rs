//! Compares the connections of this replica with those that the database server allows, and with the file descriptors that the process may
//! open.

use common::descriptors;
use store::postgres;

use super::Parts;
use crate::config::Config;

/// The part of a server's connections that one replica may take, in percent. Commands, administrators and other replicas need the rest.
const MOST: u64 = 80;

/// File descriptors that a connection to the database takes at most: on `SQLite` the database, its log, and what processes share.
const OF_DATABASE: u64 = 3;

/// File descriptors for everything else: other servers, files, and connections that are being refused.
const OF_OTHERS: u64 = 100;

/// Raises the number of file descriptors that may be open. Returns the connections to accept: `connections.max`, or as many as there are
/// descriptors for.
pub(super) fn connections(config: &Config) -> usize {
    let (wanted, database) = (config.connections.max, config.database.max_connections);
    let Some(descriptors) = descriptors::raise() else { return wanted };
    let most = within(descriptors, database);
    if most < wanted {
        tracing::warn!(
            "connections.max: {wanted} connections need more than the {descriptors} file descriptors that this process may open, so {most} are \
             accepted. Raise the limit (`LimitNOFILE=` of systemd, `ulimit -n`), or lower the setting"
        );
    }
    wanted.min(most)
}

fn within(descriptors: u64, database: u32) -> usize {
    let others = OF_OTHERS + OF_DATABASE * u64::from(database);
    usize::try_from(descriptors.saturating_sub(others)).unwrap_or(usize::MAX).max(1)
}

/// Warns if this replica alone may take nearly all connections of the server.
pub(super) async fn warn_if_scarce(parts: &Parts) {
    let own = parts.app.config.database.max_connections;
    match postgres::max_connections(&parts.store.reader).await {
        Ok(Some(all)) if is_scarce(own, all) => tracing::warn!(
            "database.max_connections: {own} is more than {MOST} % of the {all} connections that the server allows to all replicas, \
             commands and administrators together; lower it, or raise max_connections of the server"
        ),
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "the database did not say how many connections it allows"),
    }
}

fn is_scarce(own: u32, all: u32) -> bool {
    u64::from(own) * 100 > u64::from(all) * MOST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_for_everything_else() {
        for (descriptors, database, most) in
            [(1024, 8, 900), (256, 8, 132), (64, 8, 1), (u64::MAX, 8, usize::MAX - 124)]
        {
            assert_eq!(within(descriptors, database), most, "{descriptors}");
        }
    }

    #[test]
    fn four_fifths_of_a_servers_connections_are_the_most_for_one_replica() {
        for (own, all, scarce) in [(8, 100, false), (80, 100, false), (81, 100, true), (8, 9, true), (200, 100, true)] {
            assert_eq!(is_scarce(own, all), scarce, "{own} of {all}");
        }
    }
}
