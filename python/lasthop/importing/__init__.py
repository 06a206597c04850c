"""Scenarios from what is already there: captures, station dumps, settings of access points.

A file of this room reads one format and gives what it saw as a `Network`; `scenario.py` writes
that down as a scenario with comments. None of them runs anything.
"""

from lasthop.importing.observed import Connections, Flow, Network, Note, Station, Stream

__all__ = ["Connections", "Flow", "Network", "Note", "Station", "Stream"]
