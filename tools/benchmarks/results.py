"""What was measured of one case, and what follows from it."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .cases import ALONE, OURS, Case
from .peers import PEERS

SLOWER = 0.9  # of a peer, and of the limit, in every round


@dataclass(frozen=True)
class Result:
    """Seconds of one execution, by contender and round; None where there is no such contender."""

    case: Case
    seconds: Mapping[str, list[float] | None]

    def best(self, name: str) -> float | None:
        """Return the seconds of the best round."""
        rounds = self.seconds[name]
        return min(rounds) if rounds else None

    @cached_property
    def peer(self) -> str | None:
        """The fastest peer."""
        times = [(self.best(name), name) for name in PEERS if self.seconds[name]]
        return min(times)[1] if times else None

    @cached_property
    def of_limit(self) -> float:
        """Our speed as a share of the limit's."""
        return self.speed_of(OURS, self.case.limit)

    @cached_property
    def of_peer(self) -> float | None:
        """Our speed over the fastest peer's."""
        return self.speed_of(OURS, self.peer) if self.peer else None

    def speed_of(self, one: str, other: str | None) -> float:
        """Return the speed of one over another's, best round against best round; 0 where one is not there."""
        times = self.best(one), self.best(other) if other else None
        return times[1] / times[0] if times[0] and times[1] else 0.0

    def gain(self, name: str) -> float:
        """Return how many times faster two threads are than one."""
        return self.speed_of(name, name + ALONE)

    @cached_property
    def is_slower(self) -> bool:
        """Whether ours is behind the fastest peer and behind the limit in every round."""
        if self.peer is None:
            return False
        times = (self.seconds[name] for name in (OURS, self.peer, self.case.limit))
        return all(max(peer, limit) < SLOWER * ours for ours, peer, limit in zip(*times, strict=True))

    def as_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        case = self.case
        return {
            "group": case.group,
            "name": case.name,
            "src": case.src or None,
            "dst": case.dst or None,
            "elements": case.elements,
            "data": case.data,
            "bytes": case.nbytes,
            "limit": case.limit,
            "fastest peer": self.peer,
            "ours/limit": self.of_limit,
            "ours/peer": self.of_peer,
            "slower": self.is_slower,
            "seconds": {
                name: {"best": min(rounds), "rounds": rounds} if rounds else None
                for name, rounds in self.seconds.items()
            },
        }


def geometric_mean(ratios: Iterable[float | None]) -> float:
    """Return the geometric mean of those that are there, 0 if none is."""
    found = [ratio for ratio in ratios if ratio]
    return statistics.geometric_mean(found) if found else 0.0
