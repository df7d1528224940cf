//! Settings of mail.

use lettre::message::Mailbox;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::{Host, Url};

use super::{
    Secret,
    check::{Refusal, allow, require},
};

/// Mail to people with local accounts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mail {
    /// Mail server that sends links for passwords. Without it, links are printed for the operator.
    #[schemars(extend("x-allowed" = "`smtps://USER:PASSWORD@HOST`, or `smtp://…` for a server with STARTTLS or on this machine, with \
        the port unless it is the usual one"))]
    pub smtp_url: Option<Secret>,
    /// Sender of the mail, needed with `mail.smtp_url`.
    #[schemars(extend("x-allowed" = "an address such as `Sightline <sightline@example.org>`"))]
    pub from: Option<String>,
    /// Name by which the service greets the mail server, for relays that check it.
    #[schemars(extend("x-allowed" = "a host name or an IP address", "x-default" = "the host of `base_url`"))]
    pub hello_name: Option<String>,
}

impl Mail {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        require(self.hello_name.as_deref().is_none_or(|name| Host::parse(name).is_ok()), "mail.hello_name")?;
        let Some(Secret(smtp_url)) = &self.smtp_url else { return Ok(()) };
        let known = Url::parse(smtp_url).is_ok_and(|url| {
            matches!(url.scheme(), "smtp" | "smtps") && url.host_str().is_some_and(|host| !host.is_empty())
        });
        require(known, "mail.smtp_url")?;
        let from = self.from.as_deref().is_some_and(|from| from.parse::<Mailbox>().is_ok());
        let address = "the address that mail comes from, because mail.smtp_url is set: sightline@example.org";
        allow(from, "mail.from", address)
    }
}
