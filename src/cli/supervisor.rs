//! Messages to the supervisor of a command that serves, by the protocol of `sd_notify(3)`: datagrams to the socket that the variable
//! `NOTIFY_SOCKET` names. Without the variable nothing is sent.

/// The command accepts requests.
pub(super) const READY: &str = "READY=1";

/// The command ends.
pub(super) const STOPPING: &str = "STOPPING=1";

/// Sends a message. A failure goes to the log: a supervisor that waits for the message ends the process.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "a variable of the supervisor, and no setting of the service")]
pub(super) fn send(message: &str) {
    let Some(name) = std::env::var_os("NOTIFY_SOCKET") else { return };
    if let Err(error) = send_to(&name, message) {
        tracing::warn!(%error, message, "the supervisor cannot be reached at NOTIFY_SOCKET");
    }
}

#[cfg(not(unix))]
pub(super) fn send(_message: &str) {}

/// Sends a message to the socket at a path, or on Linux to the abstract one whose name follows `@`.
#[cfg(unix)]
fn send_to(name: &std::ffi::OsStr, message: &str) -> std::io::Result<()> {
    use std::os::unix::net::UnixDatagram;

    let socket = UnixDatagram::unbound()?;
    #[cfg(target_os = "linux")]
    if let Some(name) = std::os::unix::ffi::OsStrExt::as_bytes(name).strip_prefix(b"@") {
        use std::os::{linux::net::SocketAddrExt as _, unix::net::SocketAddr};
        return socket.send_to_addr(message.as_bytes(), &SocketAddr::from_abstract_name(name)?).map(drop);
    }
    socket.send_to(message.as_bytes(), name).map(drop)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::{
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr, UnixDatagram},
    };

    use super::*;

    #[test]
    fn a_message_reaches_a_socket_at_a_path_and_one_without() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let name = format!("sightline-{}", std::process::id());
        let abstract_one = SocketAddr::from_abstract_name(&name).unwrap();
        for (socket, at) in [
            (UnixDatagram::bind(&path).unwrap(), path.display().to_string()),
            (UnixDatagram::bind_addr(&abstract_one).unwrap(), format!("@{name}")),
        ] {
            send_to(at.as_ref(), READY).unwrap();
            let mut message = [0; 64];
            let length = socket.recv(&mut message).unwrap();
            assert_eq!(&message[..length], READY.as_bytes());
        }
        assert!(send_to(folder.path().join("nobody").as_ref(), READY).is_err());
    }
}
