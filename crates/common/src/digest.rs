//! Digests: SHA-256 of secrets, so that a stolen database cannot be used to sign in, and of content for entity tags.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

/// SHA-256 of `secret` in lower-case hex (64 characters). Only for values of full entropy, never for passwords.
#[must_use]
pub fn sha256_hex(secret: &str) -> String {
    format!("{:x}", Sha256::digest(secret.as_bytes()))
}

/// The PKCE S256 challenge of a verifier (RFC 7636 section 4.2): its SHA-256 in URL-safe base64 without padding.
#[must_use]
pub fn pkce_challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

/// The opaque part of an entity tag (RFC 9110 section 8.8.3): 128 bits of the SHA-256 of `bytes`, in URL-safe base64 without padding
/// (22 characters).
#[must_use]
pub fn opaque_tag(bytes: &[u8]) -> String {
    opaque_tag_of(Sha256::new_with_prefix(bytes))
}

/// The tag of the bytes that were fed to `hash`.
#[must_use]
pub fn opaque_tag_of(hash: Sha256) -> String {
    URL_SAFE_NO_PAD.encode(&hash.finalize()[..16])
}

/// Compares two strings in constant time.
#[must_use]
pub fn same(left: &str, right: &str) -> bool {
    let differences = left.bytes().zip(right.bytes()).fold(0, |seen, (a, b)| seen | (a ^ b));
    left.len() == right.len() && std::hint::black_box(differences) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenge_of_the_verifier_in_rfc_7636_appendix_b() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(pkce_challenge(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn same_is_equality() {
        assert!(same("abc", "abc") && same("", ""));
        assert!(!same("abc", "abd") && !same("abc", "ab") && !same("", "a"));
    }
}
