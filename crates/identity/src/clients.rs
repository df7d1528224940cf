//! The clients that belong to the service itself, by their ids at the embedded issuer.

/// Swagger UI on the service's own documentation page.
pub const DOCS: &str = "sightline-docs";
/// The `login` command.
pub const CLI: &str = "sightline-cli";
/// Browser sign-in of the web application.
pub const WEB: &str = "sightline-web";

/// Returns the name of a client of the service itself.
#[must_use]
pub fn own_name(id: &str) -> Option<&'static str> {
    match id {
        DOCS => Some("API documentation"),
        CLI => Some("Sightline command line"),
        WEB => Some("Sightline"),
        _ => None,
    }
}
