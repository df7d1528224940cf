"""Makes a next version of the source: the same with one migration more, which only adds to the schema.

usage: next_version.py ROOT COPY

Crates below the migrations are not copied but taken from ROOT, so that a build in the same target folder compiles only those above. The
program has another name, so that it does not replace the one of ROOT.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

# The migrations, and the crates that depend on them.
COPIED = ("migration", "crates/store", "crates/identity", "crates/pages", "crates/issuer", "crates/test-data")
PROGRAM = "sightline-next"
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


def write(path: Path, text: str) -> None:
    """Leaves a file that is already so as it is, with its time."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def manifest(root: Path) -> str:
    """The manifest of the copy: its members are those copied, and all other crates stand in ROOT."""
    text = (root / "Cargo.toml").read_text()
    members = re.search(r"^members = .*$", text, re.MULTILINE)
    assert members is not None
    text = replaced(text, members[0], f"members = {list(COPIED)}".replace("'", '"'))

    def placed(match: re.Match) -> str:
        return match[0] if match[1] in COPIED else f'path = "{root / match[1]}", package'

    text = re.sub(r'path = "([^"]+)", package', placed, text)
    text = replaced(text, 'default-run = "sightline"', f'default-run = "{PROGRAM}"')
    return text + f'\n[[bin]]\nname = "{PROGRAM}"\npath = "src/main.rs"\n'


def main() -> None:
    root, copy = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True, check=True
    )
    left_out = ("api/", "crates/", "entity/", "migration/", "tests/", "tools/")
    wanted: dict[Path, str] = {}
    for name in filter(None, listed.stdout.split("\0")):
        if (root / name).is_file() and (name.startswith(tuple(f"{crate}/" for crate in COPIED)) or not name.startswith(left_out)):
            wanted[copy / name] = name
    for old in [path for path in copy.rglob("*") if path.is_file() and path not in wanted]:
        if old.name not in (f"{NAME}.rs", "Cargo.lock"):
            old.unlink()
    for path, name in wanted.items():
        if name in ("Cargo.toml", "migration/src/lib.rs") or (name == "Cargo.lock" and path.exists()):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        # With its time, by which a build knows that nothing has changed.
        shutil.copy2(root / name, path)
    write(copy / "Cargo.toml", manifest(root))
    library = (root / "migration/src/lib.rs").read_text()
    library = replaced(library, "mod schema;", f"mod {NAME};\nmod schema;")
    last = re.findall(r"^ *Box::new\(m\d+_\w+::Migration\),$", library, re.MULTILINE)[-1]
    write(copy / "migration/src/lib.rs", replaced(library, last, f"{last}\n            Box::new({NAME}::Migration),"))
    write(copy / f"migration/src/{NAME}.rs", MIGRATION)


if __name__ == "__main__":
    main()
