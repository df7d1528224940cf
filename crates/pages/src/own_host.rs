//! Refuses requests to sign-in pages that were sent to a foreign host name.
//!
//! An attacker's page can make its own name resolve to 127.0.0.1 (DNS rebinding). A browser then treats a service on this
//! machine as part of that page. The requested name is still in `Host`. A service with a public `base_url` is not checked:
//! its certificate keeps foreign names away, and proxies may rewrite `Host`.

use common::{base_url::BaseUrl, urls::is_loopback};
use poem::{
    Endpoint, EndpointExt, IntoResponse, Request, Response,
    http::{StatusCode, header::HOST},
};
use url::Url;

/// Restricts `endpoint` to requests for the host of `base_url`, if that host is this machine.
pub fn on_own_host(
    endpoint: impl Endpoint + 'static,
    base_url: &BaseUrl,
) -> impl Endpoint<Output = Response> + 'static {
    let base_url = base_url.clone();
    endpoint.around(move |endpoint, request: Request| {
        let refusal = (!is_for(&base_url, &request)).then(|| misdirected(&base_url));
        async move {
            match refusal {
                Some(refusal) => Ok(refusal),
                None => endpoint.call(request).await.map(IntoResponse::into_response),
            }
        }
    })
}

/// Returns whether `request` was sent to the host of `base`. Only a host on this machine is checked.
#[must_use]
pub fn is_for(base: &BaseUrl, request: &Request) -> bool {
    !base.is_loopback() || is_addressed(base.url(), &names(request))
}

/// Returns the address of `request` at `base`, if it was sent to another name of this machine, such as `localhost` for `127.0.0.1`. Browsers keep
/// the cookies of the two apart.
#[must_use]
pub fn under_base(base: &BaseUrl, request: &Request) -> Option<String> {
    let is_base = |name: &&str| name.eq_ignore_ascii_case(base.url().authority());
    let differs = base.is_loopback() && !names(request).iter().all(is_base);
    differs.then(|| base.join(request.original_uri().path_and_query().map_or("/", |path| path.as_str())))
}

/// Returns every host name in a request: in `Host`, and in the request target (the only place in HTTP/2).
fn names(request: &Request) -> Vec<&str> {
    let lines = request.headers().get_all(HOST).iter().map(|line| line.to_str().unwrap_or_default());
    lines.chain(request.uri().authority().map(poem::http::uri::Authority::as_str)).collect()
}

/// Returns whether there is at least one name, and all `names` are loopback names with the port of `base`.
fn is_addressed(base: &Url, names: &[&str]) -> bool {
    let is_own = |name: &&str| {
        let plain = !name.is_empty() && !name.contains(['/', '\\', '?', '#', '@']);
        let is_equal = || {
            Url::parse(&format!("{}://{name}/", base.scheme()))
                .is_ok_and(|url| is_loopback(&url) && url.port_or_known_default() == base.port_or_known_default())
        };
        // Most names are spelled as in the settings, and reading an address takes longer than a layer.
        plain && (*name == base.authority() || is_equal())
    };
    !names.is_empty() && names.iter().all(is_own)
}

fn misdirected(base_url: &BaseUrl) -> Response {
    let text = format!(
        "This service is at {base_url}. Open it by that address, or set base_url to the one you use (and identity.issuer, where others reach it)."
    );
    let response = Response::builder().status(StatusCode::MISDIRECTED_REQUEST);
    response.content_type("text/plain; charset=utf-8").header("Cache-Control", "no-store").body(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_names_with_the_services_port_are_its_own() {
        let cases: [(&str, &[&str], bool); 14] = [
            ("http://127.0.0.1:8080", &["127.0.0.1:8080"], true),
            ("http://127.0.0.1:8080", &["localhost:8080"], true),
            ("http://localhost:8080", &["[::1]:8080"], true),
            ("http://localhost:8080", &["127.0.0.1:8080", "localhost:8080"], true),
            ("http://localhost", &["LOCALHOST"], true),
            ("http://localhost", &["localhost:80"], true),
            ("http://127.0.0.1:8080", &["localhost"], false),
            ("http://127.0.0.1:8080", &["localhost:8081"], false),
            ("http://127.0.0.1:8080", &["rebind.example:8080"], false),
            ("http://127.0.0.1:8080", &["localhost.rebind.example:8080"], false),
            ("http://127.0.0.1:8080", &["localhost:8080", "rebind.example:8080"], false),
            ("http://127.0.0.1:8080", &["localhost:8080@rebind.example"], false),
            ("http://127.0.0.1:8080", &[""], false),
            ("http://127.0.0.1:8080", &[], false),
        ];
        for (base, names, own) in cases {
            assert_eq!(is_addressed(&Url::parse(base).unwrap(), names), own, "{base} {names:?}");
        }
    }
}
