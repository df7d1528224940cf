//! Lists of entity tags, as `If-None-Match` and `If-Match` have them (RFC 9110 sections 8.8.3 and 13.1).

use http::HeaderValue;

/// Returns the elements of a list. A comma inside quotes separates none, and empty elements are left out (section 5.6.1).
pub fn elements(list: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    let separated = list.split(move |letter| {
        is_quoted ^= letter == '"';
        letter == ',' && !is_quoted
    });
    separated.map(|element| element.trim_matches([' ', '\t'])).filter(|element| !element.is_empty())
}

/// Returns the tags of a list. `None` if one of its elements is no tag, or if it has none.
#[must_use]
pub fn tags(list: &str) -> Option<Vec<&str>> {
    let tags: Vec<&str> = elements(list).collect();
    (!tags.is_empty() && tags.iter().all(|tag| is_tag(tag))).then_some(tags)
}

fn is_tag(element: &str) -> bool {
    let quoted = element.strip_prefix("W/").unwrap_or(element).strip_prefix('"');
    let opaque = quoted.and_then(|quoted| quoted.strip_suffix('"'));
    opaque.is_some_and(|opaque| opaque.chars().all(|letter| letter > ' ' && !matches!(letter, '"' | '\u{7f}')))
}

/// Returns whether one of the `lists` of a request names `tag`, by [`names_tag`] or [`names_shared_tag`].
pub fn is_named<'l>(
    lists: impl IntoIterator<Item = &'l HeaderValue>,
    tag: &str,
    names: impl Fn(&str, &str) -> bool,
) -> bool {
    lists.into_iter().filter_map(|list| list.to_str().ok()).any(|list| names(list, tag))
}

/// Returns whether `list`, the value of `If-None-Match`, names `tag`. Reads compare weakly (section 13.1.2).
#[must_use]
pub fn names_tag(list: &str, tag: &str) -> bool {
    let opaque = |tag: &str| tag.trim_start_matches("W/").to_owned();
    list.trim() == "*" || elements(list).any(|listed| opaque(listed) == opaque(tag))
}

/// Does what [`names_tag`] does for a tag that all codings of an answer share. Proxies that compress add a suffix to it.
#[must_use]
pub fn names_shared_tag(list: &str, tag: &str) -> bool {
    names_tag(list, tag) || elements(list).any(|listed| as_sent(listed) == as_sent(tag))
}

/// Returns the tag as this service sent it: without the mark and the suffix that proxies add to tags of answers that they compress.
#[must_use]
pub fn as_sent(tag: &str) -> String {
    let tag = tag.strip_prefix("W/").unwrap_or(tag);
    let suffix = ["--gzip\"", "-gzip\"", ";gzip\"", "-br\"", ";br\"", "-zstd\"", "-deflate\""];
    let plain = suffix.iter().find_map(|suffix| tag.strip_suffix(suffix));
    plain.map_or_else(|| tag.to_owned(), |plain| format!("{plain}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_tags_alone() {
        for (list, found) in
            [(r#""a""#, &[r#""a""#][..]), (r#"W/"a" , ,	"b,c","#, &[r#"W/"a""#, r#""b,c""#]), (r#""""#, &[r#""""#])]
        {
            assert_eq!(tags(list).as_deref(), Some(found), "{list}");
        }
        for list in
            ["", " , ", "*", "a", r#"w/"a""#, r#"W/W/"a""#, r#""a" "b""#, r#""a"b"#, r#""a b""#, r#""a"#, r#""a","b"#]
        {
            assert_eq!(tags(list), None, "{list}");
        }
    }

    #[test]
    fn a_read_names_a_tag_beside_what_is_none() {
        for list in [r#""a""#, r#"W/"a""#, r#"x, "b,c" ,"a""#, "*", " * "] {
            assert!(names_tag(list, r#""a""#) && names_tag(list, r#"W/"a""#), "{list}");
        }
        for list in ["", "a", r#""b""#, r#""b,"a""#, r#""x,*""#, r#""a-gzip""#] {
            assert!(!names_tag(list, r#""a""#), "{list}");
        }
        assert!(names_shared_tag(r#""b", W/"a-gzip""#, r#""a""#));
    }
}
