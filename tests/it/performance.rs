//! The performance answer.

use crate::app::shared;

#[tokio::test]
async fn the_owner_reads_totals_and_a_series() {
    let owner = shared().actor("owner").await;
    let id = owner.property("northmoor").await;
    let answer = owner.get(&format!("/api/properties/{id}/performance")).await.expect(200);
    let days = answer.json["data"]["series"].as_array().unwrap();
    assert_eq!(days.len(), 28);
    let clicks: u64 = days.iter().map(|day| day["clicks"].as_u64().unwrap()).sum();
    assert_eq!(answer.json["data"]["totals"]["clicks"], clicks);
}
