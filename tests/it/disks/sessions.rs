//! Tests of a connection to `PostgreSQL` that is lost at each message of a write, before the server has it and after.

use sea_orm::Database;

use super::Writer;
use crate::support::{
    app::TestApp,
    relay::{Cut, Relay},
};

#[tokio::test]
async fn wherever_the_connection_is_lost_an_acknowledged_write_is_in_the_database() {
    let (mut relay, mut url) = (None, None);
    let app = TestApp::start(|config| {
        url.clone_from(&config.database.url);
        relay = config.database.url.as_mut().map(Relay::before);
    })
    .await;
    let (Some(relay), Some(url)) = (relay, url) else { return };
    let writer = Writer::new(app.actor("owner").await, Database::connect(url).await.unwrap()).await;
    for (name, at) in [("before", Cut::Before as fn(u64) -> Cut), ("after", Cut::After)] {
        let mut lost = 0;
        for message in 1.. {
            relay.cut(at(message));
            let mut was_cut = false;
            writer.check(&format!("{name} message {message:02}"), || was_cut = relay.resume()).await;
            if !was_cut {
                break;
            }
            lost += 1;
        }
        assert!(lost >= 5, "{lost} messages of a write were lost");
    }
}
