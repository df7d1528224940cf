//! `OPTIONS` on a path of the API: which methods it answers, for anyone. Scripts of other origins get no permission by it.

use poem::{
    Endpoint, IntoResponse, Middleware, Request, Response, Result,
    http::{Method, StatusCode, header},
};

use super::refusal;

/// The middleware. It stands in front of authentication.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options;

/// See [`Options`].
pub struct OptionsEndpoint<E>(E);

impl<E: Endpoint> Middleware<E> for Options {
    type Output = OptionsEndpoint<E>;

    fn transform(&self, inner: E) -> Self::Output {
        OptionsEndpoint(inner)
    }
}

impl<E: Endpoint> Endpoint for OptionsEndpoint<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let allow = refusal::allow(request.uri().path(), &[]);
        if *request.method() != Method::OPTIONS || allow.is_empty() {
            return self.0.call(request).await.map(IntoResponse::into_response);
        }
        Ok(Response::builder().status(StatusCode::NO_CONTENT).header(header::ALLOW, allow).finish())
    }
}
