//! The format of a shared value: when it expires, compressed, sealed with its key.

use chrono::{DateTime, Utc};
use common::secrets::Secrets;

/// The first byte of a value, where claims have `C` and marks of failures `F`.
pub const VALUE: u8 = b'V';

/// The level of compression: fast, and rows compress well at any level.
const LEVEL: i32 = 1;

/// The largest value, in bytes. A larger one would hold up others for too long.
const LARGEST: usize = 4 * 1024 * 1024;

/// The largest value before it is compressed.
const LARGEST_PLAIN: usize = 64 * 1024 * 1024;

/// Compresses and seals `plain` for the place `name`. `None` if it is larger than a value may be.
pub fn sealed(plain: &[u8], expires_at: DateTime<Utc>, name: &str, secrets: &Secrets) -> Option<Vec<u8>> {
    let length = u32::try_from(plain.len()).ok().filter(|_| plain.len() <= LARGEST_PLAIN)?;
    let mut content = expires_at.timestamp_millis().to_be_bytes().to_vec();
    content.extend(length.to_be_bytes());
    content.extend(zstd::bulk::compress(plain, LEVEL).ok()?);
    let mut value = vec![VALUE];
    value.extend(secrets.seal(&content, name));
    (value.len() <= LARGEST).then_some(value)
}

/// Opens a value from the place `name`. `None` if it has expired, or if this deployment did not seal it for this place.
pub fn opened(value: &[u8], now: DateTime<Utc>, name: &str, secrets: &Secrets) -> Option<Vec<u8>> {
    let content = secrets.open(value.strip_prefix(&[VALUE])?, name).ok()?;
    let (expires_at, rest) = content.split_first_chunk::<8>()?;
    let (length, compressed) = rest.split_first_chunk::<4>()?;
    if i64::from_be_bytes(*expires_at) <= now.timestamp_millis() {
        return None;
    }
    zstd::bulk::decompress(compressed, u32::from_be_bytes(*length) as usize).ok()
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use common::random::Random;

    use super::*;

    #[test]
    fn a_value_opens_in_its_place_until_it_expires() {
        let secrets = Secrets::new([7; 32], Random::seeded(1));
        let now = DateTime::from_timestamp(1_000_000, 0).unwrap();
        let value = sealed(b"clicks clicks clicks", now + TimeDelta::hours(1), "here", &secrets).unwrap();
        assert_eq!(opened(&value, now, "here", &secrets).as_deref(), Some(&b"clicks clicks clicks"[..]));
        assert_eq!(opened(&value, now, "there", &secrets), None);
        assert_eq!(opened(&value, now + TimeDelta::hours(1), "here", &secrets), None);
        let other = Secrets::new([8; 32], Random::seeded(1));
        assert_eq!(opened(&value, now, "here", &other), None);
        for at in 0..value.len() {
            let mut changed = value.clone();
            changed[at] ^= 1;
            assert_eq!(opened(&changed, now, "here", &secrets), None, "{at}");
        }
        assert!(!value.windows(6).any(|part| part == b"clicks"));
    }
}
