//! Completion of the arguments of prompts and of the resource template.

use analytics::period;
use api::{models::Compare, params::ParamValue as _};
use poem::http::request::Parts;
use rmcp::{
    ErrorData,
    model::{CompletionInfo, Reference},
};

use super::{
    clean::{clean_text, echo},
    prompts,
    properties::Properties,
    resources::DEFINITIONS,
};

/// Returns the values that an argument may continue with.
///
/// # Errors
/// "Invalid params" if the prompt, the template or the argument does not exist.
pub async fn complete(
    properties: &Properties,
    reference: &Reference,
    argument: &str,
    typed: &str,
    outer: &Parts,
) -> Result<CompletionInfo, ErrorData> {
    let exists = match reference {
        Reference::Prompt(prompt) => prompts::takes(&prompt.name, argument),
        Reference::Resource(template) => (template.uri == DEFINITIONS).then_some(argument == "property"),
        _ => None,
    };
    match exists {
        None => return Err(invalid("ref: names no prompt and no resource template; see prompts/list")),
        Some(false) => return Err(invalid(format!("argument.name: {} is not one of its arguments", echo(argument)))),
        Some(true) => {}
    }
    let names = match argument {
        "property" => properties.names(outer).await.map_err(|_| ErrorData::internal_error("try again later", None))?,
        "period" => period::SUGGESTED.map(str::to_owned).to_vec(),
        _ => comparisons(),
    };
    Ok(fitting(names.iter().map(|name| clean_text(name)).collect(), typed))
}

fn comparisons() -> Vec<String> {
    let schema = Compare::schema();
    let names = schema["enum"].as_array().into_iter().flatten();
    names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

/// Returns the `names` that `typed` fits: first the names that begin with it, then the ones that contain it. Upper and lower case are equal.
fn fitting(names: Vec<String>, typed: &str) -> CompletionInfo {
    let typed = typed.trim().to_lowercase();
    let (first, others): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| name.to_lowercase().starts_with(&typed));
    let contain = others.into_iter().filter(|name| name.to_lowercase().contains(&typed));
    let mut values: Vec<String> = first.into_iter().chain(contain).collect();
    let all = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let has_more = all > values.len();
    CompletionInfo::with_pagination(values, u32::try_from(all).ok(), has_more).unwrap_or_default()
}

fn invalid(message: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(message.into(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_equal_the_comparisons_of_the_operations() {
        let names = [
            "previous_period",
            "previous_period_same_weekdays",
            "previous_calendar_period",
            "previous_year",
            "previous_year_same_weekdays",
        ];
        assert_eq!(comparisons(), names);
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn beginnings_come_before_parts() {
        let known = ["blog.acme.test", "acme.test", "shop.test"];
        for (typed, found) in [
            ("", &known[..]),
            ("ac", &["acme.test", "blog.acme.test"]),
            (" ACME", &["acme.test", "blog.acme.test"]),
            ("shop", &["shop.test"]),
            ("x", &[]),
        ] {
            let info = fitting(names(&known), typed);
            assert_eq!(
                (info.values, info.total, info.has_more),
                (names(found), u32::try_from(found.len()).ok(), Some(false))
            );
        }
    }

    #[test]
    fn at_most_a_hundred_are_given() {
        let known = (0..250).map(|number| format!("site{number}.test")).collect();
        let info = fitting(known, "site");
        assert_eq!((info.values.len(), info.total, info.has_more), (100, Some(250), Some(true)));
    }
}
