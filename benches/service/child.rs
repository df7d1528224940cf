//! A server in its own process, which ends when the value is dropped.

use std::{
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
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

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
