//! Tests of names and addresses that no database stores.

use super::*;

#[tokio::test]
async fn names_with_control_characters_are_those_of_no_site_and_of_no_account() {
    let bench = Bench::new().await;
    let site = |url: &str, level: &str| json!({ "siteUrl": url, "permissionLevel": level });
    bench.upstream.reply([Reply::Said(json!({ "siteEntry": [
        site("sc-domain:a\0.test", "siteOwner"),
        site("sc-domain:example.test", "siteOwner"),
        site("https://example.test/\n", "siteOwner"),
        site("https://b.test/", "site\u{1b}Owner"),
    ] }))]);
    let sites = bench.reader.engine().sites(&bench.kept.account()).await.unwrap();
    assert_eq!(sites.iter().map(|site| &*site.site_url).collect::<Vec<_>>(), ["sc-domain:example.test"]);

    let oauth = bench.reader.engine().oauth();
    bench.upstream.reply([
        Reply::Said(json!({ "sub": "7", "email": "a\0@b.test" })),
        Reply::Said(json!({ "sub": "7\0", "email": "a@b.test" })),
    ]);
    let who = oauth.userinfo(&"token".into()).await.unwrap();
    assert_eq!((who.sub.as_str(), who.email), ("7", None));
    assert!(oauth.userinfo(&"token".into()).await.is_err());
}
