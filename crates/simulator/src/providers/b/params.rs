//! The query parameters of a request to provider B.

use chrono::NaiveDate;

use super::Refusal;
use crate::providers::countries::{self, Region};
use crate::providers::links::{Scope, Target};

/// Parameters by name. The last one of a name counts.
#[derive(Debug)]
pub(super) struct Params {
    all: Vec<(String, String)>,
    pub today: NaiveDate,
}

impl Params {
    pub fn parse(query: &str, today: NaiveDate) -> Self {
        let all = url::form_urlencoded::parse(query.as_bytes());
        Self { all: all.map(|(name, value)| (name.into_owned(), value.into_owned())).collect(), today }
    }

    /// The parameter `name`, unless it is empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.all.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    pub fn required(&self, name: &str) -> Result<&str, Refusal> {
        self.get(name).ok_or_else(|| Refusal::bad(format!("missing argument '{name}'")))
    }

    /// One of `names`, the first if the parameter is absent.
    pub fn one_of(&self, name: &str, names: &[&'static str]) -> Result<&'static str, Refusal> {
        let given = self.get(name).unwrap_or(names[0]);
        let known = names.iter().find(|known| **known == given).copied();
        known.ok_or_else(|| Refusal::bad(format!("bad argument '{name}': expected one of {}", names.join(", "))))
    }

    /// The largest number of rows: 1,000 if the parameter is absent.
    pub fn limit(&self) -> Result<usize, Refusal> {
        let Some(text) = self.get("limit") else { return Ok(1_000) };
        let number = text.parse().ok().filter(|number| *number > 0);
        number.ok_or_else(|| Refusal::bad("bad argument 'limit': expected a positive number".to_owned()))
    }

    pub fn country(&self) -> Result<(Region, &str), Refusal> {
        let code = self.required("country")?;
        Ok((Self::place(code)?, code))
    }

    /// The country, if the parameter is there.
    pub fn optional_country(&self) -> Result<Option<Region>, Refusal> {
        self.get("country").map(Self::place).transpose()
    }

    fn place(code: &str) -> Result<Region, Refusal> {
        countries::by_letters(code)
            .ok_or_else(|| Refusal::bad("bad argument 'country': expected two lower-case letters".to_owned()))
    }

    pub fn date(&self, name: &str) -> Result<Option<NaiveDate>, Refusal> {
        let read =
            |text: &str| text.parse().map_err(|_| Refusal::bad(format!("bad argument '{name}': expected YYYY-MM-DD")));
        self.get(name).map(read).transpose()
    }

    /// The day that a report is about. There is none about days to come, or before 2016.
    pub fn report_date(&self) -> Result<NaiveDate, Refusal> {
        self.required("date")?;
        let date = self.date("date")?.unwrap_or(self.today);
        let first = NaiveDate::from_ymd_opt(2016, 1, 1).unwrap_or_default();
        // A day may have begun in other time zones already.
        let last = self.today.succ_opt().unwrap_or(self.today);
        if (first..=last).contains(&date) { Ok(date.min(self.today)) } else { Err(Refusal::not_found()) }
    }

    pub fn target(&self) -> Result<Target, Refusal> {
        let text = self.required("target")?;
        let scope = match self.one_of("mode", &["subdomains", "domain", "prefix", "exact"])? {
            "exact" => Scope::Exact,
            "prefix" => Scope::Prefix,
            "domain" => Scope::Domain,
            _ => Scope::Subdomains,
        };
        self.one_of("protocol", &["both", "http", "https"])?;
        let parsed = Target::parse(text, scope);
        parsed.ok_or_else(|| Refusal::bad("bad argument 'target': expected a domain or a URL".to_owned()))
    }

    /// A list of texts separated by commas.
    pub fn list(&self, name: &str) -> Vec<&str> {
        let texts = self.get(name).unwrap_or_default().split(',');
        texts.map(str::trim).filter(|text| !text.is_empty()).collect()
    }
}
