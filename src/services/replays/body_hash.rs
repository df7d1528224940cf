//! Hashes JSON values, to tell whether two bodies are the same value.

use sha2::{Digest as _, Sha256};

/// The hashes of one body in the shapes of several versions of the API. A client that repeats a request after its version was
/// replaced sends the shape that the stored hash is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyHashes {
    newest: Vec<u8>,
    older: Vec<Vec<u8>>,
}

impl BodyHashes {
    /// The hash of a body as it was sent.
    #[must_use]
    pub fn of(sent: &serde_json::Value) -> Self {
        Self { newest: hash(sent), older: Vec::new() }
    }

    /// Adds the hash of the body in a newer shape.
    pub fn add(&mut self, newer: &serde_json::Value) {
        self.older.push(std::mem::replace(&mut self.newest, hash(newer)));
    }

    /// Returns whether `stored` is the hash of the body in one of its shapes.
    #[must_use]
    pub fn include(&self, stored: &[u8]) -> bool {
        self.newest == stored || self.older.iter().any(|hash| hash == stored)
    }

    /// Returns the hash of the newest shape.
    #[must_use]
    pub fn into_newest(self) -> Vec<u8> {
        self.newest
    }
}

/// Returns the hash of a JSON value. White space and the order of fields do not change it.
fn hash(value: &serde_json::Value) -> Vec<u8> {
    let mut hash = Sha256::new();
    feed(&mut hash, value);
    hash.finalize().to_vec()
}

fn feed(hash: &mut Sha256, value: &serde_json::Value) {
    use serde_json::Value;

    match value {
        Value::Null => hash.update("z"),
        Value::Bool(true) => hash.update("t"),
        Value::Bool(false) => hash.update("f"),
        Value::Number(number) => text(hash, "n", &plain(number)),
        Value::String(string) => text(hash, "s", string),
        Value::Array(items) => {
            text(hash, "a", &items.len().to_string());
            for item in items {
                feed(hash, item);
            }
        }
        Value::Object(fields) => {
            text(hash, "o", &fields.len().to_string());
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort_unstable();
            for name in names {
                text(hash, "s", name);
                feed(hash, &fields[name]);
            }
        }
    }
}

fn text(hash: &mut Sha256, kind: &str, text: &str) {
    hash.update(kind);
    hash.update((text.len() as u64).to_be_bytes());
    hash.update(text);
}

/// Writes equal numbers alike: `1`, `1.0` and `1e0`, and also `0` and `-0`.
fn plain(number: &serde_json::Number) -> String {
    match number.as_f64() {
        // Adding a positive zero turns a negative zero into a positive one.
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e20 => format!("{:.0}", float + 0.0),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(text: &str) -> Vec<u8> {
        hash(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn a_body_is_the_same_in_each_of_its_shapes() {
        let (sent, newer, other) = (json!({ "label": "x" }), json!({ "name": "x" }), json!({ "name": "y" }));
        let mut hashes = BodyHashes::of(&sent);
        assert!(hashes.include(&hash(&sent)) && !hashes.include(&hash(&newer)));
        hashes.add(&newer);
        assert!(hashes.include(&hash(&sent)) && hashes.include(&hash(&newer)) && !hashes.include(&hash(&other)));
        assert_eq!(hashes.into_newest(), hash(&newer));
    }

    #[test]
    fn the_same_value_has_the_same_hash_and_another_value_another() {
        let same =
            [r#"{"a":1,"b":[true,null]}"#, r#" { "b" : [ true , null ], "a" : 1.0 } "#, r#"{"b":[true,null],"a":1e0}"#];
        assert!(same.iter().all(|text| of(text) == of(same[0])));
        let others = [
            r#"{"a":"1","b":[true,null]}"#,
            r#"{"a":1,"b":[null,true]}"#,
            r#"{"a":1,"b":[true]}"#,
            r#"{"a":1}"#,
            r#"{"a":1,"b":[true,null],"c":null}"#,
            r#"["a",1]"#,
        ];
        let mut hashes: Vec<_> = others.iter().chain(&same[..1]).map(|text| of(text)).collect();
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), others.len() + 1);
        assert_eq!(hash(&json!("é")), of(r#""\u00e9""#));
        assert!(of("0") == of("-0") && of("0") == of("-0.0") && of("10000000000000000000") == of("1e19"));
    }
}
