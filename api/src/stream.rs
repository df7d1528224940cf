//! JSON that is written value by value, so that a large answer is never in memory as a whole.

pub use poem_openapi::types::ToJSON;

/// An object under construction. Its bytes are taken away as they are sent.
#[derive(Debug, Default)]
pub struct JsonWriter {
    bytes: Vec<u8>,
    /// True if the next name or item follows another one.
    follows: bool,
}

impl JsonWriter {
    /// Takes the bytes that were written since the last call.
    #[must_use]
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// The number of bytes that wait to be taken.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.bytes.len()
    }

    /// Begins an object, as the next item or as the value of the last name.
    pub fn begin_object(&mut self) {
        self.begin(b'{');
    }

    /// Ends the innermost object.
    pub fn end_object(&mut self) {
        self.end(b'}');
    }

    /// Begins an array, as the value of the last name.
    pub fn begin_array(&mut self) {
        self.begin(b'[');
    }

    /// Ends the innermost array.
    pub fn end_array(&mut self) {
        self.end(b']');
    }

    /// Writes the name of the next value. It must need no escaping.
    pub fn name(&mut self, name: &'static str) {
        self.separate();
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.extend_from_slice(b"\":");
        self.follows = false;
    }

    /// Writes a value, as the next item or as the value of the last name.
    pub fn value(&mut self, value: &impl ToJSON) {
        self.separate();
        self.bytes.extend_from_slice(value.to_json_string().as_bytes());
        self.follows = true;
    }

    /// Writes a name and its value.
    pub fn field(&mut self, name: &'static str, value: &impl ToJSON) {
        self.name(name);
        self.value(value);
    }

    fn begin(&mut self, bracket: u8) {
        self.separate();
        self.bytes.push(bracket);
        self.follows = false;
    }

    fn end(&mut self, bracket: u8) {
        self.bytes.push(bracket);
        self.follows = true;
    }

    fn separate(&mut self) {
        if self.follows {
            self.bytes.push(b',');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_separated_however_they_are_taken() {
        let (mut writer, mut text) = (JsonWriter::default(), Vec::new());
        writer.begin_object();
        writer.field("a", &"x\"y".to_owned());
        writer.name("b");
        writer.begin_array();
        for number in [1, 2] {
            writer.begin_object();
            writer.field("n", &number);
            writer.end_object();
            text.extend(writer.take());
        }
        writer.end_array();
        for empty in ["c", "d"] {
            writer.name(empty);
            writer.begin_array();
            writer.end_array();
        }
        writer.end_object();
        text.extend(writer.take());
        assert_eq!(String::from_utf8(text).unwrap(), r#"{"a":"x\"y","b":[{"n":1},{"n":2}],"c":[],"d":[]}"#);
        assert_eq!(writer.waiting(), 0);
    }
}
