//! The scripts in Rust, over maps instead of a server, with the time as an argument. The tests in `scripts.rs` hold them against the
//! scripts, and `schedule.rs` runs thousands of schedules over them.

use std::collections::HashMap;

/// A server. Times are microseconds.
#[derive(Debug, Clone, Default)]
pub struct Server {
    values: HashMap<String, (String, i64)>,
    full_at: HashMap<String, f64>,
    buckets: HashMap<String, Bucket>,
    in_flight: HashMap<String, HashMap<String, f64>>,
    /// Of requests that have passed when they start, and of those that have left nothing. Each until a time.
    marks: HashMap<String, (Option<f64>, f64)>,
    /// The place and the end of the lease of each name in the line of the gate.
    line: HashMap<String, (f64, f64)>,
    /// The last places of persons.
    persons: HashMap<String, f64>,
}

/// A place in the line, as `enter.lua` takes it. Times are microseconds.
#[derive(Debug, Clone)]
pub struct Place {
    pub name: String,
    pub late: f64,
    pub lease: f64,
    pub person: String,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    level: f64,
    at: f64,
    burst: f64,
    rate: f64,
    halved: Option<f64>,
}

impl Server {
    /// Everything is gone.
    pub fn wipe(&mut self) {
        *self = Self::default();
    }

    /// The value at a place.
    pub fn get(&self, name: &str, now: i64) -> Option<&str> {
        self.values.get(name).filter(|(_, until)| *until > now).map(|(value, _)| value.as_str())
    }

    /// Sets a value.
    pub fn set(&mut self, name: &str, value: &str, lasts_ms: i64, now: i64) {
        self.values.insert(name.to_owned(), (value.to_owned(), now + lasts_ms * 1_000));
    }

    /// `claim.lua`
    pub fn claim(&mut self, name: &str, claim: &str, lasts_ms: i64, is_urgent: bool, now: i64) -> String {
        match self.get(name, now) {
            Some(held) if !(is_urgent && held.starts_with("C1")) => held.to_owned(),
            _ => {
                self.set(name, claim, lasts_ms, now);
                claim.to_owned()
            }
        }
    }

    /// `swap.lua`
    pub fn swap(&mut self, name: &str, expected: &str, or_missing: bool, new: &str, lasts_ms: i64, now: i64) -> bool {
        let held = self.get(name, now);
        if held != Some(expected) && !(or_missing && held.is_none()) {
            return false;
        }
        if new.is_empty() {
            self.values.remove(name);
        } else {
            self.set(name, new, lasts_ms, now);
        }
        true
    }

    /// `limit.lua`
    pub fn limit(&mut self, name: &str, interval: f64, window: f64, now: f64) -> (bool, f64, f64) {
        let full = self.full_at.get(name).copied().unwrap_or(now).clamp(now, now + window);
        let counted = full + interval;
        if counted - now > window {
            self.full_at.insert(name.to_owned(), full);
            return (false, full, counted - now - window);
        }
        self.full_at.insert(name.to_owned(), counted);
        (true, counted, 0.0)
    }

    /// `enter.lua` with buckets of greatest burst, greatest rate and first share, and sets of greatest size. There is one line.
    pub fn enter(
        &mut self,
        (request, place): (&str, &Place),
        buckets: &[(&str, f64, f64, f64)],
        sets: &[(&str, usize)],
        ahead: f64,
        lasts: f64,
        now: f64,
    ) -> (i8, f64) {
        match self.marks.get(request).filter(|(_, until)| *until > now) {
            Some((Some(starts), _)) => return (1, (starts - now).max(0.0)),
            Some((None, _)) => return (0, 0.0),
            None => {}
        }
        let mut drained = Vec::new();
        for (name, burst, rate, share) in buckets {
            let mut own = self.buckets.get(*name).copied().unwrap_or(Bucket {
                level: 0.0,
                at: now,
                burst: (burst * share).max(1.0),
                rate: rate * share,
                halved: None,
            });
            (own.burst, own.rate) = (own.burst.min(*burst), own.rate.min(*rate));
            own.drain(now);
            drained.push((*name, own));
        }
        let rate = drained.first().map_or(f64::INFINITY, |(_, own)| own.rate);
        let before = self.before(place, rate, now);
        let excess = |own: &Bucket| own.level + 1.0 + before - own.burst;
        let late = drained.iter().filter(|(_, own)| excess(own) > 0.000_001);
        let opens = late.map(|(_, own)| now + (excess(own) / own.rate * 1e6).ceil()).fold(now, f64::max);
        let is_full = sets.iter().any(|(name, most)| {
            let set = self.in_flight.entry((*name).to_owned()).or_default();
            set.retain(|_, until| *until > now);
            set.len() as f64 + before >= *most as f64
        });
        if is_full || opens - now > ahead {
            self.line.get_mut(&place.name).unwrap().1 = now + place.lease;
            return if is_full { (-1, before) } else { (0, opens - now) };
        }
        self.line.remove(&place.name);
        for (name, own) in drained {
            self.buckets.insert(name.to_owned(), Bucket { level: own.level + 1.0, ..own });
        }
        for (name, _) in sets {
            self.in_flight.entry((*name).to_owned()).or_default().insert(request.to_owned(), opens + lasts);
        }
        self.marks.insert(request.to_owned(), (Some(opens), opens + lasts));
        (1, opens - now)
    }

    /// Takes a place in the line. Returns how many are before it.
    fn before(&mut self, place: &Place, rate: f64, now: f64) -> f64 {
        self.line.retain(|_, (_, until)| *until > now);
        let mut own = now + place.late;
        if !place.person.is_empty() {
            self.persons.retain(|_, last| *last > now - 1e6);
            if let Some(last) = self.persons.get(&place.person) {
                own = own.max((last + 2e6 / rate).min(now + 2e6));
            }
            self.persons.insert(place.person.clone(), own.max(now - 1e6));
        }
        let own = self.line.entry(place.name.clone()).or_insert((own, f64::INFINITY)).0;
        // The name decides between two at one place: numbers of the same length.
        let earlier = self.line.iter().filter(|(name, (at, _))| (*at, *name) < (own, &place.name));
        earlier.count() as f64
    }

    /// `leave.lua`
    pub fn leave(&mut self, request: &str, buckets: &[&str], sets: &[&str], lasts: f64, now: f64) {
        if !buckets.is_empty() {
            let has_passed = self.marks.get(request).is_some_and(|(starts, until)| starts.is_some() && *until > now);
            for name in buckets.iter().filter(|_| has_passed) {
                if let Some(bucket) = self.buckets.get_mut(*name) {
                    bucket.level = (bucket.level - 1.0).max(0.0);
                }
            }
            self.marks.insert(request.to_owned(), (None, now + lasts));
        }
        for name in sets {
            if let Some(set) = self.in_flight.get_mut(*name) {
                set.remove(request);
            }
        }
    }

    /// `adapt.lua`
    pub fn adapt(&mut self, buckets: &[(&str, f64, f64)], success: bool, started: f64, now: f64) -> bool {
        let mut halved = false;
        for (name, burst, rate) in buckets {
            let Some(own) = self.buckets.get_mut(*name) else { continue };
            let calm = if success { 60e6 } else { 1e6 };
            if own.halved.is_some_and(|halved| started < halved + calm) {
                continue;
            }
            own.drain(now);
            if success {
                own.burst = (own.burst + burst / 64.0).min(*burst);
                own.rate = (own.rate + rate / 64.0).min(*rate);
            } else {
                own.burst = (own.burst / 2.0).max(burst / 16.0).max(1.0);
                own.rate = (own.rate / 2.0).max(rate / 16.0);
                own.halved = Some(now);
                halved = true;
            }
        }
        halved
    }
}

impl Server {
    /// Takes the level of a bucket over from a server, after checking that it is the model's but for a moment's draining.
    pub fn correct(&mut self, name: &str, level: f64, at: f64, (burst, rate): (f64, f64)) {
        let own = self.buckets.get_mut(name).unwrap();
        assert!((own.level - level).abs() < 1.0, "{own:?} {level}");
        assert!((own.burst - burst).abs() < 1e-6 && (own.rate - rate).abs() < 1e-6, "{own:?} {burst} {rate}");
        (own.level, own.at) = (level, at);
    }
}

impl Bucket {
    fn drain(&mut self, now: f64) {
        self.level = (self.level - self.rate * (now - self.at).max(0.0) / 1e6).max(0.0);
        self.at = self.at.max(now);
    }
}
