"""Writes an image anew, so that the same content is the same bytes, and both `docker load` and tools of the OCI read it.

usage: archive.py ARCHIVE TAG > NEW

ARCHIVE is a docker-archive of one layer, as buildah writes it: with the id and the host name of the container in which it was built, which
are left out. In its place stands a layout of the OCI with the manifest of Docker beside it, as `docker save` writes it. The configuration
keeps its health check, which Docker and Podman know and the OCI does not name.
"""

import hashlib
import io
import json
import sys
import tarfile

LAYER = "application/vnd.oci.image.layer.v1.tar"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"


def text(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


class Layout:
    """The files of an image."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def blob(self, kind: str, content: bytes) -> dict:
        """Adds a blob, and returns its descriptor."""
        digest = hashlib.sha256(content).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = content
        return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(content)}

    def write(self) -> None:
        with tarfile.open(fileobj=sys.stdout.buffer, mode="w|", format=tarfile.USTAR_FORMAT) as archive:
            for name, content in sorted(self.files.items()):
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))


def path(descriptor: dict) -> str:
    return f"blobs/{descriptor['digest'].replace(':', '/')}"


def main() -> None:
    tag = sys.argv[2]
    with tarfile.open(sys.argv[1]) as archive:
        read = lambda name: archive.extractfile(name).read()
        (image,) = json.loads(read("manifest.json"))
        config = json.loads(read(image["Config"]))
        (layer,) = map(read, image["Layers"])
    for name in ("container", "container_config"):
        config.pop(name, None)
    config["config"].pop("Hostname", None)
    layout = Layout()
    parts = {"config": layout.blob(CONFIG, text(config)), "layers": [layout.blob(LAYER, layer)]}
    manifest = layout.blob(MANIFEST, text({"schemaVersion": 2, "mediaType": MANIFEST, **parts}))
    names = {"org.opencontainers.image.ref.name": tag.rpartition(":")[2], "io.containerd.image.name": tag}
    layout.files["oci-layout"] = text({"imageLayoutVersion": "1.0.0"})
    layout.files["index.json"] = text({"schemaVersion": 2, "manifests": [{**manifest, "annotations": names}]})
    old = {"Config": path(parts["config"]), "RepoTags": [tag], "Layers": [path(one) for one in parts["layers"]]}
    layout.files["manifest.json"] = text([old])
    layout.write()


main()
