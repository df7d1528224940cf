//! A server in its own process, which ends when the value is dropped.

use std::{
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::Measured;

/// A running server.
pub struct Server {
    /// Root URL of the server.
    pub url: String,
    /// Address that it accepts requests on.
    pub address: SocketAddr,
    child: Child,
}

/// A command of Sightline. No setting of the person who measures reaches it, and it says what keeps it from starting.
pub fn sightline() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sightline"));
    command.env_clear().env("RUST_LOG", "error");
    command
}

impl Server {
    /// Starts a command whose first line is `listening on URL`.
    pub fn start(command: &mut Command) -> Measured<Self> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let url = line.trim().strip_prefix("listening on ").ok_or("a server did not start")?.to_owned();
        let address = url.trim_start_matches("http://").parse()?;
        Ok(Self { url, address, child })
    }

    /// A size of the process in bytes, such as `VmRSS`, as Linux reports it; `None` on other systems.
    pub fn memory(&self, name: &str) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
        Some(kibibytes * 1024)
    }
}

impl Server {
    /// Processor time that the process has taken, as Linux reports it in hundredths of a second; `None` on other systems.
    pub fn processor_time(&self) -> Option<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        // The name of the program, which may hold spaces, ends with the last parenthesis.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
        let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some(Duration::from_millis(10 * (user + system)))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
