//! JSON of other servers.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error as _, MapAccess, Visitor, value::MapAccessDeserializer},
};

/// A struct that is read from a JSON object only. Without it a struct is also read from a list of its fields, so that an empty list would be a
/// struct of defaults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(fields)).map(Object)
            }
        }

        deserializer.deserialize_map(Fields(PhantomData))
    }
}

/// Returns a text without the byte order mark that some servers write before it (RFC 8259, section 8.1).
#[must_use]
pub fn unmarked(body: &[u8]) -> &[u8] {
    body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body)
}

/// Reads a JSON object.
///
/// # Errors
/// `body` is something else.
pub fn object<T: DeserializeOwned>(body: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice::<Object<T>>(unmarked(body)).map(|object| object.0)
}

/// Reads a field that is an object, for `#[serde(deserialize_with)]`.
///
/// # Errors
/// The field is something else, or null.
pub fn field<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    Object::deserialize(deserializer).map(|object| object.0)
}

/// Reads a field that is a list of objects, for `#[serde(deserialize_with)]`. Null is an empty list.
///
/// # Errors
/// The field is something else, or one of its items is.
pub fn list<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let items = Option::<Vec<Object<T>>>::deserialize(deserializer)?;
    Ok(items.into_iter().flatten().map(|object| object.0).collect())
}

/// The field `error` of an answer that has none, for `#[serde(default)]`. Null is none. Reading an error fails, and the text quotes its beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NoError;

impl<'de> Deserialize<'de> for NoError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::Null => Ok(Self),
            error => {
                let said: String = error.to_string().chars().take(200).collect();
                Err(D::Error::custom(format_args!("it is an error: {said}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner {
        #[serde(default)]
        number: u8,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Outer {
        #[serde(default)]
        error: NoError,
        #[serde(default, deserialize_with = "list")]
        items: Vec<Inner>,
        #[serde(default = "seven", deserialize_with = "field")]
        inner: Inner,
    }

    fn seven() -> Inner {
        Inner { number: 7 }
    }

    #[test]
    fn a_list_is_no_object_of_defaults() {
        let read = |text: &str| object::<Outer>(text.as_bytes()).ok();
        let outer = |items, number| Outer { error: NoError, items, inner: Inner { number } };
        let cases = [
            ("{}", Some(outer(vec![], 7))),
            (r#"{"error":null,"new":[1]}"#, Some(outer(vec![], 7))),
            (r#"{"items":[],"inner":{}}"#, Some(outer(vec![], 0))),
            (
                r#"{"items":[{"number":1},{}],"inner":{"number":2}}"#,
                Some(outer(vec![Inner { number: 1 }, Inner { number: 0 }], 2)),
            ),
            (r#"{"items":null}"#, Some(outer(vec![], 7))),
            (r#"{"items":{}}"#, None),
            (r#"{"items":[[]]}"#, None),
            (r#"{"items":[null]}"#, None),
            (r#"{"inner":[]}"#, None),
            (r#"{"inner":null}"#, None),
            (r#"{"error":"x"}"#, None),
            (r#"{"error":{}}"#, None),
            (r#"{"error":false}"#, None),
            ("\u{feff}{}", Some(outer(vec![], 7))),
            ("\u{feff}\u{feff}{}", None),
            ("{\u{feff}}", None),
            ("[]", None),
            ("[null,[],{}]", None),
            ("null", None),
            ("\"{}\"", None),
            ("7", None),
            ("", None),
            ("{", None),
            ("{}{}", None),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), expected, "{text}");
        }
        let said = object::<Outer>(br#"{"error":{"code":500}}"#).unwrap_err().to_string();
        assert!(said.starts_with(r#"it is an error: {"code":500}"#), "{said}");
    }
}
