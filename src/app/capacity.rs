//! Compares the connections of this replica with those that the database server allows.

use store::postgres;

use super::Parts;

/// The part of a server's connections that one replica may take, in percent. Commands, administrators and other replicas need the rest.
const MOST: u64 = 80;

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
    use super::is_scarce;

    #[test]
    fn four_fifths_of_a_servers_connections_are_the_most_for_one_replica() {
        for (own, all, scarce) in [(8, 100, false), (80, 100, false), (81, 100, true), (8, 9, true), (200, 100, true)] {
            assert_eq!(is_scarce(own, all), scarce, "{own} of {all}");
        }
    }
}
