"""A gateway for tests of its commands, which run as processes in its namespace."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from commands import ForkedCommand, lasthop
from lab import (
    GATEWAY,
    Lab,
    entered,
    gateway_text,
    leftovers,
    number_of,
)
from lasthop.daemon.state import State


class Gateway:
    """`lasthop gateway`, with a gateway file and a state directory that only this test uses."""

    def __init__(self, directory: Path) -> None:
        self.file = directory / "cafe.toml"
        self.state = directory / "state"
        self.run: Path | None = None

    def words(self, verb: str, *options: str) -> list[str | Path]:
        """Return the words of a command line."""
        state = [] if self.run is not None or verb == "check" else ["--state", self.state]
        return ["gateway", verb, self.file, *options, *state]

    def start(self, verb: str, *options: str) -> ForkedCommand:
        """Start a command that keeps running."""
        return ForkedCommand(self.words(verb, *options), namespace=GATEWAY)

    def __call__(self, verb: str, *options: str) -> tuple[int, str]:
        """Run a command. Return its exit code, and its output followed by its errors."""
        mounts = None if self.run is None else f"mount --bind {self.run} /run"
        return lasthop(*self.words(verb, *options), mounts=mounts)

    @contextmanager
    def usual_state(self, run: Path) -> Iterator[None]:
        """Use the default state directory of commands without --state, in a private /run."""
        run.mkdir()
        self.run, before = run, self.state
        self.state = run / f"lasthop/lan@{number_of(GATEWAY)}"
        try:
            yield
        finally:
            self.file.write_text(gateway_text(2))
            assert self("down") == (0, "down\n")
            self.run, self.state = None, before

    def status(self) -> Any:
        """Return the output of `status --json`, without starting a process."""
        return State(self.state).ask({"do": "status"})

    def has_ended(self) -> bool:
        """Return whether the gateway's process has ended. A killed process may hold its lock for
        some time after its last answer.
        """
        return not State(self.state).is_held()

    def is_up(self) -> bool:
        return self.status() is not None


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab(stations=4, rate_bps=None) as lab:
        yield lab


@pytest.fixture
def gateway(lab: Lab, tmp_path: Path) -> Iterator[Gateway]:
    gateway = Gateway(tmp_path)
    gateway.file.write_text(gateway_text(2))
    yield gateway
    gateway.file.write_text(gateway_text(2))
    code, printed = gateway("down")
    assert code == 0, printed
    with entered(GATEWAY):
        assert leftovers() == []
