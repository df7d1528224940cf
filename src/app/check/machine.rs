//! Compares the clock of this machine with those of the servers, and looks at its disk.

use std::path::{Path, PathBuf};

use common::{
    clock::{self, Clock},
    disk,
};
use store::{
    database::{self, OpenDatabase},
    postgres,
};

use super::Outcome;
use crate::{
    config::Config,
    services::{
        drift::{MAX_OFFSET, apart},
        health::LITTLE_SPACE,
    },
};

/// Compares the clock with that of `PostgreSQL` and that of Redis, as far as they answer. What does not answer is told elsewhere.
pub(super) async fn clock(config: &Config, opened: Option<&Result<OpenDatabase, String>>, clock: &Clock) -> Outcome {
    let mut compared = Vec::new();
    if let Some(Ok(opened)) = opened
        && let Ok(Some(offset)) = postgres::clock_offset(&opened.writer, clock).await
    {
        compared.push(("PostgreSQL", offset));
    }
    if let Some(addresses) = config.redis.addresses()
        && let Ok(offset) = clock::offset(clock, replicas::time(&addresses.counters)).await
    {
        compared.push(("Redis", offset));
    }
    if compared.is_empty() {
        return Ok("nothing to compare it with".to_owned());
    }
    let said: Vec<String> =
        compared.iter().map(|(server, offset)| format!("{} that of {server}", apart(*offset))).collect();
    let said = said.join(", ");
    if compared.iter().any(|(_, offset)| offset.abs() > MAX_OFFSET) {
        return Err(format!("{said}: tokens are refused. Let NTP set the clocks of all machines (`timedatectl`)"));
    }
    Ok(said)
}

/// Looks at the free space where the database's file is, or else the service's other files.
pub(super) fn disk(config: &Config) -> Outcome {
    let of_database = database::folder(&config.database_url());
    let folder = of_database.clone().unwrap_or_else(|| PathBuf::from(&config.data_dir));
    let Some(there) = folder.ancestors().find(|folder| folder.exists()) else {
        return Ok("no folder yet".to_owned());
    };
    let Some(free) = disk::free_bytes(there) else { return Ok("not known on this system".to_owned()) };
    let network = of_database.and_then(|_| disk::network_file_system(there));
    judged(free, &folder, network)
}

fn judged(free: u64, folder: &Path, network: Option<&str>) -> Outcome {
    let said = format!("{} MiB free for {}", free >> 20, folder.display());
    if free < LITTLE_SPACE {
        return Err(format!("data_dir: {said}. Make room: a full disk takes no writes"));
    }
    Ok(match network {
        Some(kind) => format!("{said}, {}", database::on_network(kind)),
        None => said,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_on_another_machine_is_said_with_the_way_out() {
        let folder = Path::new("/data");
        let said = judged(LITTLE_SPACE, folder, Some("NFS")).unwrap();
        assert!(said.contains("MiB free for /data, on NFS, ") && said.contains("PostgreSQL"), "{said}");
        let said = judged(LITTLE_SPACE, folder, None).unwrap();
        assert!(said.ends_with("MiB free for /data"), "{said}");
        assert!(judged(LITTLE_SPACE - 1, folder, Some("NFS")).unwrap_err().starts_with("data_dir: "));
    }
}
