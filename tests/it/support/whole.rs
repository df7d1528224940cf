//! Answers of the service, read whole.

use bytes::Bytes;
use common::bounded::{self, Unread};
use reqwest::Response;
use serde::de::DeserializeOwned;

/// Longer than any answer of a test.
const LONG: usize = 1 << 30;

/// Reads an answer to its end.
pub trait Whole: Sized {
    /// The bytes of its body.
    async fn whole_bytes(self) -> Result<Bytes, Unread>;

    /// Its body as a text. What is no text is replaced.
    async fn whole_text(self) -> Result<String, Unread> {
        Ok(String::from_utf8_lossy(&self.whole_bytes().await?).into_owned())
    }

    /// Its body, which is JSON.
    async fn whole_json<T: DeserializeOwned>(self) -> Result<T, Unread> {
        Ok(serde_json::from_slice(&self.whole_bytes().await?).unwrap())
    }
}

impl Whole for Response {
    async fn whole_bytes(self) -> Result<Bytes, Unread> {
        Box::pin(bounded::bytes(self, LONG)).await
    }
}
