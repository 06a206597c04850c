"""Scenarios from existing data: captures, station dumps, settings of access points.

Each file of this package reads one format and returns a `Network`. `scenario.py` writes the network
as a scenario with comments. No file of this package runs a simulation.
"""

from lasthop.importing.observed import Connections, Flow, Network, Note, Station, Stream

__all__ = ["Connections", "Flow", "Network", "Note", "Station", "Stream"]
