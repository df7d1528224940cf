//! Sends mail through the configured SMTP server.

use std::time::{Duration, SystemTime};

use common::{clock::Clock, mail_address, random::Random, urls::is_loopback};
use lettre::{
    Address, AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor,
    message::{
        Mailbox, SinglePart,
        header::{HeaderName, HeaderValue},
    },
    transport::smtp::{
        authentication::Credentials,
        client::{Tls, TlsParameters},
        extension::ClientId,
    },
};
use percent_encoding::percent_decode_str;
use url::{Host, Url};

const TIME_LIMIT: Duration = Duration::from_secs(20);

/// The reason why a message was not sent. The text contains neither the password of the server nor the message, nor the address that
/// it was for.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct MailError(String);

/// A client of one SMTP server.
#[derive(Clone)]
pub struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    clock: Clock,
    random: Random,
}

impl Mailer {
    /// A client of the server at `smtp_url`, `smtps://user:password@host` or `smtp://…`. Messages are from the address `from`. The client
    /// calls itself `hello_name`, a host name or an address: many relays refuse one that names no host.
    ///
    /// Passwords and links travel encrypted: with `smtps:` from the first byte, with `smtp:` after STARTTLS, which the server must
    /// offer unless it is on this machine.
    ///
    /// # Errors
    /// A setting is unusable.
    pub fn new(smtp_url: &str, from: &str, hello_name: &str, clock: Clock, random: Random) -> Result<Self, MailError> {
        let url = Url::parse(smtp_url).map_err(|_| MailError("mail.smtp_url: is not a URL".to_owned()))?;
        let host = url.host_str().ok_or_else(|| MailError("mail.smtp_url: names no host".to_owned()))?;
        let tls = || TlsParameters::new(host.trim_matches(['[', ']']).to_owned()).map_err(failed);
        let (port, tls) = match url.scheme() {
            "smtps" => (465, Tls::Wrapper(tls()?)),
            _ if on_this_machine(host) => (25, Tls::None),
            _ => (587, Tls::Required(tls()?)),
        };
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(host)
            .port(url.port().unwrap_or(port))
            .tls(tls)
            .hello_name(client_id(hello_name)?)
            .timeout(Some(TIME_LIMIT));
        if let Some(password) = url.password() {
            let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
            builder = builder.credentials(Credentials::new(decoded(url.username()), decoded(password)));
        }
        let from: Mailbox = from.parse().map_err(|_| MailError("mail.from: is not an e-mail address".to_owned()))?;
        let email = mail_address::in_ascii(from.email.as_ref()).and_then(|address| address.parse().ok());
        let email = email.ok_or_else(|| MailError("mail.from: must be ASCII before the @".to_owned()))?;
        let from = Mailbox { email, ..from };
        Ok(Self { transport: builder.build(), from, clock, random })
    }

    /// Connects to the server and signs in, and sends nothing.
    ///
    /// # Errors
    /// The server cannot be reached or refuses the sign-in.
    pub async fn probe(&self) -> Result<(), MailError> {
        match self.transport.test_connection().await {
            Ok(true) => Ok(()),
            Ok(false) => Err(MailError("the mail server does not answer".to_owned())),
            Err(error) => Err(failed(error)),
        }
    }

    /// Sends a message of plain text. It says that a program made it, so that nobody's absence is answered to it (RFC 3834 section 5).
    ///
    /// # Errors
    /// The server cannot be reached or refuses the message.
    pub async fn send(&self, to: &str, subject: &str, text: String) -> Result<(), MailError> {
        let address: Address = mail_address::in_ascii(to).unwrap_or_else(|| to.to_owned()).parse().map_err(failed)?;
        let now = self.clock.now();
        let message = Message::builder()
            .from(self.from.clone())
            .to(address.into())
            .subject(subject)
            .date(SystemTime::from(now))
            .message_id(Some(format!("<{}@{}>", self.random.id(now), self.from.email.domain())))
            .raw_header(HeaderValue::new(HeaderName::new_from_ascii_str("Auto-Submitted"), "auto-generated".to_owned()))
            .singlepart(SinglePart::plain(text))
            .map_err(failed)?;
        self.transport.send(message).await.map(|_| ()).map_err(|error| without_address(failed(error), to))
    }
}

/// The name that the client says, with the brackets that an address needs (RFC 5321 section 4.1.3).
fn client_id(name: &str) -> Result<ClientId, MailError> {
    match Host::parse(name) {
        Ok(Host::Domain(domain)) => Ok(ClientId::Domain(domain)),
        Ok(Host::Ipv4(address)) => Ok(ClientId::Ipv4(address)),
        Ok(Host::Ipv6(address)) => Ok(ClientId::Ipv6(address)),
        Err(_) => Err(MailError("mail.hello_name: is not a host name".to_owned())),
    }
}

/// The library parses a host of this scheme as text, not as an address.
fn on_this_machine(host: &str) -> bool {
    Url::parse(&format!("http://{host}/")).is_ok_and(|url| is_loopback(&url))
}

/// Servers repeat the address that they refuse, and errors go to the log.
fn without_address(MailError(text): MailError, to: &str) -> MailError {
    let names = text.to_ascii_lowercase().contains(&to.to_ascii_lowercase());
    MailError(if names { "the mail server refused the address".to_owned() } else { text })
}

fn failed(error: impl std::error::Error) -> MailError {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    MailError(format!("{error}{cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_a_server_repeats_is_left_out() {
        for (said, kept) in [
            ("permanent error (550): <Ann@Corp.test>: unknown", "the mail server refused the address"),
            ("permanent error (554): try later", "permanent error (554): try later"),
        ] {
            assert_eq!(without_address(MailError(said.to_owned()), "ann@corp.test").0, kept);
        }
    }
}
