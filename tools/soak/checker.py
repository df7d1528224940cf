"""Holds the recorded history of a run against what the service promises."""

from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property

# Replicas of a run.
REPLICAS = 3

# Faults during which a replica may say that it cannot answer now.
UNAVAILABLE = ("kill", "pause", "postgres", "cut-postgres", "cut-engine", "refuse", "stall")

# Faults during which replicas decide by themselves, or what they share is lost.
ALONE = ("redis-kill", "redis-flush", "redis-pause", "cut-redis")

# Further readings of a key that a fault may cost.
COST = {"kill": 1, "pause": 1, "postgres": 1, "cut-postgres": 1, "cut-redis": 1, "redis-kill": REPLICAS, "redis-pause": REPLICAS, "redis-flush": REPLICAS}

# The time in which the recorded end of an answer and the replica's own time of it may differ.
SLACK = 0.5

# A replica that has claimed a reading may wait so long for the pace before it starts, and so long after the engine has refused.
WAITS = 5
WAITS_SLOWED = 25

# After a refusal the pace stays low for a minute, and then grows with each success.
AFTERMATH = 75

# The longest wait for an answer outside faults, and while Redis pauses, in seconds.
LONGEST_WAIT = 5

# How long a claim lasts, in milliseconds.
CLAIM_LASTS = 30_000

# Violations that are told.
TOLD = 5


@dataclass
class Limits:
    """The settings that bounds follow from."""

    bucket: int
    refill: int
    ttl: float
    rate_per_minute: int
    rate_burst: int


@dataclass
class Verdict:
    """An invariant, what was counted, and the records that violate it."""

    invariant: str
    counted: int
    what: str
    violations: list[dict] = field(default_factory=list)
    # Whether a run that counts nothing proves nothing.
    needed: bool = True

    @property
    def holds(self) -> bool:
        return not self.violations and (self.counted > 0 or not self.needed)


class Checker:
    """The records of a run by kind."""

    def __init__(self, records: list[dict], limits: Limits) -> None:
        self.limits = limits
        self.by_kind: dict[str, list[dict]] = {}
        for record in records:
            self.by_kind.setdefault(record["kind"], []).append(record)
        self.faults = self.of("fault")
        self.requests = self.of("request")

    def of(self, kind: str) -> list[dict]:
        return self.by_kind.get(kind, [])

    def overlapping(self, start: float, end: float | None, kinds: tuple[str, ...] | None = None) -> list[dict]:
        """The faults, of these kinds, that overlap a time."""
        last = float("inf") if end is None else end
        return [
            fault
            for fault in self.faults
            if (kinds is None or fault["fault"] in kinds) and fault["start"] <= last and (fault["end"] is None or fault["end"] >= start)
        ]

    def is_slowed(self, start: float, end: float) -> bool:
        """Whether the pace is low in a time, because the engine has refused."""
        return bool(self.overlapping(start - AFTERMATH, end, ("refuse",)))

    def waits(self, start: float) -> float:
        """How long before its start a reading may have been claimed."""
        return WAITS_SLOWED if self.is_slowed(start, start) else WAITS

    def alone(self, start: float, end: float) -> int:
        """The calls of Redis without an answer in a time, by the metrics, which are read once a second. Those in a fault of Redis do not
        count: the fault does."""
        return sum(sample["calls"] for sample in self.outside_faults if sample["end"] >= start and sample["start"] <= end)

    @cached_property
    def outside_faults(self) -> list[dict]:
        return [sample for sample in self.of("alone") if not self.overlapping(sample["start"], sample["end"], ALONE)]

    def alone_by_outcome(self) -> dict[str, int]:
        """The calls of Redis without an answer outside its faults, by link and outcome."""
        by: dict[str, int] = {}
        for sample in self.outside_faults:
            by[sample["outcome"]] = by.get(sample["outcome"], 0) + sample["calls"]
        return by

    def all(self) -> list[Verdict]:
        return [
            *self.writes(),
            self.withdrawals(),
            self.rate_limit(),
            *self.quota(),
            self.readings(),
            *self.crowds(),
            self.figures(),
            self.answers(),
            self.without_redis(),
            self.without_postgres(),
            self.rolling(),
            *self.waiting(),
            self.shared(),
            *self.disk(),
            *self.held(),
            self.trouble(),
        ]

    # Writes

    def writes(self) -> list[Verdict]:
        present: dict[str, int] = {}
        for record in self.of("present"):
            present[record["text"]] = present.get(record["text"], 0) + 1
        known = [write for write in self.of("write") if write["outcome"] == "acknowledged"]
        unknown = [write for write in self.of("write") if write["outcome"] != "acknowledged"]
        twice = [write for write in known if write["answers"] > 1]
        return [
            Verdict("an acknowledged write is there once", len(known), "writes", [w for w in known if present.get(w["text"], 0) != 1]),
            Verdict(
                "a write without an answer is there at most once",
                len(unknown), "writes", [w for w in unknown if present.get(w["text"], 0) > 1], needed=False,
            ),
            Verdict("the same key gets the same bytes", len(twice), "repeated writes", [w for w in twice if not w["same"]]),
        ]

    # Withdrawals

    def withdrawals(self) -> Verdict:
        """No success that starts after the answer to a withdrawal, and no refusal that ends before the withdrawal."""
        withdrawn = {record["subject"]: record for record in self.of("withdrawal")}
        violations, later = [], 0
        for request in self.requests:
            record = withdrawn.get(request.get("subject"))
            if record is None:
                continue
            if record["answered"] and request["start"] > record["end"]:
                later += 1
                if 200 <= request["status"] < 300:
                    violations.append(request)
            if request["end"] < record["start"] and request["status"] in (401, 403, 404):
                violations.append(request)
        return Verdict("no access after the answer to its withdrawal, and none refused before", later, "requests after it", violations)

    # Limits

    def rate_limit(self) -> Verdict:
        """The requests of one caller that are allowed within any time."""
        limits = self.limits
        hammer = [request for request in self.requests if request["op"] == "hammer"]
        allowed = sorted((r for r in hammer if 200 <= r["status"] < 300), key=lambda r: r["start"])
        refused = sum(1 for request in hammer if request["status"] == 429)
        violations = []
        for first in range(len(allowed)):
            begin, end, count = allowed[first]["start"], 0.0, 0
            for last in range(first, len(allowed)):
                count, end = count + 1, max(end, allowed[last]["end"])
                own = limits.rate_burst + limits.rate_per_minute * (end - begin) / 60
                if count <= own:
                    continue
                bound = own + REPLICAS * own * len(self.overlapping(begin, end, ALONE)) + self.alone(begin, end)
                if count > bound:
                    violations.append({**allowed[last], "allowed": count, "since": begin, "bound": round(bound, 1)})
                    break
        return Verdict("requests within a limit of rate and burst", refused, "refused requests", violations)

    def quota(self) -> list[Verdict]:
        """The starts at the search engine within any minute, for each site and for each account."""
        own = self.limits.bucket + 60 * self.limits.refill
        by: dict[str, list[float]] = {}
        for record in self.of("upstream"):
            is_strangers = "quietmeadow" in record["site"]
            for name in (record["site"], "account of the stranger" if is_strangers else "account of the owner"):
                by.setdefault(name, []).append(record["start"])
        most: dict[bool, int] = {True: 0, False: 0}
        violations: dict[bool, list[dict]] = {True: [], False: []}
        for name, starts in by.items():
            starts.sort()
            for index, start in enumerate(starts):
                count = bisect_left(starts, start + 60) - index
                lost = len(self.overlapping(start, start + 60, ALONE)) if count > most[True] or count > most[False] else 0
                is_lost = lost > 0
                most[is_lost] = max(most[is_lost], count)
                # A gate that is lost begins with a burst.
                bound = own + self.limits.bucket * lost + self.alone(start, start + 60) if count > own else own
                if count > bound:
                    violations[is_lost].append({"site": name, "start": start, "end": start + 60, "starts": count, "bound": bound})
        what = "starts in the fullest minute"
        return [
            Verdict(f"at most {own:,} starts a minute at the search engine, by site and by account", most[False], what, violations[False]),
            Verdict(f"a burst of {self.limits.bucket} more in a minute that loses Redis", most[True], what, violations[True]),
        ]

    def readings(self) -> Verdict:
        """One reading of a key in its lifetime, and one more for what faults cost."""
        violations, lifetimes = [], 0
        by: dict[str, list[dict]] = {}
        for record in self.of("upstream"):
            by.setdefault(record["key"], []).append(record)
        for records in by.values():
            records.sort(key=lambda record: record["start"])
            good: list[dict] = []
            for record in records:
                before = [
                    earlier
                    for earlier in good
                    if earlier["start"] <= record["start"] < (earlier["end"] or 0) + self.limits.ttl - SLACK
                ]
                if not before:
                    lifetimes += 1
                    good = []
                else:
                    begin = before[0]["start"]
                    end = record["end"] or record["start"]
                    allowed = sum(COST.get(fault["fault"], 0) for fault in self.overlapping(begin - self.waits(begin), end))
                    # A reading for a visitor of a share link is not waited for by people who sign in.
                    allowed += any(self.is_for_link(earlier, record) for earlier in before)
                    if len(before) > allowed + self.alone(begin, end):
                        violations.append({**record, "readings": len(before) + 1, "allowed": 1 + allowed})
                if record["good"]:
                    good.append(record)
        return Verdict("a reading starts once for each key and lifetime", lifetimes, "lifetimes", violations)

    def is_for_link(self, earlier: dict, record: dict) -> bool:
        """Whether a reading may have been for a share link, and was under way when another was claimed."""
        if record["start"] >= earlier["end"] + self.waits(record["start"]):
            return False
        shared = (request for request in self.requests if request["op"] == "shared" and request["site"] == earlier["site"])
        return any(request["start"] <= earlier["start"] <= request["end"] for request in shared)

    def crowds(self) -> list[Verdict]:
        """The readings of each key of a question that many ask at once."""
        quiet, killed = [], []
        for crowd in self.of("crowd"):
            counts: dict[str, int] = {}
            for record in self.of("upstream"):
                is_of_crowd = f'"startDate": "{crowd["day"]}"' in record["question"] and crowd["last"] in record["question"]
                if is_of_crowd and crowd["start"] <= record["start"] <= crowd["end"]:
                    counts[record["key"]] = counts.get(record["key"], 0) + 1
            facts = {**crowd, "sets": max(counts.values(), default=0), "alone": self.alone(crowd["start"], crowd["end"])}
            (quiet if crowd["as_of"] == "quiet" else killed).append(facts)
        return [
            Verdict("one set of readings for 50 callers", len(quiet), "crowds", [c for c in quiet if c["sets"] > 1 + c["alone"]]),
            Verdict(
                "at most two sets where the replica that reads is killed",
                len(killed), "crowds", [c for c in killed if c["sets"] > 2 + c["alone"]],
            ),
        ]

    # Answers

    def figures(self) -> Verdict:
        oracle = {tuple(record["question"]): record["figures"] for record in self.of("oracle")}
        told = [request for request in self.requests if "figures" in request]
        wrong = [request for request in told if oracle.get(tuple(request["question"])) != request["figures"]]
        return Verdict("every figure is the oracle's", len(told), "answers with figures", wrong)

    def is_refused_rightly(self, request: dict) -> bool:
        """Whether the caller itself is the reason of a refusal."""
        status, op = request["status"], request["op"]
        if status == 429:
            return op == "hammer" and bool(request["retry_after"])
        if status == 409:
            return op in ("write", "grant") and request["attempt"] > 0 and "idempotency_in_progress" in request["said"]
        if status == 404 and op == "withdraw":
            return request["attempt"] > 0
        if status in (401, 403, 404) and request.get("subject"):
            # Those that came before are held in `withdrawals`.
            return True
        return False

    def is_failure(self, request: dict) -> bool:
        return not 200 <= request["status"] < 300 and not self.is_refused_rightly(request)

    def is_too_slow(self, request: dict) -> bool:
        """Whether a question was given up, with `Retry-After`, because the pace is low."""
        is_told = request["status"] == 503 and request["retry_after"] and "search_engine_unavailable" in request["said"]
        return bool(is_told) and self.is_slowed(request["start"], request["end"])

    def answers(self) -> Verdict:
        """Nothing but successes, refusals for the caller's own reasons, and 503 with `Retry-After` while a fault explains it."""
        violations = []
        for request in self.requests:
            if not self.is_failure(request):
                continue
            faults = self.overlapping(request["start"], request["end"], UNAVAILABLE)
            if request["status"] == 503 and request["retry_after"] and (faults or self.is_too_slow(request)):
                continue
            is_lost = any(fault["fault"] == "kill" and fault["replica"] == request["replica"] for fault in faults)
            if request["status"] == 0 and is_lost:
                continue
            violations.append(request)
        return Verdict("only 503 with Retry-After, and only in a fault", len(self.requests), "requests", violations)

    def within(self, kinds: tuple[str, ...]) -> list[dict]:
        """The requests that overlap faults of these kinds, and no other that explains a failure."""
        return [
            request
            for request in self.requests
            if self.overlapping(request["start"], request["end"], kinds)
            and not self.is_too_slow(request)
            and not self.overlapping(request["start"], request["end"], tuple(kind for kind in UNAVAILABLE if kind not in kinds))
        ]

    def without_redis(self) -> Verdict:
        within = self.within(ALONE)
        return Verdict("Redis away, emptied or cut off: no failures", len(within), "requests", [r for r in within if self.is_failure(r)])

    def without_postgres(self) -> Verdict:
        within = self.within(("postgres",))
        wrong = [r for r in within if self.is_failure(r) and not (r["status"] == 503 and r["retry_after"])]
        return Verdict("PostgreSQL stopped: only 503 with Retry-After", len(within), "requests", wrong)

    def rolling(self) -> Verdict:
        within = self.within(("rolling",))
        return Verdict("replicas replaced by another version: no failures", len(within), "requests", [r for r in within if self.is_failure(r)])

    def waiting(self) -> list[Verdict]:
        """No answer takes long outside faults, nor while Redis pauses. Where the engine has refused, the pace is low on purpose."""
        quick = [r for r in self.requests if not self.is_slowed(r["start"], r["end"])]
        quiet = [r for r in quick if not self.overlapping(r["start"], r["end"])]
        others = tuple({fault["fault"] for fault in self.faults} - {"redis-pause"})
        paused = [
            r for r in quick if self.overlapping(r["start"], r["end"], ("redis-pause",)) and not self.overlapping(r["start"], r["end"], others)
        ]
        return [
            Verdict(
                f"no answer takes {LONGEST_WAIT} s {when}", len(found), "requests", [r for r in found if r["end"] - r["start"] > LONGEST_WAIT]
            )
            for when, found in (("outside faults", quiet), ("while Redis pauses in cold reads", paused))
        ]

    def disk(self) -> list[Verdict]:
        """A disk that fills: what was acknowledged is stored once, what was refused has 503 with `Retry-After`, and it is seen."""
        present: dict[str, int] = {}
        for record in self.of("disk-present"):
            present[record["text"]] = present.get(record["text"], 0) + 1
        writes, full = self.of("disk-write"), self.of("disk-full")
        known = [write for write in writes if write["acknowledged"]]
        unknown = [write for write in writes if not write["acknowledged"]]
        odd = [w for w in writes if any(status != 201 and not (status == 503 and retry) for status, retry in w["statuses"])]
        later = [w for w in known if full and w["start"] > full[-1]["end"]]
        wrong = [w for w in known if present.get(w["text"], 0) != 1] + [w for w in unknown if present.get(w["text"], 0) > 1]
        unseen = [record for record in full if record["reads"] != 200 or record["database"] != "degraded"]
        return [
            Verdict("a disk that fills: acknowledged is stored, once", len(known), "writes", wrong),
            Verdict("a disk that fills: only 503 with Retry-After", sum(r["refused"] for r in full), "refusals", odd),
            Verdict("a disk that fills: reads go on, and health says so", len(full), "times", unseen),
            Verdict("a disk that fills: writes are kept once there is room", len(later), "writes"),
        ]

    def shared(self) -> Verdict:
        """Calls of Redis without an answer explain what else would be a violation. On a busy machine there are some, and not many."""
        alone = self.alone(0, float("inf"))
        violations = [{"start": 0, "end": 0, "alone": alone}] if alone > len(self.requests) / 4 else []
        return Verdict("replicas decide together: few calls of Redis have no answer", len(self.requests), "requests", violations)

    def held(self) -> list[Verdict]:
        """What Redis holds after each fault and at the end."""
        claims, held = self.of("claim"), self.of("held")
        unending = [claim for claim in claims if not 0 <= claim["lasts"] <= CLAIM_LASTS] + self.of("endless")
        legible = [entry for entry in held if entry["shown"] or entry["words"] < 100]
        return [
            Verdict("a claim ends within 30 s, and every key some time", len(claims), "claims", unending, needed=False),
            Verdict("nothing in Redis shows a query, a page, a site or an address", len(held), "keys", legible),
        ]

    def trouble(self) -> Verdict:
        """Errors of the load itself, which would hide violations."""
        return Verdict("the load runs without errors of its own", len(self.requests), "requests", self.of("trouble"))


def table(verdicts: list[Verdict]) -> str:
    rows = ["| invariant | counted | verdict |", "|---|---|---|"]
    for verdict in verdicts:
        said = "holds" if verdict.holds else f"{len(verdict.violations)} violations" if verdict.violations else "not exercised"
        rows.append(f"| {verdict.invariant} | {verdict.counted:,} {verdict.what} | {said} |")
    return "\n".join(rows)


def complaints(checker: Checker, verdicts: list[Verdict]) -> str:
    """The first violations of each invariant, with the faults that overlap."""
    lines = []
    for verdict in verdicts:
        for record in verdict.violations[:TOLD]:
            faults = checker.overlapping(record["start"], record["end"])
            overlapped = [f"{fault['fault']} {fault['replica'] or ''} {fault['start']}-{fault['end']}" for fault in faults]
            lines.append(f"{verdict.invariant}: {record}\n    faults: {', '.join(overlapped) or 'none'}")
    return "\n".join(lines)
