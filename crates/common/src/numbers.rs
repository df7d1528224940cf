//! Numbers as people read them.

/// Puts a comma between groups of three digits of a whole number: `99,950`.
#[must_use]
pub fn grouped(digits: &str) -> String {
    let first = digits.len() % 3;
    let groups = [&digits[..first]]
        .into_iter()
        .chain(digits.as_bytes()[first..].chunks(3).filter_map(|group| str::from_utf8(group).ok()));
    groups.filter(|group| !group.is_empty()).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_three_digits() {
        for (digits, expected) in
            [("0", "0"), ("999", "999"), ("1000", "1,000"), ("99950", "99,950"), ("1234567", "1,234,567")]
        {
            assert_eq!(grouped(digits), expected);
        }
    }
}
