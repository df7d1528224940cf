//! Tests of names that commands print.

use sea_orm::ConnectionTrait as _;
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use super::{command, out};
use crate::support::app::TestApp;

#[tokio::test]
async fn commands_print_names_as_people_read_them() {
    let app = TestApp::start(|_| {}).await;
    for (from, to) in [
        ("https://www.ledgerline.example/", "http://northmoor.example/"),
        ("sc-domain:harbourpost.example", "https://xn--bcher-kva.example/"),
    ] {
        let sql = format!("UPDATE property SET site_url = '{to}' WHERE site_url = '{from}'");
        app.service.db.execute_unprepared(&sql).await.unwrap();
    }
    let owner = app.actor("owner").await;
    let id = owner.property("sc-domain:northmoor").await;
    let pages = owner.get(&format!("/api/properties/{id}/performance?scope=tables")).await.expect(200).json;
    let key = |row: usize| pages["data"]["tables"]["pages"][row]["key"].as_str().unwrap().to_owned();
    let controls = app.simulator().controls();
    controls.plant(&key(0), "https://www.northmoor.example/%D7%A9%D7%9C%D7%95%D7%9D");
    controls.plant(&key(1), "https://blog.northmoor.example/%E2%80%AEgnp");
    let server = app.service.base_url.clone();
    let ask = async |arguments: &[&str]| {
        let settings = TempDir::new().unwrap();
        let mut asked = command(&settings, &server, arguments);
        asked.args(["--as", "owner"]);
        spawn_blocking(move || (settings, asked.output().unwrap()).1).await.unwrap()
    };
    let sites = out(ask(&["sites"]).await);
    for name in ["northmoor.example (whole domain)  ", "northmoor.example (http)  ", "bücher.example  "] {
        assert!(sites.lines().any(|line| line.starts_with(name)), "{name}: {sites}");
    }
    let report = out(ask(&["report", "northmoor.example (whole domain)", "--days", "7"]).await);
    assert!(report.starts_with("northmoor.example (whole domain), "), "{report}");
    for page in ["www.northmoor.example/שלום ", "blog.northmoor.example/%E2%80%AEgnp "] {
        assert!(report.lines().any(|line| line.starts_with(page)), "{page}: {report}");
    }
    for (name, said) in [("bücher", "\"bücher"), ("xn--bcher", "\"xn--bcher"), ("northmoor", "\"northmoor")] {
        let refused = String::from_utf8(ask(&["report", name]).await.stderr).unwrap();
        assert_eq!(refused.contains(said), name == "northmoor", "found, or may be several: {refused}");
    }
}
