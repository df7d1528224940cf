//! The addresses of the documents, and the files of the repository that they are made from.

use pages::markdown::Target;

/// Swagger UI.
pub const API: &str = "/docs";
/// The list of the guides.
pub const GUIDES: &str = "/docs/guides";
/// The versions of the API and all notable changes.
pub const CHANGELOG: &str = "/changelog";

/// The folder of the guides in the repository.
pub const FOLDER: &str = "docs/";
/// The folder of the changelog.
pub const ROOT: &str = "";

/// A Markdown file that is served as a page.
#[derive(Debug)]
pub struct Guide {
    /// The file in the repository.
    pub file: &'static str,
    /// The path of the page.
    pub path: &'static str,
    /// The text when the program was built.
    pub text: &'static str,
}

impl Guide {
    /// The first heading of the text.
    #[must_use]
    pub fn title(&self) -> &'static str {
        self.text.lines().next().and_then(|line| line.strip_prefix("# ")).unwrap_or(self.file)
    }
}

macro_rules! guides {
    ($($file:literal => $path:literal,)*) => {
        [$(Guide {
            file: concat!("docs/", $file),
            path: concat!("/docs/", $path),
            text: include_str!(concat!("../../../docs/", $file)),
        }),*]
    };
}

/// The list of the guides, by reader.
pub static INDEX: Guide = Guide { file: "docs/README.md", path: GUIDES, text: include_str!("../../../docs/README.md") };

/// The guides, in the order of the list.
pub static ALL: [Guide; 11] = guides! {
    "GUIDE.md" => "guide",
    "RECIPES.md" => "recipes",
    "API-DESIGN.md" => "api-design",
    "ASSISTANTS.md" => "assistants",
    "PRIVACY.md" => "privacy",
    "SELF-HOSTING.md" => "self-hosting",
    "OPERATING.md" => "operating",
    "SETTINGS.md" => "settings",
    "METRICS.md" => "metrics",
    "SCALING.md" => "scaling",
    "SECURITY.md" => "security",
};

/// Other files that are served, with their paths and names.
const OTHERS: [(&str, &str, &str); 2] =
    [("CHANGELOG.md", CHANGELOG, "Changelog"), ("openapi.json", "/openapi.json", "The OpenAPI document")];

/// Returns where a link of a file in `folder` leads here, or `None` if the service does not serve the file.
#[must_use]
pub fn target(folder: &str, link: &str) -> Option<Target> {
    if link.starts_with('#') || ["https://", "http://"].iter().any(|scheme| link.starts_with(scheme)) {
        return Some(Target { address: link.to_owned(), name: None });
    }
    let (file, fragment) = link.find('#').map_or((link, ""), |at| link.split_at(at));
    let file = format!("{folder}{file}");
    let file = file.strip_prefix("docs/../").unwrap_or(&file);
    let guides = ALL.iter().chain([&INDEX]).map(|guide| (guide.file, guide.path, guide.title()));
    let (_, path, name) = guides.chain(OTHERS).find(|(known, ..)| *known == file)?;
    Some(Target { address: format!("{path}{fragment}"), name: Some(name) })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use regex::Regex;

    use super::*;

    #[test]
    fn links_between_files_lead_to_the_pages_made_of_them() {
        for (folder, link, leads) in [
            (FOLDER, "GUIDE.md", Some("/docs/guide")),
            (FOLDER, "SELF-HOSTING.md#a-new-key", Some("/docs/self-hosting#a-new-key")),
            (FOLDER, "README.md", Some("/docs/guides")),
            (FOLDER, "../CHANGELOG.md", Some("/changelog")),
            (FOLDER, "../openapi.json", Some("/openapi.json")),
            (ROOT, "docs/PRIVACY.md#leaving", Some("/docs/privacy#leaving")),
            (FOLDER, "#begin", Some("#begin")),
            (FOLDER, "https://search.example/x", Some("https://search.example/x")),
            (FOLDER, "design/contract.md", None),
            (FOLDER, "../README.md#not-yet", None),
            (ROOT, "GUIDE.md", None),
            (FOLDER, "javascript:alert(1)", None),
        ] {
            let found = target(folder, link).map(|target| target.address);
            assert_eq!(found.as_deref(), leads, "{folder} {link}");
        }
    }

    /// Only its words are shown of a link to a file that is not served. So a wrong name would go unnoticed.
    #[test]
    fn links_to_files_that_are_not_served_name_files_of_the_repository() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let link = Regex::new(r"\]\(([^)#\s]+)").unwrap();
        for guide in ALL.iter().chain([&INDEX]) {
            for found in link.captures_iter(guide.text).map(|found| found[1].to_owned()) {
                let is_there = target(FOLDER, &found).is_some() || root.join(FOLDER).join(&found).exists();
                assert!(is_there, "{} links {found}, which is not there", guide.file);
            }
        }
    }

    #[test]
    fn every_guide_has_a_title_and_a_path_of_its_own() {
        for guide in ALL.iter().chain([&INDEX]) {
            assert!(guide.text.starts_with("# ") && !guide.title().contains(['`', '*', '[']), "{}", guide.title());
            assert_eq!(ALL.iter().filter(|other| other.path == guide.path).count(), usize::from(guide.path != GUIDES));
        }
    }
}
