//! The rights that the service needs of its role of `PostgreSQL`.

use sea_orm::{ConnectionTrait, DbBackend, FromQueryResult, Statement};

use crate::Error;

/// Asks whether the role may create tables where this connection would create them.
const CREATION: &str = "SELECT quote_ident(current_user) AS role, quote_ident(current_schema()) AS schema, \
                        current_setting('search_path') AS search_path, \
                        coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS is_allowed";

/// Finds a table of the service that the role may not alter, which only its owner may.
const OWNERS: &str = "SELECT quote_ident(current_user) AS role, c.oid::regclass::text AS \"table\" FROM pg_class c \
                      WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname = ANY(string_to_array($1, ',')) \
                      AND NOT pg_has_role(c.relowner, 'USAGE') ORDER BY 2 LIMIT 1";

/// Finds a table of the service whose rows the role may not read or write. The list of applied migrations is read only.
const ROWS: &str = "SELECT quote_ident(current_user) AS role, c.oid::regclass::text AS \"table\" FROM pg_class c \
                    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname = ANY(string_to_array($1, ',')) \
                    AND NOT (has_table_privilege(c.oid, 'SELECT') AND (c.relname = 'seaql_migrations' \
                    OR has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE') \
                    AND has_table_privilege(c.oid, 'DELETE'))) ORDER BY 2 LIMIT 1";

#[derive(FromQueryResult)]
struct Creation {
    role: String,
    schema: Option<String>,
    search_path: String,
    is_allowed: bool,
}

#[derive(FromQueryResult)]
struct Closed {
    role: String,
    table: String,
}

/// Checks that the role may apply migrations: that it may create tables and alter those that are there. A file has no roles.
///
/// # Errors
/// [`Error::Refused`] names what is missing, and the statement that grants it.
pub async fn check_for_migrations(db: &impl ConnectionTrait) -> Result<(), Error> {
    if db.get_database_backend() != DbBackend::Postgres {
        return Ok(());
    }
    let ask = Statement::from_string(DbBackend::Postgres, CREATION);
    let Some(Creation { role, schema, search_path, is_allowed }) = Creation::find_by_statement(ask).one(db).await?
    else {
        return Ok(());
    };
    let Some(schema) = schema else {
        return Err(Error::refused(format!(
            "database.url: the role {role} may use none of the schemas of its search_path ({search_path}) in this database. Run `GRANT USAGE, \
             CREATE ON SCHEMA … TO {role}` there as the owner of one, or create one"
        )));
    };
    if !is_allowed {
        return Err(Error::refused(format!(
            "database.url: the role {role} may not create tables in the schema {schema} of this database. Run `GRANT CREATE ON SCHEMA {schema} \
             TO {role}` there as the owner of the schema"
        )));
    }
    match closed(db, OWNERS).await? {
        Some(Closed { role, table }) => Err(Error::refused(format!(
            "database.url: the table {table} belongs to another role than {role}, which therefore may not alter it. Run `ALTER TABLE {table} \
             OWNER TO {role}` in this database, and the same for the other tables of Sightline"
        ))),
        None => Ok(()),
    }
}

/// Checks that the role may read and write the rows of the tables that are there. A file has no roles.
///
/// # Errors
/// [`Error::Refused`] names a table, and the statement that grants what is missing.
pub async fn check_for_rows(db: &impl ConnectionTrait) -> Result<(), Error> {
    if db.get_database_backend() != DbBackend::Postgres {
        return Ok(());
    }
    match closed(db, ROWS).await? {
        Some(Closed { role, table }) => Err(Error::refused(format!(
            "database.url: the role {role} may not read and write the rows of the table {table}. Run `GRANT SELECT, INSERT, UPDATE, DELETE ON \
             {table} TO {role}` in this database, and the same for the other tables of Sightline"
        ))),
        None => Ok(()),
    }
}

async fn closed(db: &impl ConnectionTrait, ask: &str) -> Result<Option<Closed>, Error> {
    let tables = format!("{},seaql_migrations", migration::TABLES.join(","));
    let ask = Statement::from_sql_and_values(DbBackend::Postgres, ask, [tables.into()]);
    Ok(Closed::find_by_statement(ask).one(db).await?)
}

#[cfg(test)]
mod tests {
    use sea_orm::DatabaseConnection;
    use url::Url;

    use super::*;
    use crate::{
        database::{OpenDatabase, open},
        schema,
    };

    /// A database whose role is no superuser, and owns nothing.
    struct Restricted {
        fresh: test_data::postgres::Fresh,
        role: String,
        server: DatabaseConnection,
    }

    impl Restricted {
        async fn make() -> Option<Self> {
            let fresh = test_data::postgres::fresh().await?;
            let server = open(&fresh.url, 1).await.unwrap().writer;
            let role = format!("role_of{}", Url::parse(&fresh.url).unwrap().path().replace('/', "_"));
            server.execute_unprepared(&format!("CREATE ROLE {role}; CREATE SCHEMA empty")).await.unwrap();
            Some(Self { fresh, role, server })
        }

        async fn open(&self, schema: &str) -> OpenDatabase {
            let options = format!("?options=-c%20role%3D{}%20-c%20search_path%3D{schema}", self.role);
            open(&format!("{}{options}", self.fresh.url), 1).await.unwrap()
        }

        async fn run(&self, statement: &str) {
            self.server.execute_unprepared(&statement.replace("ROLE", &self.role)).await.unwrap();
        }

        async fn end(self) {
            let Self { server, role, .. } = self;
            server.execute_unprepared(&format!("DROP OWNED BY {role} CASCADE; DROP ROLE {role}")).await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_role_that_may_not_create_tables_is_refused_with_the_grant_that_it_needs() {
        let Some(restricted) = Restricted::make().await else { return };
        let role = restricted.role.clone();
        for (grant, schema, mend) in [
            ("SELECT 1", "nowhere", format!("`GRANT USAGE, CREATE ON SCHEMA … TO {role}`")),
            ("SELECT 1", "empty", format!("`GRANT USAGE, CREATE ON SCHEMA … TO {role}`")),
            ("GRANT USAGE ON SCHEMA empty TO ROLE", "empty", format!("`GRANT CREATE ON SCHEMA empty TO {role}`")),
        ] {
            restricted.run(grant).await;
            let db = restricted.open(schema).await.writer;
            for refused in [check_for_migrations(&db).await, schema::migrate(&db).await] {
                let said = refused.unwrap_err().to_string();
                assert!(said.starts_with("database.url: ") && said.contains(&mend), "{mend}: {said}");
            }
        }
        restricted.run("GRANT CREATE ON SCHEMA empty TO ROLE").await;
        let db = restricted.open("empty").await.writer;
        check_for_migrations(&db).await.unwrap();
        schema::migrate(&db).await.unwrap();
        check_for_rows(&db).await.unwrap();
        restricted.end().await;
    }

    #[tokio::test]
    async fn a_role_that_may_not_alter_or_write_a_table_is_refused_with_the_statement_that_it_needs() {
        let Some(restricted) = Restricted::make().await else { return };
        restricted.run("GRANT CREATE ON SCHEMA public TO ROLE").await;
        let db = restricted.open("public").await.writer;
        let said = check_for_migrations(&db).await.unwrap_err().to_string();
        assert!(said.contains(&format!(" OWNER TO {}`", restricted.role)), "{said}");
        let said = check_for_rows(&db).await.unwrap_err().to_string();
        assert!(said.contains(&format!(" TO {}`", restricted.role)) && said.contains("`GRANT SELECT, "), "{said}");
        restricted.run("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ROLE").await;
        restricted.run("REVOKE INSERT, UPDATE, DELETE ON seaql_migrations FROM ROLE").await;
        check_for_rows(&db).await.unwrap();
        // Nothing needs to be altered, so the role may serve.
        schema::migrate(&db).await.unwrap();
        restricted.end().await;
    }
}
