//! Tests of the names of sites.

use super::*;

#[test]
fn a_site_is_called_by_its_host_port_and_path() {
    for (site, shown) in [
        ("sc-domain:shop.example", "shop.example"),
        ("https://www.shop.example/", "www.shop.example"),
        ("http://shop.example/blog/", "shop.example/blog"),
        ("https://shop.example:8443/", "shop.example:8443"),
        ("https://ann:secret@shop.example/", "shop.example"),
        ("https://secret@xn--bcher-kva.example:81/l%C3%A4den/", "bücher.example:81/läden"),
        ("sc-domain:xn--4dbrk0ce.example", "ישראל.example"),
        ("https://xn--mgbh0fb.xn--kgbechtv/%D9%85%D8%AB%D8%A7%D9%84/", "مثال.إختبار/مثال"),
        ("sc-domain:xn--fiqs8s.example", "中国.example"),
        ("https://xn--i-7iq.example/%F0%9F%91%9F/", "xn--i-7iq.example/👟"),
        ("sc-domain:xn--pple-43d.example", "xn--pple-43d.example"),
        ("https://shop.example/%E2%80%AEgnp/", "shop.example/%E2%80%AEgnp"),
        ("https://shop.example/\u{202e}gnp/", "shop.example/%E2%80%AEgnp"),
        ("android-app://ann:secret@com.shop.example/", "android-app://com.shop.example"),
        ("https:///", "https:///"),
        ("a\u{7f} b", "a%7F%20b"),
    ] {
        assert_eq!(name(site), shown, "{site}");
    }
}

fn shown<const N: usize>(sites: [&str; N]) -> Vec<String> {
    among(&sites).iter().map(ToString::to_string).collect()
}

#[test]
fn sites_of_one_name_are_told_apart_where_they_meet() {
    assert_eq!(
        shown([
            "http://shop.example/",
            "https://shop.example/",
            "https://shop.example/blog/",
            "sc-domain:shop.example",
            "sc-domain:other.example",
            "http://alone.example/",
        ]),
        [
            "shop.example (http)",
            "shop.example (https)",
            "shop.example/blog",
            "shop.example (whole domain)",
            "other.example",
            "alone.example",
        ]
    );
    assert_eq!(
        shown(["sc-domain:shop.example", "sc-domain:shop.example"]),
        ["shop.example", "shop.example"],
        "one site twice"
    );
    assert_eq!(
        shown(["https://shop.example/%d7%a9/", "https://shop.example/%D7%A9/", "http://shop.example/%D7%A9/"]),
        ["https://shop.example/%d7%a9/", "https://shop.example/%D7%A9/", "shop.example/ש (http)"],
        "names that only the address tells apart"
    );
    assert_eq!(
        with_kinds(&["https://shop.example/", "sc-domain:other.example", "android-app://com.shop.example/"])
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        ["shop.example (https)", "other.example (whole domain)", "android-app://com.shop.example"]
    );
    let others = ["https://shop.example/", "http://shop.example/"];
    assert_eq!(name_among("http://shop.example/", &others).to_string(), "shop.example (http)");
    assert_eq!(name_among("http://shop.example/", &[]).to_string(), "shop.example");
}

#[test]
fn sites_that_differ_in_user_capitals_or_marks_only_are_told_apart() {
    for (sites, names) in [
        (
            ["https://ann@shop.example/", "https://bob@shop.example/"],
            ["https://ann@shop.example/", "https://bob@shop.example/"],
        ),
        (
            ["https://ann:secret@shop.example/", "https://shop.example/"],
            ["https://ann:…@shop.example/", "https://shop.example/"],
        ),
        (
            ["https://ann:secret@shop.example/", "https://ann:other@shop.example/"],
            ["https://ann:…@shop.example/ (1)", "https://ann:…@shop.example/ (2)"],
        ),
        (["https://Shop.example/", "https://shop.example/"], ["https://Shop.example/", "https://shop.example/"]),
        (
            ["https://b\u{fc}cher.example/", "https://xn--bcher-kva.example/"],
            ["https://b\u{fc}cher.example/", "https://xn--bcher-kva.example/"],
        ),
        (
            ["https://sh\u{200b}op.example/", "https://shop.example/"],
            ["https://sh%E2%80%8Bop.example/", "https://shop.example/"],
        ),
        (
            ["https://b\u{fc}cher.example/", "https://bu\u{308}cher.example/"],
            ["https://b\u{fc}cher.example/", "https://bu%CC%88cher.example/"],
        ),
        (
            ["https://shop.example/caf%C3%A9/", "https://shop.example/cafe%CC%81/"],
            ["https://shop.example/caf%C3%A9/", "https://shop.example/cafe%CC%81/"],
        ),
        (["https://shop.example/a", "https://shop.example/a/"], ["https://shop.example/a", "https://shop.example/a/"]),
    ] {
        assert_eq!(shown(sites), names);
        let chosen: Vec<String> = with_kinds(&sites).iter().map(ToString::to_string).collect();
        assert_eq!(chosen, names);
    }
}

#[test]
fn every_name_that_is_shown_finds_its_site() {
    let sites = [
        "sc-domain:shop.example",
        "http://shop.example/",
        "https://shop.example/",
        "https://shop.example/Blog/",
        "https://shop.example/blog/",
        "https://ann:secret@xn--bcher-kva.example:81/l%C3%A4den/",
        "https://shop.example/%d7%a9/",
        "https://shop.example/%D7%A9/",
        "http://shop.example/%D7%A9/",
        "https://xn--80ak6aa92e.example/",
        "sc-domain:xn--4dbrk0ce.example",
        "https://shop.example/\u{202e}gnp/a%E2%81%84b/",
        "android-app://ann:secret@com.shop.example/",
        "https:///",
        "a\u{7f} b",
        "https://ann@other.example/",
        "https://bob@other.example/",
        "https://Other.example/",
        "https://other.example/",
    ];
    for names in [among(&sites), with_kinds(&sites)] {
        for (index, name) in names.iter().enumerate() {
            let shown = name.to_string();
            let is_shown = |at: &usize| is_shown_as(sites[*at], &names[*at], &shown);
            assert_eq!((0..sites.len()).filter(is_shown).collect::<Vec<_>>(), [index], "{shown}");
            assert!(is_named(sites[index], &shown), "{shown} names {}", sites[index]);
            assert!(is_found_by(sites[index], &shown), "{shown} finds {}", sites[index]);
        }
    }
    for text in ["shop.example (http)", "xn--bcher-kva.example (https)", "shop (http)"] {
        assert!(!is_found_by("sc-domain:shop.example", text) && !is_named("sc-domain:shop.example", text), "{text}");
    }
}

#[test]
fn a_name_is_one_in_unicode_and_in_ascii() {
    let site = "https://xn--bcher-kva.example/";
    for text in [
        "bücher.example",
        "BÜCHER.example/",
        "xn--bcher-kva.example",
        "https://Bücher.example",
        "sc-domain:bücher.example",
    ] {
        assert_eq!(key(text), key(site), "{text}");
    }
    assert_ne!(key("bücher.example/laden"), key(site));
}

#[test]
fn a_search_finds_both_forms_of_a_name() {
    for (site, texts) in [
        (
            "https://xn--bcher-kva.example/%D7%A9/",
            ["büch", "BÜCHER.EX", "xn--bch", "https://bücher.example/ש/", "%D7%A9", "bu\u{308}cher"],
        ),
        (
            "sc-domain:bücher.example",
            ["bücher", "xn--bcher", "sc-domain:bücher.example", " example ", "", "B\u{dc}CHER"],
        ),
        (
            "sc-domain:xn--pple-43d.example",
            ["xn--pple", "\u{430}pple", "example", "pple-43d", "PPLE", "http://xn--pple-43d.example/"],
        ),
    ] {
        for text in texts {
            assert!(is_found_by(site, text), "{site} by {text}");
        }
        assert!(!is_found_by(site, "bacher") && !is_found_by(site, "laden"), "{site}");
    }
}

#[test]
fn a_name_has_a_form_in_ascii() {
    for (site, named) in [
        ("sc-domain:xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("bücher.example:81/läden", "xn--bcher-kva.example:81/l%C3%A4den"),
        ("http://ann:secret@shop.example/", "shop.example"),
        ("https:///", ""),
    ] {
        assert_eq!(in_ascii(site), named);
    }
}
