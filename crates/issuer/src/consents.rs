//! Remembered consents: a person is asked once per client and address, and again when the client asks for more or leads elsewhere.
//! The extent of the consent is one choice for all addresses of the client. Only a choice that the person made on a page widens it.

use common::{allowance::Allowance, scope::Scopes};
use entity::consent::{ActiveModel, Column, Entity, Model};
use pages::page::permissions::choices;
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QuerySelect as _,
    sea_query::{LockType, OnConflict},
};
use store::transaction::Transaction;

use super::{IdentityProvider, clients::Recipient, request::Access, scope};

/// The extent that a person chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// No choice made a difference: what held before still holds.
    Unchanged,
    /// The client may do this much, wherever it is used.
    Of(Allowance),
    /// A machine may do this much. Elsewhere the client may do as much as before, or as this machine if that is more.
    OfMachine {
        /// The extent for the machine.
        chosen: Allowance,
        /// The extent that held when the person chose. If another one holds by now, the choice widens nothing.
        held: Option<Allowance>,
    },
}

impl Choice {
    /// Returns how much the client may do after the choice. `before` held until then, and the client asks for `rights`.
    fn after(self, before: Option<Allowance>, rights: Scopes) -> Allowance {
        match self {
            Self::Unchanged => before.unwrap_or_else(|| Allowance::covering(rights)),
            Self::Of(chosen) => chosen,
            Self::OfMachine { chosen, held } => match before {
                Some(before) if held == Some(before) => before.max(chosen),
                Some(before) => before,
                None => chosen,
            },
        }
    }
}

/// The question to a person about a client. The answer counts for all that the client was ever allowed, so the question covers that, too.
pub(super) struct Question {
    /// The scopes of the client in the API, if the person allows everything.
    pub rights: Scopes,
    /// True if it gets tokens for the REST API, false if for the tool endpoint only.
    pub opens_api: bool,
    /// The choices that make a difference.
    pub choices: Vec<Allowance>,
    /// The choice that the person made before.
    pub before: Option<Allowance>,
}

impl Question {
    /// Returns the choice in the field of a form. Without one, an earlier choice stays. `None` if it is none of the choices.
    pub(super) fn answer(&self, field: Option<&str>) -> Option<Choice> {
        let Some(text) = field.filter(|_| !self.choices.is_empty()) else { return Some(Choice::Unchanged) };
        Allowance::parse(text).filter(|choice| self.choices.contains(choice)).map(Choice::Of)
    }
}

/// The question to a person about a machine. The machine gets no more than it asks for. A choice that is wider than what the person allows
/// the client until now counts for all that the client was ever allowed, so the question covers that, too.
pub(super) struct MachineQuestion {
    /// The choices that make a difference for the machine, or for the client elsewhere.
    pub choices: Vec<Allowance>,
    /// How much the person allows the client until now, if they have been asked.
    pub before: Option<Allowance>,
    /// The scopes of the client in the API, if the person allows everything.
    pub rights_elsewhere: Scopes,
    /// True if the client gets tokens for the REST API anywhere.
    pub opens_api_elsewhere: bool,
    rights: Scopes,
}

impl MachineQuestion {
    fn new(rights: Scopes, opens_api: bool, known: &[Model]) -> Self {
        let before = allowed(known);
        let (mut offered, needed) = (choices(rights), Allowance::covering(rights));
        if offered.is_empty() && before.is_some_and(|before| before < needed) {
            offered.push(needed);
        }
        Self {
            choices: offered,
            before,
            rights_elsewhere: asked_before(known).or(rights),
            opens_api_elsewhere: opens_api || known.iter().any(|known| known.opens_api),
            rights,
        }
    }

    /// The choice that is made unless the person makes another one.
    pub(super) fn preset(&self) -> Allowance {
        self.before.unwrap_or(Allowance::Read)
    }

    /// Returns whether one of the choices widens what the person allows the client elsewhere.
    pub(super) fn may_widen(&self) -> bool {
        self.before.is_some_and(|before| self.choices.iter().any(|choice| *choice > before))
    }

    /// Returns the choice in the field of a form. `None` if there is a choice and it is none of the choices.
    pub(super) fn answer(&self, field: Option<&str>) -> Option<Allowance> {
        if self.choices.is_empty() {
            return Some(Allowance::covering(self.rights));
        }
        field.and_then(Allowance::parse).filter(|choice| self.choices.contains(choice))
    }
}

/// The value of [`held`] for a person who was not asked before.
pub(super) const NOTHING_HELD: &str = "nothing";

/// Writes what held before, for a form whose answer rests on it.
pub(super) fn held(before: Option<Allowance>) -> &'static str {
    before.map_or(NOTHING_HELD, Allowance::as_str)
}

impl IdentityProvider {
    /// Returns the question to the person about this client and scope.
    pub(super) async fn question(&self, subject: &str, client_id: &str, asked: &Access) -> Result<Question, DbErr> {
        let known = given(&self.db, subject, client_id).await?;
        let rights = asked_before(&known).or(scope::rights(&asked.scope));
        Ok(Question {
            rights,
            opens_api: self.opens_api(asked) || known.iter().any(|known| known.opens_api),
            choices: choices(rights),
            before: allowed(&known),
        })
    }

    /// Returns the question to the person about a machine that asks for this.
    pub(super) async fn machine_question(
        &self,
        subject: &str,
        client_id: &str,
        asked: &Access,
    ) -> Result<MachineQuestion, DbErr> {
        let known = given(&self.db, subject, client_id).await?;
        Ok(MachineQuestion::new(scope::rights(&asked.scope), self.opens_api(asked), &known))
    }

    /// Returns the person's earlier consent to the client, at this address.
    pub(super) async fn consent(&self, subject: &str, to: &Recipient<'_>) -> Result<Option<Model>, DbErr> {
        at(subject, to).one(&self.db).await
    }

    /// Returns how much the person allows the client, if they have been asked at any address.
    pub(super) async fn allowance(&self, subject: &str, client_id: &str) -> Result<Option<Allowance>, DbErr> {
        Ok(allowed(&given(&self.db, subject, client_id).await?))
    }

    /// Returns whether the person has allowed the client this before, at this address. In a transaction, the consent stays until its end.
    pub(super) async fn is_remembered(
        &self,
        db: &impl ConnectionTrait,
        subject: &str,
        to: &Recipient<'_>,
        asked: &Access,
    ) -> Result<bool, DbErr> {
        let known = at(subject, to).lock(LockType::KeyShare).one(db).await?;
        let covers =
            |known: Model| scope::includes(&known.scope, &asked.scope) && (known.opens_api || !self.opens_api(asked));
        Ok(known.is_some_and(covers))
    }

    /// Remembers that the person allowed the client this at this address, beside what was allowed before. Returns how much of it the client
    /// may do from now on.
    pub(super) async fn remember_consent(
        &self,
        tx: &Transaction,
        subject: &str,
        to: &Recipient<'_>,
        asked: &Access,
        choice: Choice,
    ) -> Result<Allowance, DbErr> {
        // Another page of the person may narrow it at the same time.
        let known = of_pair(subject, &to.client.id).lock(LockType::Update).all(tx).await?;
        let allowance = choice.after(allowed(&known), scope::rights(&asked.scope));
        let before = at(subject, to).one(tx).await?;
        let opens_api = self.opens_api(asked) || before.as_ref().is_some_and(|before| before.opens_api);
        let before = before.map(|before| before.scope).unwrap_or_default();
        let rights = Scopes::named(before.split(' ')).or(scope::rights(&asked.scope));
        let now = self.clock.now();
        let row = ActiveModel {
            subject: Set(subject.to_owned()),
            client_id: Set(to.client.id.clone()),
            address: Set(to.place.clone()),
            scope: Set(scope::with_rights(&format!("{before} {}", asked.scope), rights)),
            opens_api: Set(opens_api),
            allows: Set(allowance.as_str().to_owned()),
            created_at: Set(now),
            updated_at: Set(now),
        };
        let again = OnConflict::columns([Column::Subject, Column::ClientId, Column::Address])
            .update_columns([Column::Scope, Column::OpensApi, Column::UpdatedAt])
            .to_owned();
        Entity::insert(row).on_conflict(again).exec_without_returning(tx).await?;
        Entity::allow(subject, &to.client.id, allowance.as_str()).exec(tx).await?;
        Ok(allowance)
    }

    /// Returns whether the tokens are for the REST API.
    pub(super) fn opens_api(&self, asked: &Access) -> bool {
        asked.resources.is_empty() || self.settings.audiences.first().is_some_and(|api| asked.resources.contains(api))
    }
}

/// The consent of a person to a client at an address.
fn at(subject: &str, to: &Recipient<'_>) -> sea_orm::Select<Entity> {
    Entity::find_by_id((subject.to_owned(), to.client.id.clone(), to.place.clone()))
}

/// The consents of a person to a client at all its addresses.
async fn given(db: &impl ConnectionTrait, subject: &str, client_id: &str) -> Result<Vec<Model>, DbErr> {
    of_pair(subject, client_id).all(db).await
}

fn of_pair(subject: &str, client_id: &str) -> sea_orm::Select<Entity> {
    Entity::of_subject(subject).filter(Column::ClientId.eq(client_id))
}

/// The scopes of the API that the client asked for at any address.
fn asked_before(known: &[Model]) -> Scopes {
    Scopes::named(known.iter().flat_map(|known| known.scope.split(' ')))
}

/// Returns how much the person allows the client: the narrowest choice, and no more than the client was ever asked about.
fn allowed(known: &[Model]) -> Option<Allowance> {
    let narrowest = known.iter().map(|known| Allowance::stored(&known.allows)).min();
    narrowest.map(|narrowest| narrowest.min(Allowance::covering(asked_before(known))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_widens_only_what_held_when_the_person_chose() {
        use Allowance::{Everything, Read};
        for (held, before, after) in [
            (None, None, Everything),
            (Some(Read), Some(Read), Everything),
            (Some(Everything), Some(Read), Read),
            (None, Some(Read), Read),
            (Some(Read), None, Everything),
        ] {
            let choice = Choice::OfMachine { chosen: Everything, held };
            assert_eq!(choice.after(before, Scopes::EVERY), after, "{held:?}, then {before:?}");
        }
    }
}
