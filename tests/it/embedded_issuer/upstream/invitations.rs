//! Tests of invitations: who may invite, and how long an invitation lets somebody sign in.

use entity::{property, search_account, team_grant};
use identity::{Claims, Email, Users as _, departures::Departures, issuer::EMBEDDED};
use issuer::upstream::rules::Rules;
use sea_orm::{
    ActiveModelTrait as _, ActiveValue::Set, ColumnTrait as _, EntityTrait as _, IntoActiveModel as _, QueryFilter as _,
};
use sightline::services::users::StoredUsers;
use test_data::noon;
use uuid::Uuid;

use super::super::browser::Browser;
use super::{
    BOB, TestIssuer,
    elsewhere::{Elsewhere, listing, verified},
    refresh, text, tokens,
};

const OWNER: &str = "owner@owners.test";

impl TestIssuer {
    /// Gives the holder of an address a role on the properties of somebody whom an operator added, and who tracks one.
    pub(super) async fn invite(&self, email: &str) {
        let owner = self.operator().add(OWNER, None).await.unwrap().account;
        let user = self.person(&owner.id.to_string(), OWNER).await;
        self.add_tracked_property(user).await;
        self.grant_by(user, email, true).await;
    }

    /// The person of the service with this subject.
    async fn person(&self, subject: &str, email: &str) -> Uuid {
        let (db, clock, random) = (self.db.clone(), self.clock.clone(), self.random.clone());
        let users = StoredUsers { db, random, clock, trial_days: 14, departures: Departures::new([7; 32]) };
        let claims = Claims {
            issuer: EMBEDDED.to_owned(),
            subject: subject.to_owned(),
            email: Some(Email { address: email.to_owned(), verified: true }),
            name: None,
            issued_at: self.clock.now(),
            auth_time: None,
        };
        users.resolve(&claims).await.unwrap().unwrap().id
    }

    async fn add_tracked_property(&self, user_id: Uuid) -> Uuid {
        let now = noon();
        let account = search_account::Model {
            id: self.random.id(now),
            user_id,
            subject: user_id.to_string(),
            email: None,
            refresh_token: None,
            status: search_account::Status::Connected,
            status_at: None,
            last_error: None,
            connected_at: now,
            synced_at: None,
            updated_at: now,
        };
        let account_id = account.into_active_model().reset_all().insert(&self.db).await.unwrap().id;
        let row = property::Model {
            id: self.random.id(now),
            account_id,
            user_id,
            site_url: "https://shop.example/".into(),
            permission_level: "siteOwner".into(),
            tracked: true,
            tracked_at: Some(now),
            lost_at: None,
            created_at: now,
            updated_at: now,
        };
        row.into_active_model().reset_all().insert(&self.db).await.unwrap().id
    }

    /// Gives an address a role on all properties of a person, or on none.
    async fn grant_by(&self, owner_id: Uuid, email: &str, all_properties: bool) {
        let row = team_grant::ActiveModel {
            id: Set(self.random.id(self.clock.now())),
            owner_id: Set(owner_id),
            email: Set(email.into()),
            email_key: Set(entity::email_key(email)),
            role: Set(team_grant::Role::Viewer),
            all_properties: Set(all_properties),
            accepted_at: Set(None),
            created_at: Set(self.clock.now()),
            updated_at: Set(self.clock.now()),
        };
        team_grant::Entity::insert(row).exec(&self.db).await.unwrap();
    }
}

#[tokio::test]
async fn an_invitation_opens_nothing_unless_it_covers_a_tracked_property() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(Rules::default()).await;
    let client = issuer.client().await;
    let come = async || elsewhere.sign_in(&Browser::new(&issuer), &client, verified("7", BOB)).await.status;
    let owner = issuer.operator().add(OWNER, None).await.unwrap().account;
    let user = issuer.person(&owner.id.to_string(), OWNER).await;
    issuer.grant_by(user, BOB, true).await;
    assert_eq!(come().await, 403, "the owner has no property");
    let property = issuer.add_tracked_property(user).await;
    assert_eq!(come().await, 303);
    let untracked = property::ActiveModel { id: Set(property), tracked: Set(false), ..Default::default() };
    untracked.update(&issuer.db).await.unwrap();
    assert_eq!(come().await, 403, "nobody tracks it any more");
    let tracked = property::ActiveModel { id: Set(property), tracked: Set(true), ..Default::default() };
    tracked.update(&issuer.db).await.unwrap();
    issuer.withdraw_invitations().await;
    issuer.grant_by(user, BOB, false).await;
    assert_eq!(come().await, 403, "the grant names no property");
}

#[tokio::test]
async fn guests_cannot_keep_each_other_in() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(Rules::default()).await;
    issuer.invite(BOB).await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    let running = tokens(&elsewhere, &browser, &client, verified("7", BOB)).await;
    let bob = issuer.accounts().await.into_iter().find(|account| account.email == BOB).unwrap();
    let guest = issuer.person(&bob.id.to_string(), BOB).await;
    issuer.add_tracked_property(guest).await;
    for email in ["friend@evil.test", BOB] {
        issuer.grant_by(guest, email, true).await;
    }
    let friend = verified("8", "friend@evil.test");
    assert_eq!(elsewhere.sign_in(&Browser::new(&issuer), &client, friend).await.status, 403);
    let of_the_owner = team_grant::Entity::delete_many().filter(team_grant::Column::OwnerId.ne(guest));
    of_the_owner.exec(&issuer.db).await.unwrap();
    issuer.refresh(&client, text(&running, "refresh_token")).await.refused("invalid_grant");
    assert_eq!(elsewhere.sign_in(&browser, &client, verified("7", BOB)).await.status, 403);
}

#[tokio::test]
async fn an_invitation_ends_with_the_account_of_its_author() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(Rules::default()).await;
    issuer.invite(BOB).await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    let running = tokens(&elsewhere, &browser, &client, verified("7", BOB)).await;
    issuer.remove(OWNER).await.unwrap();
    assert_eq!(team_grant::Entity::find().all(&issuer.db).await.unwrap(), [], "the grants have ended");
    issuer.refresh(&client, text(&running, "refresh_token")).await.refused("invalid_grant");
    assert_eq!(elsewhere.sign_in(&browser, &client, verified("7", BOB)).await.status, 403);
}

#[tokio::test]
async fn an_invitation_ends_when_the_lists_name_its_maker_no_longer() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(listing(&["owners.test"], &[])).await;
    let client = issuer.client().await;
    let owner = elsewhere.sign_in(&Browser::new(&issuer), &client, verified("1", OWNER)).await;
    assert_eq!(owner.status, 303);
    let account = issuer.accounts().await.remove(0);
    let user = issuer.person(&account.id.to_string(), OWNER).await;
    issuer.add_tracked_property(user).await;
    issuer.grant_by(user, BOB, true).await;
    let browser = Browser::new(&issuer);
    let running = tokens(&elsewhere, &browser, &client, verified("7", BOB)).await;
    let (elsewhere_now, _) = issuer.restarted(&elsewhere, listing(&["other.test"], &[])).await;
    refresh(&issuer, &elsewhere_now, &client, text(&running, "refresh_token")).await.refused("invalid_grant");
}
