//! JSON as clients send it. An object has each of its fields once: parsers disagree on which of two counts.

use std::fmt::{self, Write as _};

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::plain_text::shortened;

/// A path to a fault, such as `filters[2].operator`, and what is wrong there.
pub type Fault = (String, String);

/// Parses JSON text. A byte order mark before it is ignored (RFC 8259 section 8.1).
///
/// # Errors
/// The field that is given twice, by its path such as `filters[2].operator`, or an empty path where the text stops being JSON.
pub fn parse(text: &[u8]) -> Result<Value, Fault> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut path = String::new();
    let mut reader = serde_json::Deserializer::from_slice(text);
    let read = Strict { path: &mut path }.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    read.map_err(|error| {
        // Every value is taken, so nothing else can be wrong with the data.
        if error.is_data() {
            (path, "is given twice; send it once".to_owned())
        } else {
            (String::new(), not_json(&error))
        }
    })
}

/// Describes the position at which the text stops being JSON, without the parser's wording.
fn not_json(error: &serde_json::Error) -> String {
    // The parser tells these apart by its wording only.
    let said = error.to_string();
    let what = if error.is_eof() {
        "ends too early"
    } else if said.starts_with("number out of range") {
        "has a number that is too large"
    } else if said.starts_with("recursion limit exceeded") {
        "is nested too deeply"
    } else {
        "is not JSON in UTF-8"
    };
    format!("{what} at line {}, column {}", error.line(), error.column())
}

/// Reads a value at a path. After a failure, the path is that of the failure.
struct Strict<'p> {
    path: &'p mut String,
}

impl Strict<'_> {
    /// Reads the value at the path and `segment` below it.
    fn below<T, E>(
        &mut self,
        segment: fmt::Arguments<'_>,
        read: impl FnOnce(Strict<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let length = self.path.len();
        let _ = self.path.write_fmt(segment);
        let value = read(Strict { path: self.path })?;
        self.path.truncate(length);
        Ok(value)
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Value, A::Error> {
        let mut found = Vec::new();
        while let Some(item) =
            self.below(format_args!("[{}]", found.len()), |strict| items.next_element_seed(strict))?
        {
            found.push(item);
        }
        Ok(Value::Array(found))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<Value, A::Error> {
        let mut found = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            let dot = if self.path.is_empty() { "" } else { "." };
            let value = self.below(format_args!("{dot}{}", shortened(&name)), |strict| {
                if found.contains_key(&name) {
                    return Err(A::Error::custom("given twice"));
                }
                fields.next_value_seed(strict)
            })?;
            found.insert(name, value);
        }
        Ok(Value::Object(found))
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};
    use serde_json::json;

    use super::*;

    fn refused(text: &str) -> String {
        let (path, what) = parse(text.as_bytes()).unwrap_err();
        format!("{path}: {what}")
    }

    #[test]
    fn a_field_that_is_given_twice_is_named_at_any_depth() {
        for (text, path) in [
            (r#"{"text":"a","text":"b"}"#, "text"),
            (r#"{"text":"a","te\u0078t":"a"}"#, "text"),
            (r#"{"a":1,"b":[{},{"c":{"d":1,"e":2,"d":3}}],"a":1}"#, "b[1].c.d"),
            (r#"[[{"a":null,"a":null}]]"#, "[0][0].a"),
            (r#"{"a":{"b":1},"c":{"b":1},"c":1}"#, "c"),
        ] {
            assert_eq!(refused(text), format!("{path}: is given twice; send it once"), "{text}");
        }
        let long = "x".repeat(1000);
        assert!(refused(&format!(r#"{{"{long}":1,"{long}":1}}"#)).starts_with(&format!("{}: is", &long[..64])));
    }

    #[test]
    fn invalid_json_is_refused_with_its_position() {
        for (text, said) in [
            ("{", ": ends too early at line 1, column 1"),
            ("{\"a\":\n nope}", ": is not JSON in UTF-8 at line 2, column 3"),
            (r#"{"a":1} x"#, ": is not JSON in UTF-8 at line 1, column 9"),
            (r#"{"a":1e400}"#, ": has a number that is too large at line 1, column 10"),
            (r#"{"a":1,"a" 2}"#, "a: is given twice; send it once"),
        ] {
            assert_eq!(refused(text), said, "{text}");
        }
        let (_, wide) = parse(b"\xff\xfe{\0}\0").unwrap_err();
        assert_eq!(wide, "is not JSON in UTF-8 at line 1, column 1");
        assert!(refused(&"[".repeat(100_000)).starts_with(": is nested too deeply at line 1, column "));
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(|number| json!(number)),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                vec(inner.clone(), 0..5).prop_map(Value::Array),
                vec((any::<String>(), inner), 0..5).prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_other_value_is_read_unchanged(value in values()) {
            let text = value.to_string();
            prop_assert_eq!(parse(text.as_bytes()), Ok(serde_json::from_str(&text).unwrap()));
        }
    }
}
