"""The checker finds what is wrong: each broken history violates one invariant, and the sound one none."""

import copy
import unittest
from collections.abc import Callable

from checker import Checker, Limits, complaints, table
from faults import ALL, CORE, schedule

LIMITS = Limits(bucket=60, refill=18, ttl=60, rate_per_minute=60, rate_burst=30)
QUESTION = ["owner", "sc-domain:northmoor.example", "performance?startDate=2026-01-01&endDate=2026-01-02"]


def request(start: float, status: int = 200, op: str = "warm", **facts) -> dict:
    more = {"retry_after": None, "replica": "a", "said": "", "attempt": 0, **facts}
    return {"kind": "request", "op": op, "start": start, "end": start + 0.1, "status": status, **more}


def upstream(start: float, key: str = "key", good: bool = True, site: str = "https://tinyfern.test/", day: str = "2026-02-01") -> dict:
    question = f'{{"endDate": "2026-02-05", "startDate": "{day}"}}'
    return {"kind": "upstream", "replica": "a", "site": site, "key": key, "question": question, "good": good, "start": start, "end": start + 0.2}


def fault(kind: str, start: float, end: float, replica: str | None = None) -> dict:
    return {"kind": "fault", "fault": kind, "replica": replica, "start": start, "end": end}


def crowd(number: int, start: float, day: str, as_of: str) -> dict:
    return {"kind": "crowd", "crowd": number, "size": 50, "day": day, "last": "2026-02-05", "as_of": as_of, "start": start, "end": start + 1}


def write(key: str, outcome: str = "acknowledged", answers: int = 1, same: bool = True) -> dict:
    return {"kind": "write", "key": key, "text": f"note {key}", "outcome": outcome, "answers": answers, "same": same, "start": 1, "end": 2}


def present(key: str) -> dict:
    return {"kind": "present", "text": f"note {key}", "start": 900, "end": 900}


def disk_write(text: str, acknowledged: bool = True, *statuses: list, start: float = 10) -> dict:
    tried = list(statuses) or [[201, None]]
    return {"kind": "disk-write", "text": text, "acknowledged": acknowledged, "statuses": tried, "start": start, "end": start + 1}


def disk_present(text: str) -> dict:
    return {"kind": "disk-present", "text": text, "start": 900, "end": 900}


def disk_full(reads: int = 200, database: str = "degraded") -> dict:
    return {"kind": "disk-full", "reads": reads, "database": database, "refused": 40, "start": 12, "end": 15}


def held(*shown: str, words: int = 500) -> dict:
    return {"kind": "held", "key": "sl:2", "words": words, "shown": list(shown), "start": 900, "end": 900}


def sound() -> list[dict]:
    """A history in which everything that can be counted is there, and nothing is wrong."""
    return [
        fault("kill", 20, 30, "a"), fault("redis-kill", 40, 50), fault("postgres", 60, 70), fault("rolling", 80, 100),
        fault("redis-pause", 160, 170), *(request(time) for time in (1, 45, 65, 90, 165)),
        disk_write("a"), disk_present("a"), disk_write("b", True, [503, "5"], [201, None], start=13), disk_present("b"), disk_full(),
        disk_write("c", start=20), disk_present("c"), disk_write("d", False, [503, "5"], start=14),
        request(64, 503, retry_after="1"), request(20.5, 0, broken="reset"),
        request(2, question=QUESTION, figures="right"), {"kind": "oracle", "question": QUESTION, "figures": "right", "start": 900, "end": 900},
        *(request(200 + index / 10, op="hammer") for index in range(30)), request(203, 429, op="hammer", retry_after="1"),
        write("1"), present("1"), write("2", answers=2), present("2"), write("3", outcome="unknown"),
        {"kind": "withdrawal", "subject": "link 1", "answered": True, "start": 110, "end": 111},
        request(105, op="shared", subject="link 1", site="s"), request(112, 404, op="shared", subject="link 1", site="s"),
        upstream(5), upstream(70, good=False), upstream(71), crowd(1, 5, "2026-02-01", "quiet"),
        {"kind": "claim", "key": "sl:1", "lasts": 30_000, "start": 30, "end": 30}, held(),
        upstream(21, "killed", day="2026-03-01"), upstream(22, "killed", day="2026-03-01"), crowd(2, 21, "2026-03-01", "owner killed"),
    ]  # fmt: skip


class CheckerTest(unittest.TestCase):
    def verdicts(self, change: Callable[[list[dict]], object] = lambda records: None) -> set[str]:
        records = copy.deepcopy(sound())
        change(records)
        checker = Checker(records, LIMITS)
        verdicts = checker.all()
        self.assertIn("| invariant |", table(verdicts))
        complaints(checker, verdicts)
        return {verdict.invariant for verdict in verdicts if not verdict.holds}

    def broken(self, start: str, *added: dict, without: Callable[[dict], bool] = lambda record: False) -> None:
        """Fails unless the history with these records breaks an invariant that starts with these words."""

        def change(records: list[dict]) -> None:
            records[:] = [record for record in records if not without(record)] + list(added)

        found = self.verdicts(change)
        self.assertTrue(any(invariant.startswith(start) for invariant in found), f"{start}: {found}")

    def test_a_sound_history_holds(self) -> None:
        self.assertEqual(self.verdicts(), set())

    def test_a_history_that_counts_nothing_proves_nothing(self) -> None:
        self.broken("an acknowledged write", without=lambda record: record["kind"] == "write")
        self.broken("replicas replaced", without=lambda record: record.get("fault") == "rolling")

    def test_writes(self) -> None:
        self.broken("an acknowledged write", without=lambda record: record["kind"] == "present")
        self.broken("an acknowledged write", present("1"))
        self.broken("a write without an answer", present("3"), present("3"))
        self.broken("the same key", write("4", answers=2, same=False), present("4"))

    def test_withdrawals(self) -> None:
        self.broken("no access after", request(111.5, op="shared", subject="link 1", site="s"))
        self.broken("no access after", request(106, 404, op="shared", subject="link 1", site="s"))

    def test_a_limit(self) -> None:
        self.broken("requests within a limit", *(request(202.9 + index / 1000, op="hammer") for index in range(4)))

    def test_a_limit_while_redis_is_away(self) -> None:
        away = fault("redis-kill", 201, 204)
        self.assertEqual(self.verdicts(lambda records: records.extend([away, *(request(203.5, op="hammer") for _ in range(60))])), set())
        self.broken("requests within a limit", away, *(request(203.5, op="hammer") for _ in range(120)))

    def test_the_quota_of_the_search_engine(self) -> None:
        self.broken("at most 1,140 starts", *(upstream(300 + index / 20, f"key {index}") for index in range(1141)))
        sites = ("https://tinyfern.test/", "https://www.ledgerline.example/")
        self.broken("at most 1,140 starts", *(upstream(300 + index / 20, f"key {index}", site=sites[index % 2]) for index in range(1141)))

    def test_the_quota_while_redis_is_away(self) -> None:
        away = fault("redis-kill", 320, 325)
        self.assertEqual(self.verdicts(lambda r: r.extend([away, *(upstream(300 + index / 22, f"key {index}") for index in range(1200))])), set())
        self.broken("a burst of 60 more", away, *(upstream(300 + index / 22, f"key {index}") for index in range(1201)))

    def test_a_key_is_read_once(self) -> None:
        self.broken("a reading starts once", upstream(300, "again"), upstream(310, "again"))
        self.assertEqual(self.verdicts(lambda records: records.append(upstream(72 + LIMITS.ttl))), set())
        self.broken("a reading starts once", *(upstream(20 + index, "other") for index in range(3)))

    def test_a_key_is_read_again_beside_a_reading_for_a_link(self) -> None:
        beside = [upstream(105.05, "own", site="s"), upstream(105.1, "own", site="s")]
        self.assertEqual(self.verdicts(lambda records: records.extend(beside)), set())
        self.broken("a reading starts once", *beside, upstream(112, "own", site="s"))

    def test_crowds(self) -> None:
        self.broken("one set of readings", upstream(5.4))
        self.broken("at most two sets", upstream(21.9, "killed", day="2026-03-01"))

    def test_redis(self) -> None:
        claim = {"kind": "claim", "key": "sl:1", "start": 300, "end": 300}
        for lasts in (-1, 30_001):
            self.broken("a claim ends", {**claim, "lasts": lasts})
        self.broken("a claim ends", {"kind": "endless", "key": "sl:3", "start": 300, "end": 300})
        self.broken("nothing in Redis shows", held("fern care"))
        self.broken("nothing in Redis shows", held(words=2))

    def test_figures(self) -> None:
        self.broken("every figure", request(3, question=QUESTION, figures="wrong"))

    def test_answers(self) -> None:
        self.broken("only 503", request(5, 503, retry_after="1"))
        self.broken("only 503", request(64, 503))
        self.broken("only 503", request(64, 500))
        self.broken("only 503", request(64, 401))
        self.broken("only 503", request(64, 429, retry_after="1"))
        self.broken("only 503", request(64, 0, broken="reset"))
        self.broken("only 503", request(25, 0, replica="b", broken="reset"))

    def test_faults_that_nobody_may_notice(self) -> None:
        self.broken("Redis away", request(45, 503, retry_after="1"))
        self.broken("replicas replaced", request(90, 503, retry_after="1"))
        self.broken("PostgreSQL stopped", request(65, 500))

    def test_waiting(self) -> None:
        slow = {**request(300), "end": 305.1}
        self.broken("no answer takes 5 s outside", slow)
        self.broken("no answer takes 5 s while Redis pauses", {**request(164), "end": 169.5})
        self.assertEqual(self.verdicts(lambda records: records.append({**request(60), "end": 69})), set())
        self.assertEqual(self.verdicts(lambda records: records.extend([fault("refuse", 290, 291), slow])), set())

    def test_a_disk_that_fills(self) -> None:
        self.broken("a disk that fills: acknowledged", disk_write("lost"))
        self.broken("a disk that fills: acknowledged", disk_present("a"))
        self.broken("a disk that fills: acknowledged", disk_present("d"), disk_present("d"))
        self.broken("a disk that fills: only 503", disk_write("e", False, [500, None]))
        self.broken("a disk that fills: only 503", disk_write("e", False, [503, None]))
        self.broken("a disk that fills: reads", disk_full(reads=503))
        self.broken("a disk that fills: reads", disk_full(database="ok"))
        self.broken("a disk that fills: writes", without=lambda record: record.get("text") == "c")

    def test_replicas_that_share_nothing(self) -> None:
        self.broken("replicas decide together", {"kind": "alone", "replica": "c", "calls": 100, "start": 300, "end": 301})

    def test_a_pace_that_was_refused(self) -> None:
        refused, slow = fault("refuse", 400, 401), request(470, 503, retry_after="5", said="search_engine_unavailable")
        self.assertEqual(self.verdicts(lambda records: records.extend([refused, slow])), set())
        self.broken("only 503", refused, request(470, 503, retry_after="5", said="unavailable"))
        self.broken("only 503", refused, {**slow, "start": 480, "end": 481})
        self.broken("only 503", slow)

    def test_trouble(self) -> None:
        self.broken("the load runs", {"kind": "trouble", "error": "KeyError", "start": 1, "end": 1})


class ScheduleTest(unittest.TestCase):
    def test_short_runs_have_the_core_and_long_ones_everything(self) -> None:
        for seed in range(20):
            self.assertEqual(set(schedule(seed, 1)), set(CORE))
            self.assertEqual(set(schedule(seed, 30)), set(ALL))


if __name__ == "__main__":
    unittest.main()
