"""A gateway in a separate process, in the gateway's namespace."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab import GATEWAY, Child, entered, leftovers, wait_until
from lasthop.daemon.service_kind import ServiceContext
from lasthop.daemon.state import State
from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.service import GatewayService


class Running:
    """`lasthop gateway up`, called as a function in a separate process."""

    def __init__(self, directory: Path, text: str) -> None:
        self.state = State(directory / "state")
        self.file = directory / "cafe.toml"
        self.file.write_text(text)
        self.log = directory / "log"

        def run() -> tuple[float, int]:
            log = self.log.open("a", buffering=1)
            gateway = config.read(self.file)
            self.state.make()
            service = GatewayService(
                ServiceContext(
                    gateway, self.state, lambda: gateway, lambda line: print(line, file=log)
                )
            )
            service.up()
            service.run()
            remaining = service.down()
            service.close()
            assert remaining == []
            used = resource.getrusage(resource.RUSAGE_SELF)
            return used.ru_utime + used.ru_stime, service.loop.wakings

        self.child = Child(GATEWAY, run)

    def status(self) -> dict[str, Any] | None:
        return self.state.ask({"do": "status"})

    @property
    def faults(self) -> list[str]:
        status = self.status()
        assert status is not None
        shown: list[str] = status["faults"]
        return shown

    def processor_s(self) -> float:
        """Return the CPU time used so far. [s]"""
        fields = Path(f"/proc/{self.child.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def up(directory: Path, text: str) -> Iterator[Running]:
    running = Running(directory, text)
    try:
        wait_until(lambda: running.status() is not None, "the gateway is up")
        yield running
    finally:
        running.state.ask({"do": "stop"})
        running.child.result()
        with entered(GATEWAY):
            assert leftovers() == []
