//! Tests of the `sightline` command without a configured database: it always uses `SQLite`.

mod backup;
mod check;
mod databases;
mod first_hour;
mod reach;
mod secrets;

use std::{
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use tempfile::TempDir;

use crate::support::{actor::Actor, redis};

/// The command with only these settings, in an empty working folder.
pub fn sightline(folder: &Path, arguments: &[&str], settings: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sightline"));
    command.args(arguments).current_dir(folder).env_clear().stdout(Stdio::piped()).stderr(Stdio::piped());
    command.envs(settings.iter().map(|(name, value)| (format!("SIGHTLINE_{name}"), *value)));
    command
}

fn run(folder: &Path, arguments: &[&str], settings: &[(&str, &str)]) -> Output {
    sightline(folder, arguments, settings).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A running command. Dropping it kills the process.
pub struct Running {
    child: Child,
    stdout: BufReader<std::process::ChildStdout>,
    /// The URL in its first line of output.
    pub url: String,
}

impl Running {
    /// Starts the command and waits for its first line of output.
    pub fn start(command: Command) -> Self {
        Self::start_for(command, "http://127.0.0.1:")
    }

    /// Starts the command as [`Running::start`] does. `root` is the beginning of its URL.
    fn start_for(mut command: Command, root: &str) -> Self {
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let url = line.strip_prefix("listening on ").unwrap_or_else(|| panic!("the first line is {line:?}"));
        let url = url.strip_suffix('\n').unwrap().to_owned();
        assert!(url.starts_with(root), "{url}");
        Self { child, stdout, url }
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks the process to end. Returns its exit code, the rest of stdout, and stderr.
    pub fn terminate(self) -> (Option<i32>, String, String) {
        self.end_by("TERM")
    }

    /// Sends the process a signal and waits for its end, as [`Running::terminate`] does.
    fn end_by(mut self, signal: &str) -> (Option<i32>, String, String) {
        let signal = format!("-{signal}");
        let asked = Command::new("kill").args([signal.as_str(), &self.child.id().to_string()]).status().unwrap();
        assert!(asked.success());
        let (mut out, mut err) = (String::new(), String::new());
        // A process with much to say ends when its lines have been read.
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        self.stdout.read_to_string(&mut out).unwrap();
        let status = self.child.wait().unwrap();
        (status.code(), out, err)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const ANY_PORT: (&str, &str) = ("LISTEN", "127.0.0.1:0");

#[tokio::test]
async fn serve_says_where_logs_elsewhere_and_ends_when_told() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("kept");
    let redis = ("REDIS__URL", "redis://:hunter2@cache.example:6379");
    let settings = [ANY_PORT, ("DATA_DIR", data.to_str().unwrap()), redis];
    let server = Running::start(sightline(folder.path(), &[], &settings));

    let elsewhere = TempDir::new().unwrap();
    let login = |arguments: &[&str]| run(elsewhere.path(), arguments, &[("BASE_URL", &server.url)]);
    for role in ["owner", "viewer"] {
        let output = login(&["login", "--as", role]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let token = text(&output.stdout).strip_suffix('\n').unwrap().to_owned();
        assert!(token.split('.').count() == 3 && !token.contains(char::is_whitespace), "{token}");
        let listed = Actor::with_token(&server.url, &token).get("/api/properties").await.expect(200);
        assert_eq!(listed.json["data"][0]["role"], role);
    }
    let nobody = login(&["login", "--as", "nobody"]);
    assert!(!nobody.status.success() && nobody.stdout.is_empty() && !nobody.stderr.is_empty());
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0, "login touches no data folder");

    assert!(data.join("secrets.key").exists());
    let (code, stdout, stderr) = server.terminate();
    assert_eq!((code, stdout.as_str()), (Some(0), ""), "{stderr}");
    assert!(stderr.contains(" request="), "requests are logged on stderr: {stderr}");
    assert!(!stderr.contains("eyJ"), "no token is logged");
    let warned: Vec<&str> = stderr.lines().filter(|line| line.contains("Redis is reached in clear")).collect();
    assert!(matches!(warned[..], [line] if line.contains("WARN") && line.contains("cache.example")), "{warned:?}");
    assert!(!stderr.contains("hunter2"), "no password is logged");
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["kept"]);
}

#[cfg(unix)]
#[test]
fn every_signal_that_ends_a_service_ends_it_in_order() {
    for signal in ["TERM", "INT", "HUP", "QUIT"] {
        let folder = TempDir::new().unwrap();
        let program = sightline(folder.path(), &["serve"], &[ANY_PORT]);
        // A shell that runs the tests in the background has them started with SIGINT and SIGQUIT ignored.
        let mut shell = Command::new("env");
        shell.arg("--default-signal").arg(program.get_program()).arg("serve").current_dir(folder.path());
        shell.env_clear().env("SIGHTLINE_LISTEN", ANY_PORT.1).stdout(Stdio::piped()).stderr(Stdio::piped());
        let server = Running::start(shell);
        let (code, _, log) = server.end_by(signal);
        assert!(code == Some(0) && log.contains("stopping"), "{signal}: {code:?} {log}");
    }
}

/// A container without certificates, or a wrong `SSL_CERT_FILE`.
#[test]
fn a_service_without_root_certificates_starts_and_says_what_it_cannot_reach() {
    let folder = TempDir::new().unwrap();
    let mut program = sightline(folder.path(), &["serve"], &[ANY_PORT]);
    program.env("SSL_CERT_FILE", "/nonexistent").env("SSL_CERT_DIR", "/nonexistent");
    let (code, _, log) = Running::start(program).terminate();
    assert!(code == Some(0) && log.contains("install ca-certificates, or name a file by SSL_CERT_FILE"), "{log}");
}

/// `nohup` starts a program with SIGHUP ignored, and shells start programs in the background with SIGQUIT ignored.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_was_ignored_at_the_start_stays_ignored() {
    let folder = TempDir::new().unwrap();
    let program = sightline(folder.path(), &["serve"], &[ANY_PORT]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP QUIT; exec \"$0\" serve"]).arg(program.get_program()).current_dir(folder.path());
    shell.env_clear().env("SIGHTLINE_LISTEN", ANY_PORT.1).stdout(Stdio::piped()).stderr(Stdio::piped());
    let server = Running::start(shell);
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let mask = |name: &str| {
        let digits = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        u64::from_str_radix(digits.trim(), 16).unwrap()
    };
    // SIGHUP is 1 and SIGQUIT 3.
    assert_eq!((mask("SigIgn:") & 0b101, mask("SigCgt:") & 0b101), (0b101, 0), "{status}");
    assert_eq!(server.terminate().0, Some(0));
}

#[tokio::test]
async fn a_simulator_of_its_own_can_stand_behind_the_service() {
    let folder = TempDir::new().unwrap();
    let options = ["simulator", "--listen", "127.0.0.1:0", "--seed", "3", "--today", "2026-03-01"];
    let simulator = Running::start(sightline(folder.path(), &options, &[]));
    let root = simulator.url.clone();
    let urls = ["", "/o/oauth2/v2/auth", "/token", "/revoke", "/userinfo"].map(|path| format!("{root}{path}"));
    let names = ["API_URL", "AUTHORIZE_URL", "TOKEN_URL", "REVOKE_URL", "USERINFO_URL"];
    let names = names.map(|name| format!("SEARCH_ENGINE__{name}"));
    let mut settings = vec![ANY_PORT, ("IDENTITY__DEMO_SIGN_IN", "true")];
    settings.extend(names.iter().zip(&urls).map(|(name, url)| (name.as_str(), url.as_str())));
    let server = Running::start(sightline(folder.path(), &["serve"], &settings));
    let owner = Actor::signed_in(&server.url, "owner").await;
    let health = owner.get("/api/accounts/health").await.expect(200);
    assert_eq!(health.json["data"][0]["status"], "connected");
    let (code, _, _) = simulator.terminate();
    assert_eq!(code, Some(0));
    let health = owner.get("/api/accounts/health").await.expect(200);
    assert_eq!(health.json["data"][0]["status"], "unreachable");
    assert_eq!(owner.get("/api/health").await.expect(200).json["data"]["status"], "degraded");
    assert_eq!(server.terminate().0, Some(0));
}

#[test]
fn the_committed_documents_are_printed() {
    let folder = TempDir::new().unwrap();
    for (arguments, file) in [
        (&["openapi"][..], "openapi.json"),
        (&["openapi", "--operations"], "api/operations.txt"),
        (&["settings"], "docs/SETTINGS.md"),
    ] {
        let output = run(folder.path(), arguments, &[]);
        let committed = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        assert!(text(&output.stdout) == committed, "{file} is out of date: make openapi settings");
        assert!(output.status.success());
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn settings_that_cannot_be_meant_are_refused_by_name() {
    let folder = TempDir::new().unwrap();
    let cases: [(&[(&str, &str)], &str); 15] = [
        (&[("LISTN", "127.0.0.1:0")], "`listn`. Did you mean `listen` (SIGHTLINE_LISTEN)?"),
        (
            &[("RATE_LIMIT__BURTS", "3")],
            "`rate_limit.burts`. Did you mean `rate_limit.burst` (SIGHTLINE_RATE_LIMIT__BURST)?",
        ),
        (&[("RATE_LIMIT__BURST", "many")], "rate_limit.burst"),
        (&[("CACHE__TTL", "7h")], "cache.ttl"),
        (&[("BASE_URL", "nonsense")], "base_url"),
        (&[ANY_PORT, ("IDENTITY__EMBEDDED_BEYOND_LOOPBACK", "true")], "identity.embedded_beyond_loopback"),
        (&[ANY_PORT, ("SEARCH_ENGINE__TOKEN_URL", "http://engine.example/token")], "search_engine.token_url"),
        (&[ANY_PORT, ("SEO__PROVIDER_A__URL", "http://seo.example")], "seo.provider_a.url"),
        (&[ANY_PORT, ("MCP__URL", "http://tools.example.org")], "mcp.url"),
        (&[ANY_PORT, ("MCP__URL", "https://tools.example.org/")], "mcp.url"),
        (&[ANY_PORT, ("IDENTITY__MCP_AUDIENCE", "urn:tools")], "identity.mcp_audience"),
        (&[ANY_PORT, ("SIMULATOR__FAIL", "fire:1")], "simulator.fail"),
        (&[ANY_PORT, ("MAIL__SMTP_URL", "https://mail.example")], "mail.smtp_url"),
        (&[ANY_PORT, ("MAIL__SMTP_URL", "smtps://mail.example")], "mail.from"),
        (&[ANY_PORT, ("MAIL__SMTP_URL", "smtps://mail.example"), ("MAIL__FROM", "nobody")], "mail.from"),
    ];
    for (settings, named) in cases {
        let output = run(folder.path(), &["serve"], settings);
        assert_eq!(output.status.code(), Some(1), "{settings:?}");
        assert!(text(&output.stderr).contains(named), "{settings:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty());
        assert!(!folder.path().join("data").exists(), "{settings:?} left a data folder");
    }
    std::fs::write(folder.path().join("sightline.toml"), "[cache]\nmax_byte = 3\n").unwrap();
    let output = run(folder.path(), &["serve"], &[]);
    let said = text(&output.stderr);
    assert!(said.contains("cache.max_byte") && said.contains("sightline.toml"), "{said}");
}

#[test]
fn demo_people_sign_in_on_this_machine_only() {
    let folder = TempDir::new().unwrap();
    let refused = |settings: &[(&str, &str)]| {
        let output = run(folder.path(), &["serve"], settings);
        assert_eq!(output.status.code(), Some(1), "{settings:?}");
        assert!(!folder.path().join("data").exists(), "{settings:?} left a data folder");
        text(&output.stderr)
    };
    let demo = ("IDENTITY__DEMO_SIGN_IN", "true");
    let public = ("BASE_URL", "https://search.example.org");
    for (settings, named) in [
        (&[("LISTEN", "0.0.0.0:0"), ("BASE_URL", "http://127.0.0.1:8080"), demo][..], "listen: "),
        (&[ANY_PORT, public, demo], "base_url: "),
        (&[ANY_PORT, ("MCP__URL", "https://tools.example.org"), demo], "mcp.url: "),
        (&[("LISTEN", "0.0.0.0:0")], "base_url: "),
        (&[("LISTEN", "0.0.0.0:0"), demo], "base_url: "),
        (&[ANY_PORT, ("BASE_URL", "http://192.168.1.5:8080")], "base_url"),
    ] {
        let said = refused(settings);
        assert!(
            said.contains(named) && (said.contains("identity.issuer") || said.contains("https")),
            "{settings:?}: {said}"
        );
    }
    let url =
        Running::start(sightline(folder.path(), &[], &[ANY_PORT, ("MCP__URL", "http://localhost:9000")])).url.clone();
    assert!(url.starts_with("http://127.0.0.1:"));
}

#[test]
fn settings_are_tried_without_changing_anything() {
    let folder = TempDir::new().unwrap();
    let tried = run(folder.path(), &["check"], &[]);
    let said = text(&tried.stdout);
    assert!(tried.status.success(), "{said}");
    for line in ["serve` makes it", "Redis", "not set", "embedded", "simulated"] {
        assert!(said.contains(line), "{said}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is made");
    // Nothing listens at the port of the discard service.
    let settings = [
        ("REDIS__URL", "redis://:hunter2@127.0.0.1:9"),
        ("IDENTITY__ISSUER", "http://127.0.0.1:9"),
        ("MAIL__SMTP_URL", "smtp://127.0.0.1:9"),
        ("MAIL__FROM", "sightline@search.example.org"),
    ];
    let tried = run(folder.path(), &["check"], &settings);
    let said = text(&tried.stdout);
    assert!(!tried.status.success());
    assert_eq!(said.matches("FAILED").count(), 4, "{said}");
    assert!(said.contains("identity.client_id: is not set"), "{said}");
    assert!(said.contains("redis.url: ") && said.contains("mail.smtp_url: ") && !said.contains("hunter2"), "{said}");
}

#[test]
fn a_redis_that_refuses_the_login_is_not_called_away() {
    let folder = TempDir::new().unwrap();
    let url = format!("redis://:hunter2@{}", redis::refusing("WRONGPASS invalid username-password pair."));
    let tried = run(folder.path(), &["check"], &[("REDIS__URL", &url)]);
    let said = text(&tried.stdout);
    assert!(!tried.status.success() && said.contains("redis.url: the server refuses the login"), "{said}");
    let server = Running::start(sightline(folder.path(), &["serve"], &[ANY_PORT, ("REDIS__URL", &url)]));
    let (code, _, log) = server.terminate();
    assert_eq!(code, Some(0));
    assert!(
        log.contains("Redis refuses the login: check user and password") && !log.contains("Redis is away"),
        "{log}"
    );
    assert!(!said.contains("hunter2") && !log.contains("hunter2"), "{said} {log}");
}

/// Without demo people, the embedded issuer runs where others can reach it.
#[tokio::test]
async fn a_public_service_has_accounts_and_no_demo_people() {
    let folder = TempDir::new().unwrap();
    let settings = [ANY_PORT, ("MCP__URL", "https://tools.example.org")];
    let server = Running::start(sightline(folder.path(), &["serve"], &settings));
    let login = run(folder.path(), &["login", "--as", "owner", "--server", &server.url], &[]);
    assert!(
        !login.status.success() && text(&login.stderr).contains("a public server has none"),
        "{}",
        text(&login.stderr)
    );
    let shown = run(folder.path(), &["subscription", "show", "--user", "owner@demo.test"], &[]);
    assert!(!shown.status.success(), "nobody was made");
    assert_eq!(server.terminate().0, Some(0));
}

#[test]
fn accounts_are_added_listed_reset_and_removed_without_a_server() {
    let folder = TempDir::new().unwrap();
    let settings = [("BASE_URL", "https://search.example.org")];
    assert!(run(folder.path(), &["migrate"], &[]).status.success());
    let user = |arguments: &[&str]| run(folder.path(), &[&["user"][..], arguments].concat(), &settings);
    let added = user(&["add", "ann@corp.test", "--name", "Ann"]);
    let link = text(&added.stdout);
    assert!(link.starts_with("https://search.example.org/account/password/set?token="), "{link}");
    assert!(text(&added.stderr).contains("24 hours") && link.lines().count() == 1, "{}", text(&added.stderr));
    let again = user(&["add", "ANN@corp.test"]);
    assert!(!again.status.success() && text(&again.stderr).contains("sightline user reset"), "{}", text(&again.stderr));
    assert!(text(&user(&["add", "ann"]).stderr).contains("email: "));
    let listed = text(&user(&["list"]).stdout);
    assert!(listed.contains("ann@corp.test  Ann   no password yet  never"), "{listed}");
    let reset = user(&["reset", "ann@corp.test"]);
    assert!(reset.status.success() && text(&reset.stdout) != link);
    let kept = user(&["remove", "ann@corp.test"]);
    assert!(!kept.status.success() && text(&kept.stderr).contains("--yes"), "{}", text(&kept.stderr));
    let removed = user(&["remove", "ann@corp.test", "--yes"]);
    assert!(removed.status.success() && text(&removed.stderr).contains("stay"), "{}", text(&removed.stderr));
    assert!(!text(&user(&["list"]).stdout).contains("ann@"));
    let elsewhere = run(folder.path(), &["user", "list"], &[("IDENTITY__ISSUER", "https://id.example.org")]);
    assert!(!elsewhere.status.success() && text(&elsewhere.stderr).contains("identity.issuer"));
}

#[test]
fn plans_are_set_and_shown_without_a_server() {
    let folder = TempDir::new().unwrap();
    assert!(run(folder.path(), &["migrate"], &[]).status.success());
    let output = run(folder.path(), &["subscription", "show", "--user", "owner@demo.test"], &[]);
    assert!(!output.status.success() && output.stdout.is_empty(), "nobody has signed in yet");
    assert!(!run(folder.path(), &["subscription", "set", "--user", "x", "--plan", "gold"], &[]).status.success());
}
