//! Roles in plain words.

use api::models::Role;

/// Says which role a person has on a site.
pub(super) fn role(role: Role) -> &'static str {
    match role {
        Role::Owner => "Yours",
        Role::Admin => "You are an admin",
        Role::Editor => "You are an editor",
        Role::Viewer => "You are a viewer",
    }
}
