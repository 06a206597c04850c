"""Scenarios from existing data: captures, station dumps, settings of access points.

Each module of this package reads one format and returns a `Network`. The module `scenario` writes
the network as a scenario with comments. The package runs no simulation.
"""

from lasthop.importing.observed import Connections, Flow, Network, Note, Station, Stream

__all__ = ["Connections", "Flow", "Network", "Note", "Station", "Stream"]
