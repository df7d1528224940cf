//! The first connection to a `PostgreSQL` server. A pool tries again for ten seconds and then says that it waited. A connection
//! without a pool fails at once, and says why. It also finds out whether the database can hold every text.

use std::{fmt::Display, io::ErrorKind};

use common::urls;
use sqlx::{
    ConnectOptions as _, Connection as _, PgConnection, Row as _, error::DatabaseError, postgres::PgConnectOptions,
};
use tokio::time::{Duration, Instant, sleep, timeout_at};

use crate::{Error, postgres};

/// The time for a connection.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The time between two attempts at a server that starts, or whose connections are all taken.
const PAUSE: Duration = Duration::from_millis(250);

/// Connects once to the server at `url`. Only a server that starts or stops, or whose connections are all taken, is tried again.
///
/// # Errors
/// [`Error::Refused`] with the cause and the way out, also for a database whose encoding is not UTF8.
pub(crate) async fn check(url: &str) -> Result<(), Error> {
    // An address that cannot be read is refused where the pool is made.
    let Ok(options) = url.parse().map(postgres::limited) else { return Ok(()) };
    let refused = |error: Option<sqlx::Error>| {
        let why = error.map_or_else(
            || {
                "it does not answer in ten seconds. Correct the host and the port, or let a firewall pass them"
                    .to_owned()
            },
            |error| cause(&error, &options, url),
        );
        Error::refused(format!("database.url: {} cannot be opened: {why}", urls::without_credentials(url)))
    };
    let mut connection = Box::pin(connect(&options)).await.map_err(refused)?;
    let encoding = encoding(&mut connection).await.map_err(|error| refused(Some(error)))?;
    let _ = connection.close().await;
    if encoding == "UTF8" {
        return Ok(());
    }
    Err(Error::refused(format!(
        "database.url: the database at {} has the encoding {encoding}, which cannot hold the texts of all languages. Make another one with \
         `createdb --encoding=UTF8 --template=template0 NAME`, and name it there",
        urls::without_credentials(url)
    )))
}

/// Returns the encoding in which the server keeps the texts of the database. The statement is sent as text: a pooler in transaction mode may
/// prepare it on one connection and run it on another.
async fn encoding(connection: &mut PgConnection) -> Result<String, sqlx::Error> {
    sqlx::raw_sql("SELECT current_setting('server_encoding')").fetch_one(connection).await?.try_get(0)
}

/// Returns `None` as the error if the server does not answer.
async fn connect(options: &PgConnectOptions) -> Result<PgConnection, Option<sqlx::Error>> {
    let end = Instant::now() + TIMEOUT;
    let mut is_first = true;
    loop {
        match timeout_at(end, options.connect()).await {
            Ok(Ok(connection)) => return Ok(connection),
            Ok(Err(error)) if is_passing(&error) && Instant::now() + PAUSE < end => {
                if std::mem::take(&mut is_first) {
                    tracing::warn!(%error, "the database takes no connection yet; it is asked again for ten seconds");
                }
                sleep(PAUSE).await;
            }
            Ok(Err(error)) => return Err(Some(error)),
            Err(_) => return Err(None),
        }
    }
}

fn is_passing(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(DatabaseError::is_transient_in_connect_phase)
}

/// Says why there is no connection, and the way out.
fn cause(error: &sqlx::Error, options: &PgConnectOptions, url: &str) -> String {
    let said = |error: &dyn Display| if urls::is_printable(url) { format!(" ({error})") } else { String::new() };
    match error {
        sqlx::Error::Io(error) => {
            let said = said(error);
            match error.kind() {
                ErrorKind::ConnectionRefused => {
                    format!("nothing listens there{said}. Start PostgreSQL, or correct the host and the port")
                }
                ErrorKind::NotFound | ErrorKind::PermissionDenied => {
                    format!("its socket cannot be opened{said}. Start PostgreSQL, or correct the folder of its socket")
                }
                ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => format!(
                    "the connection is closed without an answer{said}. Correct the host and the port, or look into the server's log"
                ),
                _ => format!("the server is not reached{said}. Correct the host and the port"),
            }
        }
        sqlx::Error::Tls(error) => {
            format!("TLS fails{}. Correct `sslmode` in the address, or set TLS up at the server", said(error))
        }
        sqlx::Error::Database(error) => refusal(error.as_ref(), options, url),
        sqlx::Error::Protocol(_) => {
            "what answers there does not speak as PostgreSQL does. Correct the host and the port".to_owned()
        }
        error => format!("the address cannot be used{}", said(error)),
    }
}

/// Says why the server refuses a connection, and the way out.
fn refusal(error: &dyn DatabaseError, options: &PgConnectOptions, url: &str) -> String {
    let names = Names::of(options, url);
    let (user, database) = (names.user, names.database);
    // The server quotes the names that it was sent.
    let said = if names.are_safe { format!(" ({})", error.message()) } else { String::new() };
    match error.code().as_deref().unwrap_or_default() {
        "28P01" => format!(
            "the server refuses the user or the password{said}. Correct them in the address, or set the password at the server with `ALTER \
             ROLE {user} PASSWORD …`"
        ),
        "28000" => format!(
            "the server does not let this user in{said}. Make the role with `createuser {user}`, or allow it in pg_hba.conf at the server"
        ),
        "3D000" => format!(
            "the server has no such database{said}. Make it with `createdb --encoding=UTF8 --template=template0 {database}`, or correct its \
             name"
        ),
        "42501" => format!(
            "the user may not connect to this database{said}. Allow it with `GRANT CONNECT ON DATABASE {database} TO {user}`"
        ),
        "53300" => format!(
            "all connections of the server are taken{said}. Raise its `max_connections`, or lower database.max_connections of its clients"
        ),
        "57P03" => format!("the server takes no connections at the moment{said}. Start Sightline when it is up"),
        code => format!("the server refuses with the code {code}{said}"),
    }
}

/// The names of a user and a database, for commands that a person copies.
struct Names<'a> {
    user: &'a str,
    database: &'a str,
    /// No part of a password can be in them: one that is not percent-encoded ends early, and the rest of it is taken for other parts.
    are_safe: bool,
}

impl<'a> Names<'a> {
    fn of(options: &'a PgConnectOptions, url: &str) -> Self {
        let are_safe = urls::is_printable(url);
        let named = |name: &'a str, otherwise: &'a str| {
            let is_plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
            if are_safe && is_plain { name } else { otherwise }
        };
        let user = named(options.get_username(), "USER");
        // The server takes the name of the user where no database is named.
        let database = named(options.get_database().unwrap_or(options.get_username()), "NAME");
        Self { user, database, are_safe }
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;
    use crate::database::open;

    /// A server that answers each connection with `answer` and nothing more. Returns its address.
    async fn server(answer: Vec<u8>) -> String {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut start = [0; 1024];
                let _ = client.read(&mut start).await;
                let _ = client.write_all(&answer).await;
                let _ = client.shutdown().await;
                // Closed with what it has not read, the connection would be reset before the answer is read.
                while let Ok(1..) = client.read(&mut start).await {}
            }
        });
        address
    }

    /// The message of a server that refuses with a code.
    fn refusing(code: &str, words: &str) -> Vec<u8> {
        let fields = format!("SFATAL\0VFATAL\0C{code}\0M{words}\0\0");
        let length = u32::try_from(fields.len() + 4).unwrap();
        [b"E", &length.to_be_bytes()[..], fields.as_bytes()].concat()
    }

    async fn refused(url: &str) -> String {
        open(url, 1).await.unwrap_err().to_string()
    }

    #[tokio::test]
    async fn a_refused_connection_is_said_with_its_cause_and_the_way_out() {
        for (code, words, named) in [
            ("28P01", "password authentication failed for user \"ann\"", "`ALTER ROLE ann PASSWORD …`"),
            ("28000", "no pg_hba.conf entry for host \"10.0.0.7\"", "pg_hba.conf at the server"),
            ("3D000", "database \"sites\" does not exist", "`createdb --encoding=UTF8 --template=template0 sites`"),
            ("42501", "permission denied for database \"sites\"", "`GRANT CONNECT ON DATABASE sites TO ann`"),
            ("0A000", "unsupported frontend protocol", "the code 0A000"),
        ] {
            let address = server(refusing(code, words)).await;
            let said = refused(&format!("postgres://ann:hunter2@{address}/sites?sslmode=disable")).await;
            let beginning = format!("database.url: postgres://{address}/sites cannot be opened: ");
            assert!(said.starts_with(&beginning) && said.contains(named) && said.contains(words), "{code}: {said}");
            assert!(!said.contains("hunter2"), "{said}");
        }
        let address = server(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()).await;
        let said = refused(&format!("postgres://ann:hunter2@{address}/sites?sslmode=disable")).await;
        assert!(said.contains("Correct the host and the port") && !said.contains("hunter2"), "{said}");
        let address = server(b"N".to_vec()).await;
        let said = refused(&format!("postgres://ann:hunter2@{address}/sites?sslmode=require")).await;
        assert!(said.contains("Correct `sslmode`") && !said.contains("hunter2"), "{said}");
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_is_named_and_not_a_pool() {
        // Nothing listens at the port of the discard service.
        let said = refused("postgres://ann:hunter2@127.0.0.1:9/sites").await;
        assert!(said.contains("nothing listens there") && said.contains("Start PostgreSQL"), "{said}");
        let said = refused("postgres://ann:hunter2@%2Fnowhere/sites").await;
        assert!(said.contains("its socket cannot be opened") && !said.contains("hunter2"), "{said}");
    }

    #[tokio::test]
    async fn words_of_a_server_that_may_hold_a_part_of_a_password_are_left_out() {
        let address = server(refusing("3D000", "database \"hunter2@db.example/sites\" does not exist")).await;
        for user in ["ann:p@", ""] {
            let said = refused(&format!("postgres://{user}{address}/hunter2@db.example/sites?sslmode=disable")).await;
            assert!(said.contains("no such database. Make it with") && !said.contains("hunter2"), "{said}");
        }
    }

    #[tokio::test]
    async fn a_database_that_cannot_hold_every_text_is_refused() {
        for encoding in ["LATIN1", "SQL_ASCII", "EUC_JP"] {
            let Some(fresh) = test_data::postgres::reserve().await else { return };
            fresh.create_encoded(encoding).await;
            let said = refused(&fresh.url).await;
            assert!(said.starts_with("database.url: ") && said.contains(&format!("encoding {encoding},")), "{said}");
            assert!(said.contains("`createdb --encoding=UTF8 --template=template0 NAME`"), "{said}");
        }
    }

    #[tokio::test]
    async fn a_server_that_starts_is_asked_again() {
        let Some(fresh) = test_data::postgres::fresh().await else { return };
        let far: url::Url = fresh.url.parse().unwrap();
        let far = (far.host_str().unwrap().to_owned(), far.port().unwrap_or(5432));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let mut near: url::Url = fresh.url.parse().unwrap();
        near.set_host(Some("127.0.0.1")).unwrap();
        near.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
        near.set_query(Some("sslmode=disable"));
        tokio::spawn(async move {
            let (mut early, _) = listener.accept().await.unwrap();
            early.write_all(&refusing("57P03", "the database system is starting up")).await.unwrap();
            while let Ok((mut client, _)) = listener.accept().await {
                let mut server = tokio::net::TcpStream::connect(far.clone()).await.unwrap();
                tokio::spawn(async move { tokio::io::copy_bidirectional(&mut client, &mut server).await });
            }
        });
        check(near.as_str()).await.unwrap();
    }
}
