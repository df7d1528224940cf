//! Decides which replica asks for a reading that several want. A state machine without time and connection of its own.
//!
//! The owner of the claim asks the search engine. The others look for the reading from time to time. If the owner is not heard of any
//! more, one of them takes its claim over. What a former owner brings later is not stored, because its claim is gone. Claims save
//! requests; that figures are right does not depend on them.

use std::time::Duration;

use tokio::time::Instant;

/// The hurry of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// Takes over the claim of somebody who is in less of a hurry.
    Soon,
    /// Waits for anybody.
    Later,
}

/// The claim of a reading: who reads it, and which of the owner's claims it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Claim {
    /// The text in Redis.
    pub text: String,
}

impl Claim {
    /// The claim `number` of the replica `owner`.
    pub fn new(owner: &str, urgency: Urgency, number: u64) -> Self {
        Self { text: format!("C{}{owner}:{number}", u8::from(urgency == Urgency::Later)) }
    }

    /// The replica that owns it.
    pub fn owner(&self) -> &str {
        self.text.get(2..).and_then(|rest| rest.split_once(':')).map_or("", |(owner, _)| owner)
    }
}

/// The value at the key of a reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen<V> {
    /// Nothing.
    Nothing,
    /// A claim.
    Claimed(Claim),
    /// A mark of a failure a moment ago.
    Failed,
    /// The reading.
    Reading(V),
    /// Something that is of no use, such as a reading that has expired.
    Useless(Vec<u8>),
}

/// An event.
#[derive(Debug)]
pub enum Event<V> {
    /// An attempt to claim found this, which is the own claim if it succeeded.
    Claimed(Seen<V>),
    /// A look found this.
    Looked(Seen<V>),
    /// The owner lives, or does not.
    Owner { lives: bool },
    /// An attempt to take over succeeded, or did not.
    TookOver(bool),
    /// Redis is away.
    Away,
}

/// The next step.
#[derive(Debug, PartialEq, Eq)]
pub enum Step<V> {
    /// Try to claim the reading.
    Claim,
    /// Look after a pause.
    Look,
    /// Find out whether the owner of this claim lives.
    AskForOwner(Claim),
    /// Take over from this claim.
    TakeOver(Claim),
    /// Claim the place of something useless.
    Replace(Vec<u8>),
    /// Ask the search engine as the owner of the claim.
    Own,
    /// Ask the search engine without a claim.
    Alone,
    /// Take the reading.
    Take(V),
    /// Fail, as the owner did.
    Fail,
}

/// Two looks at the owner that find it missing are at least so far apart.
const MISSING: Duration = Duration::from_millis(600);

/// The time between two looks at the owner.
const OWNER_EVERY: Duration = Duration::from_millis(300);

/// Somebody who wants a reading.
#[derive(Debug)]
pub struct Wanting {
    me: Claim,
    /// The time for which an owner may be missing.
    patience: Duration,
    /// The claim of another, and since when its owner is missing.
    watched: Option<(Claim, Option<Instant>)>,
    looked_at: Option<Instant>,
}

impl Wanting {
    /// Somebody with the claim `me`. An owner who is missing for `patience` loses the claim.
    pub fn new(me: Claim, patience: Duration) -> Self {
        Self { me, patience: patience.max(MISSING), watched: None, looked_at: None }
    }

    /// Decides what to do after an event.
    pub fn after<V>(&mut self, event: Event<V>, now: Instant) -> Step<V> {
        match event {
            Event::Away => Step::Alone,
            Event::Claimed(Seen::Nothing) | Event::Looked(Seen::Nothing) => Step::Claim,
            Event::Claimed(seen) | Event::Looked(seen) => self.seen(seen, now),
            Event::Owner { lives } => self.owner(lives, now),
            Event::TookOver(true) => Step::Own,
            Event::TookOver(false) => Step::Look,
        }
    }

    fn seen<V>(&mut self, seen: Seen<V>, now: Instant) -> Step<V> {
        let claim = match seen {
            Seen::Reading(reading) => return Step::Take(reading),
            Seen::Failed => return Step::Fail,
            Seen::Useless(bytes) => return Step::Replace(bytes),
            Seen::Nothing => return Step::Claim,
            Seen::Claimed(claim) if claim == self.me => return Step::Own,
            Seen::Claimed(claim) => claim,
        };
        if self.watched.as_ref().is_none_or(|(watched, _)| *watched != claim) {
            self.watched = Some((claim, None));
            self.looked_at = Some(now);
            return Step::Look;
        }
        if self.looked_at.is_some_and(|looked_at| now - looked_at < OWNER_EVERY) {
            return Step::Look;
        }
        self.looked_at = Some(now);
        Step::AskForOwner(claim)
    }

    fn owner<V>(&mut self, lives: bool, now: Instant) -> Step<V> {
        let Some((claim, missing_since)) = &mut self.watched else { return Step::Look };
        if lives {
            *missing_since = None;
            return Step::Look;
        }
        let since = *missing_since.get_or_insert(now);
        if now - since < self.patience {
            return Step::Look;
        }
        let claim = claim.clone();
        self.watched = None;
        Step::TakeOver(claim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(owner: &str) -> Claim {
        Claim::new(owner, Urgency::Soon, 1)
    }

    fn wanting() -> Wanting {
        Wanting::new(claim("me"), Duration::ZERO)
    }

    #[test]
    fn a_claim_names_its_owner() {
        assert_eq!(Claim::new("0123456789abcdef", Urgency::Later, 42).text, "C10123456789abcdef:42");
        assert_eq!(Claim::new("0123456789abcdef", Urgency::Soon, 42).owner(), "0123456789abcdef");
    }

    #[test]
    fn the_owner_asks_and_others_take_what_it_brings() {
        let (mut one, now) = (wanting(), Instant::now());
        assert_eq!(one.after::<u8>(Event::Claimed(Seen::Claimed(claim("me"))), now), Step::Own);
        let mut other = wanting();
        assert_eq!(other.after::<u8>(Event::Claimed(Seen::Claimed(claim("you"))), now), Step::Look);
        assert_eq!(other.after(Event::Looked(Seen::Reading(7)), now), Step::Take(7));
        assert_eq!(other.after::<u8>(Event::Looked(Seen::Nothing), now), Step::Claim, "the owner gave up");
        assert_eq!(other.after::<u8>(Event::Looked(Seen::Failed), now), Step::Fail);
        assert_eq!(other.after::<u8>(Event::Away, now), Step::Alone);
    }

    #[test]
    fn an_owner_that_is_missing_twice_loses_the_claim() {
        let (mut one, begun) = (wanting(), Instant::now());
        let seen = || Event::<u8>::Looked(Seen::Claimed(claim("you")));
        let at = |ms| begun + Duration::from_millis(ms);
        assert_eq!(one.after(seen(), at(0)), Step::Look);
        assert_eq!(one.after(seen(), at(100)), Step::Look);
        assert_eq!(one.after(seen(), at(300)), Step::AskForOwner(claim("you")));
        assert_eq!(one.after::<u8>(Event::Owner { lives: false }, at(300)), Step::Look);
        assert_eq!(one.after(seen(), at(600)), Step::AskForOwner(claim("you")));
        assert_eq!(one.after::<u8>(Event::Owner { lives: false }, at(600)), Step::Look);
        assert_eq!(one.after(seen(), at(900)), Step::AskForOwner(claim("you")));
        assert_eq!(one.after::<u8>(Event::Owner { lives: false }, at(900)), Step::TakeOver(claim("you")));
        assert_eq!(one.after::<u8>(Event::TookOver(false), at(900)), Step::Look);
    }

    #[test]
    fn a_sign_of_life_and_a_new_owner_begin_the_watch_anew() {
        let (mut one, begun) = (wanting(), Instant::now());
        let seen = |owner| Event::<u8>::Looked(Seen::Claimed(claim(owner)));
        let at = |ms| begun + Duration::from_millis(ms);
        one.after(seen("you"), at(0));
        one.after(seen("you"), at(300));
        one.after::<u8>(Event::Owner { lives: false }, at(300));
        one.after(seen("you"), at(600));
        one.after::<u8>(Event::Owner { lives: true }, at(600));
        one.after(seen("you"), at(1_000));
        assert_eq!(one.after::<u8>(Event::Owner { lives: false }, at(1_000)), Step::Look);
        assert_eq!(one.after(seen("third"), at(1_400)), Step::Look);
        assert_eq!(one.after(seen("third"), at(1_800)), Step::AskForOwner(claim("third")));
        assert_eq!(one.after::<u8>(Event::Owner { lives: false }, at(1_800)), Step::Look);
    }
}
