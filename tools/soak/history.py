"""The recorded history of a run: what was asked and answered, what the search engine was asked, and which faults there were."""

import json
import time
from pathlib import Path


def now() -> float:
    """The time of all records, in seconds."""
    return time.monotonic()


class History:
    """Records in the order in which they ended. Each is an object with `kind`, `start` and `end`."""

    def __init__(self) -> None:
        self.records: list[dict] = []
        self.begun = now()

    def add(self, kind: str, start: float, **facts) -> dict:
        """Adds a record that ends now. Times count from the start of the run."""
        record = {"kind": kind, "start": round(start - self.begun, 4), "end": round(now() - self.begun, 4), **facts}
        self.records.append(record)
        return record

    def open(self, kind: str, **facts) -> dict:
        """Adds a record whose end is not known yet."""
        record = self.add(kind, now(), **facts)
        record["end"] = None
        return record

    def close(self, record: dict, **facts) -> None:
        record.update(facts, end=round(now() - self.begun, 4))

    def of(self, kind: str) -> list[dict]:
        return [record for record in self.records if record["kind"] == kind]

    def keep(self, path: Path) -> None:
        """Writes one JSON object on each line."""
        path.write_text("".join(json.dumps(record) + "\n" for record in self.records))
