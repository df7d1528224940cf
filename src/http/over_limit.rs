//! Refuses requests on connections over the limit of their address.

use std::sync::Arc;

use api::error::{ApiError, Code};
use poem::{Endpoint, IntoResponse, Request, Response, Result};

use crate::server::OverLimit;

/// The value of `Retry-After`, in seconds.
const SOON: u64 = 1;

/// The layer. A body is read before, because a client that is still sending would get a closed connection instead of the answer.
///
/// # Errors
/// 429, and the errors of the inner layers.
pub async fn refuse<E: Endpoint>(next: Arc<E>, request: Request) -> Result<Response> {
    if let Some(OverLimit(most)) = request.data() {
        let hint = format!(
            "{most} connections of this address are open, and it may have no more. Close some, or send requests over those that are open."
        );
        return Err(ApiError::new(Code::RateLimited).hint(hint).retry_after(SOON).into());
    }
    next.call(request).await.map(IntoResponse::into_response)
}
