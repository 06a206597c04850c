"""Read the configurations of services from scenario files."""

from collections.abc import Callable, Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import Protocol, TypeVar

from lasthop.linux.tc import Subnet
from lasthop.scenario.from_json import read_as
from lasthop.scenario.scenario import companion
from lasthop.scenario.source import File, Setting

Wanted = TypeVar("Wanted")
"""Class of the checked configuration of a service."""
Read_co = TypeVar("Read_co", covariant=True)
Settings = Sequence[tuple[str, str]]
"""Values from the command line that replace values of the scenario file. Each item is a pair of the
value's key path and the new value."""


class Read(Protocol[Read_co]):
    """Function that reads a configuration, and raises `UserError` if the configuration is
    invalid."""

    def __call__(self, source: str | Path, settings: Settings = ()) -> Read_co:
        """Read a scenario file.

        Parameters
        ----------
        source : str or Path
            The file; ``-`` is standard input.
        settings : sequence of (str, str)
            Pairs of key path and value. The value replaces the file's value at this key path after
            parsing.

        Raises
        ------
        ScenarioError
            If the file has errors; ``problems`` contains all errors.
        """


def reader(
    kind: type[Wanted], check: Callable[[bytes, str, str, list[Setting], list[File]], str]
) -> Read[Wanted]:
    """Return a function that reads the configuration in a scenario file and returns it as an object
    of the class `kind`.

    Parameters
    ----------
    kind : type
        Class of the configurations.
    check : callable
        Function of the engine that parses and checks the table of a scenario file.
    """

    def read(source: str | Path, settings: Settings = ()) -> Wanted:
        return read_as(kind, companion(check, source, settings))

    return read


def subnets_of(texts: Sequence[str]) -> tuple[Subnet, ...]:
    """Return the subnets in a list of texts."""
    return tuple(map(ip_network, texts))
