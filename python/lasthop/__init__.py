"""Who gets what on a WiFi hot-spot, and why: predicted, and simulated packet by packet."""

from lasthop._core import VERSION as __version__

__all__ = ["__version__"]
