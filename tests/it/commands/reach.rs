//! Tests of a database that cannot be reached, or cannot be used as it is.

use tempfile::TempDir;

use super::{ANY_PORT, run, text};

/// Nothing listens at the port of the discard service.
#[test]
fn a_database_that_is_not_there_is_said_at_once_with_the_way_out() {
    let folder = TempDir::new().unwrap();
    let url = ("DATABASE__URL", "postgres://ann:hunter2@127.0.0.1:9/sites");
    for command in ["serve", "check", "migrate"] {
        let output = run(folder.path(), &[command], &[ANY_PORT, url]);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command}: {said}");
        let cause = "database.url: postgres://127.0.0.1:9/sites cannot be opened: nothing listens there";
        assert!(said.contains(cause) && said.contains("Start PostgreSQL"), "{command}: {said}");
        assert!(!said.contains("hunter2") && !said.contains("pool"), "{command}: {said}");
    }
}
