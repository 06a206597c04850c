"""The compiled part of lasthop."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypedDict, final, type_check_only

__all__ = [
    "CALL_DELAY_P99_S",
    "CALL_LOSS",
    "ENGINE",
    "FORMAT",
    "FULL",
    "MAX_OPEN",
    "MCS",
    "PROFILE",
    "UML_PRELOAD",
    "VERSION",
    "CapacityEstimator",
    "EstimatorSettings",
    "Many",
    "MultiConnection",
    "Relay",
    "Scenario",
    "Session",
    "Sessions",
    "SimulationOutput",
    "Transactions",
    "Vbs",
    "Wce",
    "check_gateway",
    "check_interface",
    "check_points",
    "data_rates",
    "emulate",
    "explain",
    "explain_rules",
    "files_named",
    "frame_error",
    "mcs_frame_error",
    "new_relay_key",
    "quantities",
    "schema",
    "simulate",
    "units",
]

CALL_DELAY_P99_S: Final[float]
CALL_LOSS: Final[float]
ENGINE: Final[str]
FORMAT: Final[int]
FULL: Final[float]
MCS: Final[list[tuple[int, int, int]]]
MAX_OPEN: Final[int]
PROFILE: Final[str]
UML_PRELOAD: Final[bytes]
VERSION: Final[str]

@type_check_only
class Progress(TypedDict):
    replications_done: int
    replications: int
    simulated_s: float
    total_s: float

@final
class Scenario:
    def __new__(
        cls,
        content: bytes,
        format: str,
        source: str,
        settings: list[tuple[str, str]],
        files: list[tuple[str, bytes | None, str]],
    ) -> Scenario: ...
    @property
    def content(self) -> bytes: ...
    @property
    def format(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def settings(self) -> list[tuple[str, str]]: ...
    @property
    def files(self) -> list[tuple[str, bytes | None, str]]: ...
    @property
    def replications(self) -> int: ...
    @property
    def length_s(self) -> float: ...
    def sampled(self) -> tuple[int, int]: ...
    def to_json(self) -> str: ...
    def head_to_json(self) -> str: ...
    def long_lists(self) -> list[tuple[str, int]]: ...
    def rows_to_json(self, list: str, first: int, last: int) -> str: ...
    def web(self) -> list[tuple[str, float]]: ...
    def tcp_defaults(self) -> tuple[str, list[tuple[str, str]]]: ...
    def users_to_json(self) -> str: ...
    def __getnewargs__(
        self,
    ) -> tuple[bytes, str, str, list[tuple[str, str]], list[tuple[str, bytes | None, str]]]: ...

@final
class MultiConnection:
    def __new__(cls, scenario: Scenario, flow: int) -> MultiConnection: ...
    def step(self, rtt_s: float | None, rate_pps: float) -> int: ...

@final
class Transactions:
    def __new__(cls, scenario: Scenario, flow: int) -> Transactions: ...
    def __iter__(self) -> Transactions: ...
    def __next__(self) -> tuple[float, int, float, int]: ...

@final
class SimulationOutput:
    @property
    def summary_json(self) -> str: ...
    @property
    def summary_line(self) -> str: ...
    @property
    def head_json(self) -> str: ...
    @property
    def lists(self) -> list[str]: ...
    def items(self, list_name: str) -> list[dict[str, Any]]: ...
    def estimates(self, list_name: str, quantity: str) -> list[tuple[str, float, float | None]]: ...
    @property
    def samples_json(self) -> str: ...
    @property
    def halves_json(self) -> str: ...
    @property
    def series_json(self) -> str: ...
    @property
    def distributions_json(self) -> str: ...
    @property
    def interrupted(self) -> bool: ...
    @property
    def frame_count(self) -> int: ...
    @property
    def frames_full(self) -> bool: ...
    def frames_json(self, from_s: float = 0.0, to_s: float = ...) -> str: ...
    def write_pcapng(self, write: Callable[[bytes], object]) -> None: ...

@final
class Session:
    def __new__(cls, scenario: Scenario, replication: int, tails: bool) -> Session: ...
    @property
    def now_s(self) -> float: ...
    def step(self, seconds: float) -> None: ...
    def run_until(self, time_s: float) -> None: ...
    def read(self) -> str: ...
    def set(self, path: str, value: str) -> bool: ...
    def changeable(self) -> str: ...
    def finish(self) -> SimulationOutput: ...
    def close(self) -> None: ...

@final
class Sessions:
    def __new__(
        cls,
        scenario: Scenario,
        count: int,
        jobs: int,
        *,
        path: str,
        choices: list[str],
        begin_s: float,
        interval_s: float,
        shortest_s: float,
        columns: list[tuple[str, str, bool]],
    ) -> Sessions: ...
    @property
    def names(self) -> list[list[str]]: ...
    def advance(self, choices: list[int], seeds: list[int]) -> bytearray: ...
    def close(self) -> None: ...

@type_check_only
class ManyProgress(TypedDict):
    runs_done: int
    runs: int

@final
class Many:
    def __new__(
        cls,
        bases: list[Scenario],
        settings: list[list[tuple[str, str]]],
        seeds: list[int],
        quantities: list[tuple[str, str]],
        tails: bool,
    ) -> Many: ...
    def check(self, jobs: int) -> int | None: ...
    def run(
        self, jobs: int, progress: Callable[[ManyProgress], bool | None] | None = None
    ) -> str: ...
    def finished(self) -> bytearray: ...
    def columns(self) -> list[tuple[list[str], bytearray]]: ...

@final
class Relay:
    def __new__(cls, settings: str) -> Relay: ...
    def addresses(self) -> list[tuple[str, int]]: ...
    def metrics(self) -> str | None: ...
    def note(self) -> str | None: ...
    def is_running(self) -> bool: ...
    def stop(self) -> None: ...

def new_relay_key() -> str: ...

@final
class Vbs:
    def __new__(
        cls,
        targets: Sequence[float],
        *,
        occupancy_packets: float,
        algorithm: str = "corrected",
        tol: float = 0.0,
    ) -> Vbs: ...
    def step(
        self,
        backlog_packets: float,
        shares: Sequence[float],
        served_packets: float = 1.0,
        present: Sequence[bool] | None = None,
    ) -> list[float]: ...
    @property
    def blocking(self) -> list[float]: ...

@final
class EstimatorSettings:
    def __new__(
        cls,
        *,
        rule: str = "agreement",
        max_bps: int = 6_000_000,
        min_bps: int | None = None,
        interval_s: float = 0.1,
        low_s: float | None = None,
        threshold_s: float | None = None,
        high_s: float | None = None,
        increase_bps: int | None = None,
        decrease_bps: int | None = None,
        speed_up: float | None = None,
        back_off: float | None = None,
        timeout_s: float | None = None,
    ) -> EstimatorSettings: ...
    @property
    def rule(self) -> str: ...
    @property
    def max_bps(self) -> int: ...
    @property
    def min_bps(self) -> int: ...
    @property
    def interval_s(self) -> float: ...
    @property
    def thresholds_s(self) -> tuple[float, float, float]: ...
    @property
    def steps_bps(self) -> tuple[int, int]: ...

@final
class Wce:
    def __new__(
        cls, settings: EstimatorSettings | None = None, **keywords: float | None
    ) -> Wce: ...
    def step(self, now_s: float, rtt_s: float | None) -> int: ...
    @property
    def last_step(self) -> str | None: ...
    @property
    def capacity_bps(self) -> int: ...
    @property
    def base_rtt_s(self) -> float | None: ...
    @property
    def thresholds_s(self) -> tuple[float, float, float]: ...
    def cycle(self, capacity_bps: int) -> tuple[float, float, float]: ...

@final
class CapacityEstimator:
    def __new__(
        cls,
        settings: EstimatorSettings | None = None,
        *,
        seed: int = 1,
        **keywords: float | str | None,
    ) -> CapacityEstimator: ...
    def tick(
        self, now_s: float, stations: list[int], passed_bytes: int
    ) -> list[tuple[int, int]]: ...
    def answer(
        self, now_s: float, number: int, rtt_s: float, passed_bytes: int
    ) -> list[tuple[int, int]] | None: ...
    def listening(self) -> list[int]: ...
    def overhear(
        self,
        now_s: float,
        station: int,
        sent_s: float,
        rtt_s: float,
        passed_then_bytes: int,
        passed_bytes: int,
    ) -> list[tuple[int, int]]: ...
    def heard(self, station: int) -> str | None: ...
    def forget(self, station: int) -> None: ...
    @property
    def capacity_bps(self) -> int: ...
    @property
    def last_step(self) -> str | None: ...
    def doubted(self) -> list[tuple[int, float]]: ...
    def holds_down(self) -> tuple[int, float] | None: ...
    def base_rtt_s(self, station: int) -> float | None: ...

def check_gateway(
    content: bytes,
    format: str,
    source: str,
    settings: list[tuple[str, str]],
    files: list[tuple[str, bytes | None, str]],
) -> str: ...
def check_interface(
    content: bytes,
    format: str,
    source: str,
    settings: list[tuple[str, str]],
    files: list[tuple[str, bytes | None, str]],
) -> str: ...
def files_named(content: bytes, format: str, settings: list[tuple[str, str]]) -> list[str]: ...
def emulate(
    scenario: Scenario,
    nodes: list[int],
    stop: int,
    stations: list[tuple[str, int]],
    flows: list[tuple[str, int]],
    neighbours: list[int] | None = None,
    capture: int | None = None,
    merges: bool = False,
    simulated_time: bool = False,
) -> str: ...
def check_points(
    scenario: Scenario, points: list[list[tuple[str, str]]], jobs: int
) -> list[tuple[str, int, float, int]]: ...
def data_rates(phy: str) -> list[int]: ...
def frame_error(rate_bps: int, bytes: int, snr_db: float) -> float: ...
def mcs_frame_error(mcs: int, streams: int, bytes: int, snr_db: float) -> float: ...
def units() -> list[tuple[str, str, int, int]]: ...
def schema() -> str: ...
def explain(scenario: str, answer: str) -> str: ...
def explain_rules() -> str: ...
def quantities() -> str: ...
def simulate(
    scenario: Scenario,
    jobs: int,
    progress: Callable[[Progress], bool | None] | None = None,
    tails: bool = False,
) -> SimulationOutput: ...
