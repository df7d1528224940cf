"""Figures of a run that depend on the machine. They are printed and not judged."""

import statistics

from checker import Checker


def share(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def followers(checker: Checker) -> list[float]:
    """The seconds by which the others of a crowd follow its first answer."""
    lags = []
    for crowd in checker.of("crowd"):
        ends = [r["end"] for r in checker.requests if r.get("crowd") == crowd["crowd"] and r["status"] == 200]
        if crowd["as_of"] == "quiet" and ends:
            lags += sorted(end - min(ends) for end in ends)[1:]
    return lags


def report(checker: Checker) -> str:
    lines = []
    if lags := followers(checker):
        median, most = statistics.median(lags) * 1000, share(lags, 0.99) * 1000
        lines.append(f"followers of a crowd behind its first answer: {median:.0f} ms in the median, {most:.0f} ms at p99")
    if ready := [fault["ready"] for fault in checker.faults if "ready" in fault]:
        lines.append(f"ready again after PostgreSQL: {', '.join(f'{seconds:.1f} s' for seconds in ready)}")
    lines.append(f"readings at the search engine: {len(checker.of('upstream')):,}")
    alone = ", ".join(f"{calls:,} {outcome}" for outcome, calls in sorted(checker.alone_by_outcome().items()))
    lines.append(f"calls of Redis without an answer outside its faults: {alone or 'none'}")
    faults: dict[str, int] = {}
    for fault in checker.faults:
        faults[fault["fault"]] = faults.get(fault["fault"], 0) + 1
    lines.append(f"faults: {', '.join(f'{count} {kind}' for kind, count in sorted(faults.items()))}")
    unavailable: dict[str, int] = {}
    for request in checker.requests:
        if request["status"] in (0, 503):
            name = "lost with a killed replica" if request["status"] == 0 else "503"
            unavailable[name] = unavailable.get(name, 0) + 1
    lines.append(f"not answered in faults: {', '.join(f'{count} {name}' for name, count in sorted(unavailable.items())) or 'none'}")
    return "\n".join(f"- {line}" for line in lines)
