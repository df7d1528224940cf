"""The places that a release is installed into: a root for each part of it, and how the program is run there."""

import json
import shlex
import subprocess
import sys
import tarfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
# A person on a machine, who is not root.
SOMEBODY = (1000, 1000)


@dataclass
class Place:
    """Where and as whom the program runs."""

    root: str
    program: str
    folder: str
    user: tuple[int, int]
    # The folder inside that holds the database.
    data: str
    environment: dict[str, str] = field(default_factory=dict)
    # Folders and files of this machine that are seen inside.
    mounts: dict[str, str] = field(default_factory=dict)
    read_only: bool = False

    def command(self, file: Path) -> Path:
        """Writes a command that runs the program there."""
        described = file.with_suffix(".json")
        described.write_text(json.dumps(asdict(self)))
        words = ["exec", "unshare", "--mount", sys.executable, "-B", str(HERE / "inside.py"), str(described)]
        file.write_text(f'#!/bin/sh\n{shlex.join(words)} "$@"\n')
        file.chmod(0o755)
        return file

    def database(self) -> Path:
        """The file of the database, on this machine."""
        outside = next((out for out, inside in self.mounts.items() if inside == self.data), self.root + self.data)
        return Path(outside) / "sightline.db"


def copied(base: Path, root: Path) -> None:
    """Makes an empty root."""
    subprocess.run(["rm", "-rf", str(root)], check=True)
    subprocess.run(["cp", "--archive", "--reflink=auto", str(base), str(root)], check=True)


def tarball(file: Path, base: Path, root: Path) -> Place:
    """Unpacks the tarball in the home of somebody, who runs the program where it is."""
    copied(base, root)
    home = root / "home" / "somebody"
    home.mkdir()
    subprocess.run(["tar", "--extract", "--file", str(file), "--directory", str(home), "--no-same-owner"], check=True)
    subprocess.run(["chown", "--recursive", ":".join(map(str, SOMEBODY)), str(home)], check=True)
    folder = f"/home/somebody/{file.name.removesuffix('.tar.gz')}"
    return Place(str(root), f"{folder}/sightline", folder, SOMEBODY, f"{folder}/data")


def package(file: Path, base: Path, root: Path) -> Place:
    """Installs the package, and runs what its unit says, as its user and in its folder."""
    copied(base, root)
    (root / "package.deb").write_bytes(file.read_bytes())
    subprocess.run(["chroot", str(root), "dpkg", "--install", "/package.deb"], check=True, stdout=subprocess.DEVNULL)
    text = (root / "usr/lib/systemd/system/sightline.service").read_text()
    unit = dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))
    if unit["ExecStart"] != "sightline serve":
        sys.exit(f"the unit runs {unit['ExecStart']}")
    if any((root / "etc/systemd/system").glob("*.wants/sightline.service")):
        sys.exit("the package enables the service, which nobody asked for")
    people = (line.split(":") for line in (root / "etc/passwd").read_text().splitlines())
    user = next((int(person[2]), int(person[3])) for person in people if person[0] == unit["User"])
    return Place(str(root), "/usr/bin/sightline", unit["WorkingDirectory"], user, f"/var/lib/{unit['StateDirectory']}")


def image(file: Path, root: Path, resolver: str) -> tuple[Place, list[str]]:
    """Unpacks the image, and runs it as its configuration says. Also returns the command of its health check."""
    subprocess.run(["rm", "-rf", str(root)], check=True)
    inside, volume = root / "root", root / "volume"
    inside.mkdir(parents=True)
    with tarfile.open(file) as archive:
        read = lambda name: archive.extractfile(name)
        manifest = json.load(read("manifest.json"))[0]
        config = json.load(read(manifest["Config"]))["config"]
        for name in manifest["Layers"]:
            with tarfile.open(fileobj=read(name)) as layer:
                layer.extractall(inside, filter="fully_trusted")
    (data,) = config["Volumes"]
    # An engine fills a new volume with what the image has there.
    subprocess.run(["cp", "--archive", f"{inside}{data}", str(volume)], check=True)
    names = root / "resolv.conf"
    names.write_text(f"nameserver {resolver}\n")
    (inside / "etc/resolv.conf").touch()
    user, group = map(int, config["User"].split(":"))
    environment = dict(pair.split("=", 1) for pair in config["Env"])
    (program,) = config["Entrypoint"]
    mounts = {str(volume): data, str(names): "/etc/resolv.conf"}
    place = Place(str(inside), program, config["WorkingDir"], (user, group), data, environment, mounts, read_only=True)
    kind, *health = config["Healthcheck"]["Test"]
    if (kind, health[0], config["Cmd"]) != ("CMD", program, ["serve"]) or 0 in (user, group):
        sys.exit(f"the configuration of the image is {config}")
    return place, health[1:]
