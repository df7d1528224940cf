//! The signals that stop a command that serves.

/// Resolves at SIGTERM or SIGINT, and at SIGHUP or SIGQUIT unless they were ignored when the process started, as by `nohup`. Signals count from
/// the call on, so that none is lost that comes after the line with the service's address.
#[cfg(unix)]
pub(super) fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    use futures_util::future::select_all;
    use tokio::signal::unix::{SignalKind, signal};

    let mut kinds = vec![SignalKind::terminate(), SignalKind::interrupt()];
    // Where this is unknown, SIGHUP keeps its effect, so that `nohup` works.
    if is_ignored(SignalKind::hangup()) == Some(false) {
        kinds.push(SignalKind::hangup());
    }
    if is_ignored(SignalKind::quit()) != Some(true) {
        kinds.push(SignalKind::quit());
    }
    let mut signals = kinds.into_iter().map(signal).collect::<std::io::Result<Vec<_>>>()?;
    Ok(async move {
        select_all(signals.iter_mut().map(|signal| Box::pin(signal.recv()))).await;
    })
}

/// Resolves at Ctrl-C.
#[cfg(not(unix))]
pub(super) fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

/// Returns whether this process ignores a signal, as Linux says. `None` on other systems, where only unsafe code could ask.
#[cfg(unix)]
fn is_ignored(signal: tokio::signal::unix::SignalKind) -> Option<bool> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    let ignored = u64::from_str_radix(ignored.trim(), 16).ok()?;
    let place = u32::try_from(signal.as_raw_value()).ok()?.checked_sub(1)?;
    Some(ignored.checked_shr(place)? & 1 == 1)
}
