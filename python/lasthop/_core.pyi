"""The compiled part of lasthop."""

from collections.abc import Callable
from typing import Final, TypedDict, final, type_check_only

__all__ = [
    "VERSION",
    "SimulationOutput",
    "check",
    "check_gateway",
    "quantities",
    "schema",
    "simulate",
]

VERSION: Final[str]

@type_check_only
class Progress(TypedDict):
    replications_done: int
    replications: int
    simulated_s: float
    total_s: float

@final
class SimulationOutput:
    @property
    def summary_json(self) -> str: ...
    @property
    def samples_json(self) -> str: ...
    @property
    def series_json(self) -> str: ...
    @property
    def interrupted(self) -> bool: ...
    @property
    def frame_count(self) -> int: ...
    def write_pcapng(self, write: Callable[[bytes], object]) -> None: ...

def check(content: bytes, format: str, source: str, settings: list[tuple[str, str]]) -> str: ...
def check_gateway(
    content: bytes, format: str, source: str, settings: list[tuple[str, str]]
) -> str: ...
def schema() -> str: ...
def quantities() -> str: ...
def simulate(
    content: bytes,
    format: str,
    source: str,
    settings: list[tuple[str, str]],
    jobs: int,
    progress: Callable[[Progress], bool | None] | None = None,
) -> SimulationOutput: ...
