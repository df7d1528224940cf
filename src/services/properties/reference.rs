//! Finds the property that a person names: by id, by site URL, or by domain. Searches a person's properties.

use std::collections::HashSet;

use api::{params::Text, properties::PropertyFilterParams};
use chrono::{DateTime, Utc};
use common::names::sites::{self, Kind, SiteName};
use entity::tag;
use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::{ListedProperty, VisibleSite, unordered_sites, visible_sites};
use crate::{
    error::Error,
    services::{access::parse_id, users::Member},
};

/// Returns the id of the property that `text` names. An id is returned as it is, because access to it is checked later. Anything else
/// must name one of the tracked properties that the person can see.
///
/// # Errors
/// [`Error::NotFound`] if it names none, and [`Error::InvalidRequest`] if it names several.
pub async fn find(db: &impl ConnectionTrait, member: &Member, text: &str, now: DateTime<Utc>) -> Result<Uuid, Error> {
    if let Some(id) = parse_id(text) {
        return Ok(id);
    }
    let listed = visible_sites(db, member, now).await?;
    let sites = Sites::of(addresses(&listed));
    match sites.named(text).as_slice() {
        [] => Err(Error::NotFound),
        [one] => listed.get(*one).map(|site| site.id).ok_or(Error::NotFound),
        several => {
            let all = sites::addresses(&sites.addresses);
            let several: Vec<&str> = several.iter().map(|index| all[*index].as_str()).collect();
            Err(Error::invalid(format!(
                "property: several properties have this name; give one of {}",
                several.join(", ")
            )))
        }
    }
}

/// Returns a name for each tracked property that the person can see, in the order of the list: its name among the others. [`find`] finds
/// each of them.
pub async fn names(db: &impl ConnectionTrait, member: &Member, now: DateTime<Utc>) -> Result<Vec<String>, Error> {
    let listed = visible_sites(db, member, now).await?;
    Ok(sites::among(&addresses(&listed)).iter().map(ToString::to_string).collect())
}

/// Returns the name of a property among those that the person can see. Executes one statement.
///
/// # Errors
/// The database cannot answer.
pub async fn name_of(
    db: &impl ConnectionTrait,
    member: &Member,
    site_url: &str,
    now: DateTime<Utc>,
) -> Result<SiteName, Error> {
    let name = sites::name(site_url);
    let host = name.split('/').next().unwrap_or_default();
    let all = unordered_sites(db, member, now).await?;
    // A host that is not ASCII is written in several ways. Every other one is in the address of each site that has the same name.
    let may_be_alike = |site: &&str| !host.is_ascii() || site.to_ascii_lowercase().contains(host);
    let alike: Vec<&str> = all.iter().map(|site| site.site_url.as_str()).filter(may_be_alike).collect();
    Ok(sites::name_among(site_url, &alike))
}

fn addresses(listed: &[VisibleSite]) -> Vec<&str> {
    listed.iter().map(|site| site.site_url.as_str()).collect()
}

/// Returns the properties that a filter leaves. `search` finds names, and names of the person's tags; a site URL is read as its name.
///
/// # Errors
/// [`Error::NoSuch`] for a tag that is not the person's.
pub async fn filtered(
    db: &impl ConnectionTrait,
    member: &Member,
    mut listed: Vec<ListedProperty>,
    filter: &PropertyFilterParams,
) -> Result<Vec<ListedProperty>, Error> {
    let PropertyFilterParams { tag, favorite, role, search } = filter;
    if let Some(tag) = tag
        && tag::Entity::one_of_user(member.user.id, *tag).one(db).await?.is_none()
    {
        return Err(Error::NoSuch {
            hint: "tag: is not one of your tags; send the id of one, or leave it out".to_owned(),
        });
    }
    listed.retain(|listed| {
        tag.is_none_or(|tag| listed.tag_ids.contains(&tag))
            && favorite.is_none_or(|favorite| listed.favorite == favorite)
            && role.is_none_or(|role| listed.role == role)
    });
    let Some(Text(text)) = search else { return Ok(listed) };
    let key = entity::key(text);
    let tags = tag::Entity::of_user(member.user.id).all(db).await?;
    let tags: HashSet<Uuid> = tags.into_iter().filter(|tag| tag.name_key.contains(&key)).map(|tag| tag.id).collect();
    listed.retain(|listed| {
        sites::is_found_by(&listed.property.site_url, text) || listed.tag_ids.iter().any(|tag| tags.contains(tag))
    });
    Ok(listed)
}

/// The sites that a person can name.
struct Sites<'a> {
    addresses: Vec<&'a str>,
    /// The names among the others.
    names: Vec<SiteName>,
}

impl<'a> Sites<'a> {
    fn of(addresses: Vec<&'a str>) -> Self {
        Self { names: sites::among(&addresses), addresses }
    }

    /// Returns the indexes of the sites that `text` fits best: the site URL itself or what is shown of it; then its address without
    /// credentials; then the whole domain; then sites of that name; then sites whose names differ by `www.` only.
    fn named(&self, text: &str) -> Vec<usize> {
        let text = text.trim();
        let key = sites::key(text);
        let sites = &self.addresses;
        let fits: [&dyn Fn(usize) -> bool; 5] = [
            &|at| sites::is_shown_as(sites[at], &self.names[at], text),
            &|at| text == sites::address(sites[at]),
            &|at| Kind::of(sites[at]) == Some(Kind::WholeDomain) && sites::is_named(sites[at], text),
            &|at| sites::is_named(sites[at], text),
            &|at| bare(&sites::key(sites[at])) == bare(&key),
        ];
        let mut found = fits.iter().map(|fits| (0..sites.len()).filter(|at| fits(*at)).collect::<Vec<_>>());
        found.find(|indexes| !indexes.is_empty()).unwrap_or_default()
    }
}

fn bare(name: &str) -> &str {
    name.strip_prefix("www.").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use test_data::noon;

    use super::*;
    use crate::{config::Config, testing::World};

    #[test]
    fn the_best_fit_is_found() {
        let sites = [
            "sc-domain:a.test",
            "https://a.test/",
            "https://www.b.test/",
            "http://c.test/",
            "https://c.test/",
            "https://xn--bcher-kva.test/",
        ];
        for (text, found) in [
            ("https://a.test/", &[1][..]),
            ("sc-domain:a.test", &[0]),
            ("a.test", &[0]),
            ("A.Test", &[0]),
            (" a.test ", &[0]),
            ("b.test", &[2]),
            ("www.b.test", &[2]),
            ("https://b.test", &[2]),
            ("c.test", &[3, 4]),
            ("c.test (http)", &[3]),
            ("c.test (https)", &[4]),
            ("C.TEST (https)", &[4]),
            ("c.test (whole domain)", &[]),
            ("a.test (whole domain)", &[0]),
            ("a.test (https)", &[1]),
            ("bücher.test", &[5]),
            ("xn--bcher-kva.test", &[5]),
            ("https://c.test/", &[4]),
            ("test", &[]),
            ("d.test", &[]),
            ("", &[]),
        ] {
            assert_eq!(Sites::of(sites.to_vec()).named(text), found, "{text}");
        }
    }

    #[test]
    fn every_name_that_is_shown_finds_its_property() {
        let sites = Sites::of(vec![
            "sc-domain:a.test",
            "https://a.test/",
            "http://a.test/",
            "https://www.a.test/",
            "https://a.test/Blog/",
            "https://a.test/blog/",
            "https://a.test/%d7%a9/",
            "https://a.test/%D7%A9/",
            "https://ann:secret@xn--bcher-kva.test:81/l%C3%A4den/",
            "https://xn--80ak6aa92e.test/",
            "android-app://com.a.test/",
            "https://ann:secret@c.test/",
            "https://ann:other@c.test/",
            "https://bob@c.test/",
            "https://C.test/",
            "https://c.test/",
        ]);
        for (index, name) in sites.names.iter().enumerate() {
            assert_eq!(sites.named(&name.to_string()), [index], "{name}");
        }
    }

    #[tokio::test]
    async fn only_a_visible_property_has_a_name() {
        let world = World::new().await;
        let own = world.add_property(world.owner, "sc-domain:a.test", true).await;
        world.add_property(world.owner, "https://untracked.test/", false).await;
        world.add_property(world.stranger, "https://foreign.test/", true).await;
        let member = world.member(&Config::default(), world.owner).await;
        let find = async |text: &str| find(&world.db, &member, text, noon()).await;
        assert_eq!(find("a.test").await.unwrap(), own);
        assert_eq!(find(&own.to_string()).await.unwrap(), own);
        for other in ["untracked.test", "foreign.test", "nowhere.test"] {
            assert!(matches!(find(other).await, Err(Error::NotFound)), "{other}");
        }
        assert_eq!(names(&world.db, &member, noon()).await.unwrap(), ["a.test"]);
        let twin = world.add_property(world.owner, "https://a.test/", true).await;
        let names = names(&world.db, &member, noon()).await.unwrap();
        assert_eq!(names, ["a.test (https)", "a.test (whole domain)"]);
        assert_eq!((find(&names[1]).await.unwrap(), find(&names[0]).await.unwrap()), (own, twin));
        assert_eq!(find("a.test").await.unwrap(), own, "the name alone is that of the whole domain");
    }
}
