//! Reads the credentials of a request, and writes the challenges of RFC 6750 and RFC 9728.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{HeaderMap, header};
use serde_json::{Map, Value};

/// The name of the session cookie over plain http.
pub use common::base_url::SESSION_COOKIE;

/// The header of tokens, as refusals name it.
const AUTHORIZATION: &str = "Authorization";

/// The credentials of a request. If an `Authorization` header is present, only that is used: a cookie never replaces a bad
/// token.
#[derive(Debug, PartialEq, Eq)]
pub enum Presented {
    /// A bearer token, possibly malformed.
    Bearer(String),
    /// The value of the session cookie.
    Session(String),
    /// No credentials.
    Nothing,
}

/// Credentials that cannot be used: more than one, or a scheme other than Bearer.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialsError {
    /// Two `Authorization` headers, or two session cookies, by the name of the header: 400 `invalid_request`.
    #[error("{0}: more than one credential")]
    Repeated(&'static str),
    /// Another scheme, or not `Bearer TOKEN`: 401.
    #[error("not a bearer token")]
    NotBearer,
}

/// Reads the credentials from a request's headers. `session_cookie` is the name of the session cookie.
pub fn presented(headers: &HeaderMap, session_cookie: &str) -> Result<Presented, CredentialsError> {
    let mut lines = headers.get_all(header::AUTHORIZATION).iter();
    match (lines.next(), lines.next()) {
        (Some(_), Some(_)) => Err(CredentialsError::Repeated(AUTHORIZATION)),
        (Some(line), None) => bearer(line.to_str().map_err(|_| CredentialsError::NotBearer)?),
        (None, _) => {
            let session = session(headers, session_cookie)?;
            Ok(session.map_or(Presented::Nothing, |value| Presented::Session(value.to_owned())))
        }
    }
}

fn bearer(line: &str) -> Result<Presented, CredentialsError> {
    let (scheme, token) = line.trim().split_once(' ').ok_or(CredentialsError::NotBearer)?;
    let token = token.trim_start_matches(' ');
    if token.contains(',') {
        // Several credentials were joined in one header.
        return Err(CredentialsError::Repeated(AUTHORIZATION));
    }
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() || !token.bytes().all(is_token) {
        return Err(CredentialsError::NotBearer);
    }
    Ok(Presented::Bearer(token.to_owned()))
}

/// Returns the value of the session cookie, whose name is `name`. Two of them are refused.
pub fn session<'a>(headers: &'a HeaderMap, name: &'a str) -> Result<Option<&'a str>, CredentialsError> {
    let mut values = cookies(headers, name);
    let first = values.next();
    if values.next().is_some() { Err(CredentialsError::Repeated("Cookie")) } else { Ok(first) }
}

/// Returns whether a request presents a well-formed JWT, valid or not: three parts in base64url, the first of them a JSON
/// object.
#[must_use]
pub fn presents_token(headers: &HeaderMap) -> bool {
    let mut lines = headers.get_all(header::AUTHORIZATION).iter().map(|line| line.to_str().map(bearer));
    let (Some(Ok(Ok(Presented::Bearer(token)))), None) = (lines.next(), lines.next()) else { return false };
    let parts: Option<Vec<Vec<u8>>> = token.split('.').map(|part| URL_SAFE_NO_PAD.decode(part).ok()).collect();
    parts.is_some_and(|parts| parts.len() == 3 && serde_json::from_slice::<Map<String, Value>>(&parts[0]).is_ok())
}

/// Returns every value of the cookie `name` in a request.
pub fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    all_cookies(headers).filter(move |(key, _)| *key == name).map(|(_, value)| value)
}

/// Returns names and values of the cookies in a request. Browsers send the oldest first (RFC 6265 section 5.4). Other services of the
/// host set cookies, too, so one that is no text spoils no other. Only ASCII white space is cut: a browser that sees another character
/// before `__Host-` does not protect the name.
pub fn all_cookies(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let pairs = headers.get_all(header::COOKIE).iter().flat_map(|line| line.as_bytes().split(|byte| *byte == b';'));
    pairs.filter_map(|pair| str::from_utf8(pair.trim_ascii()).ok()?.split_once('='))
}

/// The value of `WWW-Authenticate` for a 401 or 403 about a token.
///
/// `metadata` is the URL of the protected-resource metadata of the called API. Without credentials there is no `error` (RFC
/// 6750 section 3.1). `scope` names the scopes that a client should ask for.
#[must_use]
pub fn challenge(metadata: &str, error: Option<&str>, scope: Option<&str>) -> String {
    let error = error.map(|error| format!("error=\"{error}\""));
    let scope = scope.map(|scope| format!("scope=\"{scope}\""));
    let parameters = error.into_iter().chain(scope).chain([format!("resource_metadata=\"{metadata}\"")]);
    format!("Bearer {}", parameters.collect::<Vec<_>>().join(", "))
}

/// Returns whether the request's headers show that it comes from a page of `origin`. A page that a proxy gave a stricter referrer policy
/// has `Origin: null`, and the browser says where it is from in a header that no script can set.
#[must_use]
pub fn is_same_origin(headers: &HeaderMap, origin: &str) -> bool {
    let mut lines = headers.get_all(header::ORIGIN).iter();
    let (Some(line), None) = (lines.next(), lines.next()) else { return false };
    line.as_bytes() == origin.as_bytes() || (line == "null" && is_only(headers, "sec-fetch-site", "same-origin"))
}

/// Returns whether a header is sent once, with this value.
fn is_only(headers: &HeaderMap, name: &str, value: &str) -> bool {
    let mut lines = headers.get_all(name).iter();
    matches!((lines.next(), lines.next()), (Some(line), None) if line == value)
}

/// Returns whether the request's headers name another origin than `origin`. Browsers name none with links, nor with reads of a page's
/// own origin.
#[must_use]
pub fn is_of_another_origin(headers: &HeaderMap, origin: &str) -> bool {
    headers.contains_key(header::ORIGIN) && !is_same_origin(headers, origin)
}

/// Returns whether a browser says that the request is from another site: by a link, a form or something embedded.
#[must_use]
pub fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    headers.get_all("sec-fetch-site").iter().any(|site| ["cross-site", "same-site"].iter().any(|other| site == other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn presented(headers: &HeaderMap) -> Result<Presented, CredentialsError> {
        super::presented(headers, SESSION_COOKIE)
    }

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn an_authorization_header_is_judged_alone() {
        for scheme in ["Bearer abc.d-e_f", "bearer abc.d-e_f", "BEARER  abc.d-e_f"] {
            let request = headers(&[("authorization", scheme), ("cookie", "sightline_session=s")]);
            assert_eq!(presented(&request), Ok(Presented::Bearer("abc.d-e_f".to_owned())), "{scheme}");
        }
        for other in ["Basic YTpi", "Bearer", "Bearer ", "", "Bearer a b", "Bearer a\"b", "abc"] {
            let request = headers(&[("authorization", other), ("cookie", "sightline_session=s")]);
            assert_eq!(presented(&request), Err(CredentialsError::NotBearer), "{other}");
        }
    }

    #[test]
    fn a_token_is_known_by_its_form() {
        // {"alg":"RS256"}, 7
        let (header, number) = ("eyJhbGciOiJSUzI1NiJ9", "Nw");
        let presents = |token: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("authorization", format!("Bearer {token}").parse().unwrap());
            presents_token(&headers)
        };
        assert!(presents(&format!("{header}.e30.c2ln")));
        for other in [
            "x",
            "a.b.c",
            header,
            &format!("{header}.e30"),
            &format!("{header}.e30.c2ln.e30"),
            &format!("{number}.e30.c2ln"),
            &format!("{header}.e30.c2ln="),
        ] {
            assert!(!presents(other), "{other}");
        }
        assert!(!presents_token(&headers(&[("cookie", "sightline_session=e30.e30.e30")])));
    }

    #[test]
    fn two_of_a_kind_are_refused() {
        let twice = headers(&[("authorization", "Bearer a"), ("authorization", "Bearer b")]);
        assert_eq!(presented(&twice), Err(CredentialsError::Repeated(AUTHORIZATION)));
        let joined = headers(&[("authorization", "Bearer a, Basic b")]);
        assert_eq!(presented(&joined), Err(CredentialsError::Repeated(AUTHORIZATION)));
        let cookies = headers(&[("cookie", "sightline_session=a; sightline_session=b")]);
        assert_eq!(presented(&cookies), Err(CredentialsError::Repeated("Cookie")));
    }

    #[test]
    fn the_session_cookie_is_found_among_others() {
        let request = headers(&[("cookie", "a=1; sightline_session=s=="), ("cookie", "b=2")]);
        assert_eq!(presented(&request), Ok(Presented::Session("s==".to_owned())));
        for other in [&b"name=M\xfcller"[..], b"name=M\xc3\xbcller", b"\xff", b"=", b"a=\t", b";;"] {
            let mut request = HeaderMap::new();
            let line = [other, b"; sightline_session=s; c=3"].concat();
            request.insert("cookie", http::HeaderValue::from_bytes(&line).unwrap());
            assert_eq!(presented(&request), Ok(Presented::Session("s".to_owned())), "{other:?}");
        }
        assert_eq!(presented(&headers(&[("cookie", "xsightline_session=s")])), Ok(Presented::Nothing));
        for space in ["\u{a0}", "\u{2003}", "\u{feff}"] {
            let mut request = HeaderMap::new();
            let planted = format!("{space}sightline_session=planted; sightline_session=s");
            request.insert("cookie", http::HeaderValue::from_bytes(planted.as_bytes()).unwrap());
            assert_eq!(presented(&request), Ok(Presented::Session("s".to_owned())), "{space:?}");
        }
        assert_eq!(presented(&HeaderMap::new()), Ok(Presented::Nothing));
    }

    #[test]
    fn the_origin_of_a_form_is_its_own_or_hidden_by_a_referrer_policy() {
        let (own, null) = (("origin", "https://a.example"), ("origin", "null"));
        for (lines, is_same) in [
            (&[own][..], true),
            (&[null, ("sec-fetch-site", "same-origin")], true),
            (&[null], false),
            (&[null, ("sec-fetch-site", "cross-site")], false),
            (&[null, ("sec-fetch-site", "same-site")], false),
            (&[null, ("sec-fetch-site", "none")], false),
            (&[null, ("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")], false),
            (&[own, null], false),
            (&[("origin", "https://b.example"), ("sec-fetch-site", "same-origin")], false),
            (&[], false),
        ] {
            assert_eq!(is_same_origin(&headers(lines), "https://a.example"), is_same, "{lines:?}");
        }
    }

    #[test]
    fn a_challenge_without_credentials_names_no_error() {
        assert_eq!(challenge("http://a/m", None, None), "Bearer resource_metadata=\"http://a/m\"");
        let bad = challenge("http://a/m", Some("invalid_token"), None);
        assert_eq!(bad, "Bearer error=\"invalid_token\", resource_metadata=\"http://a/m\"");
        let weak = challenge("http://a/m", Some("insufficient_scope"), Some("search:read account"));
        assert_eq!(
            weak,
            "Bearer error=\"insufficient_scope\", scope=\"search:read account\", resource_metadata=\"http://a/m\""
        );
    }
}
