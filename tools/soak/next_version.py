"""Makes a next version of the source: the same with one migration more, which only adds to the schema.

usage: next_version.py ROOT COPY

Crates below the migrations are links to those of ROOT, so that a build in the same target folder compiles only those above. These have
another version, and the program another name, so that nothing that ROOT built is replaced.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

# The migrations, and the crates that depend on them.
COPIED = ("migration", "crates/store", "crates/identity", "crates/pages", "crates/issuer", "crates/test-data")
CRATES = ("api/", "crates/", "entity/", "migration/", "tests/", "tools/")
PROGRAM = "sightline-next"
VERSION = "0.0.9999"
NAME = "m9999_soak"

MIGRATION = """//! Adds a column and a table that the version before does not know.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for statement in ["CREATE TABLE soak (id bigint PRIMARY KEY)", "ALTER TABLE annotation ADD COLUMN soak bigint"] {
            manager.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}
"""


def replaced(text: str, old: str, new: str) -> str:
    """`text` with the one place of `old` replaced."""
    assert text.count(old) == 1, f"{old!r} stands there {text.count(old)} times"
    return text.replace(old, new)


def of_next(text: str) -> str:
    """A manifest with the next version."""
    return replaced(text, "\nversion.workspace = true\n", f'\nversion = "{VERSION}"\n')


def manifest(root: Path) -> str:
    """The manifest at the root, whose program has another name."""
    text = replaced(of_next((root / "Cargo.toml").read_text()), 'default-run = "sightline"', f'default-run = "{PROGRAM}"')
    return text + f'\n[[bin]]\nname = "{PROGRAM}"\npath = "src/main.rs"\n'


def lock(root: Path) -> str:
    """The same versions of all dependencies."""
    text = (root / "Cargo.lock").read_text()
    for name in ("sightline", *(f"sightline-{crate.rsplit('/', 1)[-1]}" for crate in COPIED)):
        now = re.search(rf'name = "{name}"\nversion = ".*"\n', text)
        assert now is not None, name
        text = replaced(text, now[0], f'name = "{name}"\nversion = "{VERSION}"\n')
    return text


def library(root: Path) -> str:
    """The list of migrations with one more."""
    text = replaced((root / "migration/src/lib.rs").read_text(), "mod schema;", f"mod {NAME};\nmod schema;")
    last = re.findall(r"^ *Box::new\(m\d+_\w+::Migration\),$", text, re.MULTILINE)[-1]
    return replaced(text, last, f"{last}\n            Box::new({NAME}::Migration),")


def tracked(root: Path) -> list[str]:
    """The files of the source that are copied."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    copied = tuple(f"{crate}/" for crate in COPIED)
    return [name for name in filter(None, names) if (root / name).is_file() and (name.startswith(copied) or not name.startswith(CRATES))]


def main() -> None:
    root, copy = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    changed = {
        "Cargo.toml": manifest(root),
        "Cargo.lock": lock(root),
        "migration/src/lib.rs": library(root),
        f"migration/src/{NAME}.rs": MIGRATION,
        **{f"{crate}/Cargo.toml": of_next((root / crate / "Cargo.toml").read_text()) for crate in COPIED},
    }
    names = tracked(root)
    for folder, _, files in os.walk(copy):
        for path in (Path(folder, file) for file in files):
            if str(path.relative_to(copy)) not in (*names, *changed):
                path.unlink()
    for crate in ("api", "entity", *(f"crates/{path.name}" for path in sorted((root / "crates").iterdir()))):
        if crate not in COPIED and not (copy / crate).is_symlink():
            (copy / crate).parent.mkdir(parents=True, exist_ok=True)
            (copy / crate).symlink_to(root / crate)
    for name in names:
        if name not in changed:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            # With its time, by which a build knows that nothing has changed.
            shutil.copy2(root / name, copy / name)
    for name, text in changed.items():
        if not (copy / name).exists() or (copy / name).read_text() != text:
            (copy / name).write_text(text)


if __name__ == "__main__":
    main()
