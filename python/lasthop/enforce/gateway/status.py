"""Status of a gateway, as the process of the gateway reports it."""

from dataclasses import dataclass

from lasthop.daemon.tables import Row


@dataclass(frozen=True)
class Status:
    """Status of a gateway: rows for access points, stations and other subjects, and messages."""

    aps: tuple[Row, ...]
    stations: tuple[Row, ...]
    shaping: bool = False
    warnings: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    leaves: Row | None = None
    groups: tuple[Row, ...] = ()
    filters: tuple[Row, ...] = ()
    ports: tuple[Row, ...] = ()
