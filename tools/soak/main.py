"""Runs three replicas under load and faults, and holds what happened against what the service promises.

usage: main.py [--seed N] [--seconds N] --keep FOLDER NOW NEXT

NOW and NEXT are programs of two versions. Every twenty seconds there is a fault. Prints a Markdown table, and fails if an invariant does
not hold. The history and the logs stay in FOLDER.
"""

import argparse
import asyncio
import re
import shutil
import sys
import tempfile
from pathlib import Path

from caller import Caller
from checker import Checker, Limits, Verdict, complaints, table
from disk import Disk
from faults import EVERY_SECONDS, Faults, schedule
from history import History, now
from load import SITES, WRITTEN, Load
from report import report
from servers import Held
from world import BUCKET, RATE_BURST, RATE_PER_MINUTE, REFILL, TTL_SECONDS, World

# A long run goes on replacing replicas until so many requests have met it.
LONG_SECONDS = 300
ROLLED = 10_000

# A claim of a reading, as Redis holds it.
CLAIM = re.compile(rb"C[01][0-9a-f]{16}:[0-9]+")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Soak:
    """One run."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options = options
        self.history = History()
        self.world = World(folder, [str(Path(program).resolve()) for program in (options.now, options.next)], self.history)
        self.caller = Caller(self.world, self.history)
        self.load = Load(self.world, self.history, self.caller, options.seed)
        self.disk = Disk(folder, self.world.binaries[0], self.history)

    async def run(self) -> list[Verdict]:
        try:
            await self.world.start()
            await self.caller.sign_in()
            await self.world.settled()
            await self.disk.start()
            filling = asyncio.ensure_future(self.disk.run())
            sampling = asyncio.ensure_future(self._sample())
            self.load.start()
            await self._strike()
            await self.load.stop()
            sampling.cancel()
            await filling
            await self._look()
        finally:
            await self.disk.stop()
            await self.world.stop()
        limits = Limits(BUCKET, REFILL, TTL_SECONDS, RATE_PER_MINUTE, RATE_BURST)
        checker = Checker(self.history.records, limits)
        verdicts = checker.all()
        print(table(verdicts), report(checker), sep="\n\n")
        if told := complaints(checker, verdicts):
            say(told)
        return verdicts

    async def _strike(self) -> None:
        """Makes the faults, and a crowd before each."""
        faults = Faults(self.world, self.history, self.load, self.options.seed)
        kinds = schedule(self.options.seed, max(1, self.options.seconds // EVERY_SECONDS))
        begun = now()
        for number, kind in enumerate(kinds):
            await asyncio.sleep(max(0, begun + 5 + number * EVERY_SECONDS - now()))
            await self.load.crowd(50, "quiet")
            say(f"{now() - begun:5.0f} s  {kind}")
            await faults.strike(kind)
            await self._look_at_redis()
        while self.options.seconds >= LONG_SECONDS and self._rolled() < ROLLED:
            say(f"{now() - begun:5.0f} s  rolling, after {self._rolled():,} requests")
            await faults.strike("rolling")
        await asyncio.sleep(max(0, begun + self.options.seconds - now()))

    def _rolled(self) -> int:
        return Checker(self.history.records, Limits(BUCKET, REFILL, TTL_SECONDS, RATE_PER_MINUTE, RATE_BURST)).rolling().counted

    async def _sample(self) -> None:
        """Records once a second how many calls of Redis had no answer."""
        last: dict[tuple[object, str], int] = {}
        is_first = True
        while True:
            begun = now()
            for name, replica in self.world.replicas.items():
                program = replica.program
                for outcome, calls in (await replica.calls_alone()).items():
                    new = calls - last.get((program, outcome), 0)
                    last[program, outcome] = max(calls, last.get((program, outcome), 0))
                    if new > 0 and not is_first:
                        self.history.add("alone", begun - 1, replica=name, outcome=outcome, calls=new)
            is_first = False
            await asyncio.sleep(1)

    async def _look_at_redis(self) -> list[Held]:
        """Records the claims and the keys that never end."""
        held = await self.world.redis.contents()
        for entry in held:
            if CLAIM.search(entry.value):
                self.history.add("claim", now(), key=entry.key.decode(), lasts=entry.lasts)
            elif entry.lasts < 0:
                self.history.add("endless", now(), key=entry.key.decode())
        return held

    async def _look(self) -> None:
        """Records which notes are there, what the oracle says to every question, and what of it can be read in Redis."""
        held = await self._look_at_redis()
        property_id, offset, more = self.caller.properties["owner"][WRITTEN], 0, True
        while more:
            path = f"/api/properties/{property_id}/annotations?limit=500&offset={offset}"
            answer = await self.caller.send("look", "GET", path)
            assert answer is not None and answer.status == 200, answer
            for note in answer.json()["data"]:
                self.history.add("present", now(), text=note["text"])
            offset, more = offset + 500, answer.json()["meta"]["hasMore"]
        asked = {tuple(request["question"]) for request in self.history.of("request") if "figures" in request}
        say(f"asks the oracle {len(asked):,} questions")
        for question in sorted(asked):
            self.history.add("oracle", now(), question=list(question), figures=await self.caller.oracle(question))
        words = {*self.caller.named, *SITES, "owner@demo.test", "stranger@demo.test"}
        for entry in held:
            shown = sorted(word for word in words if word.encode() in entry.key + entry.value)
            self.history.add("held", now(), key=entry.key.decode(), words=len(words), shown=shown)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("now")
    parser.add_argument("next")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    # The user postgres walks through it.
    folder.chmod(0o755)
    soak = Soak(options, folder)
    try:
        verdicts = asyncio.run(soak.run())
    finally:
        shutil.rmtree(options.keep, ignore_errors=True)
        options.keep.mkdir(parents=True)
        soak.history.keep(options.keep / "history.jsonl")
        for log in folder.glob("*.log"):
            shutil.copy(log, options.keep)
        say(f"the history and the logs are in {options.keep}")
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if all(verdict.holds for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
