"""Saturated cells of 802.11 DCF and EDCA whose accesses carry single frames.

`predict` reads a scenario and calls `freezing` (backoff counters of the DCF) or `zones` (backoff
counters of 802.11e). `bianchi` implements the backoff counters of Bianchi's paper, `anomaly` the
closed form for few stations, and `drop_tail` the theory of fixed-rate links. No module of this
package calls the engine.

References
----------
G. Bianchi, "Performance Analysis of the IEEE 802.11 Distributed Coordination Function",
IEEE JSAC 18(3), 2000.
G. Bianchi, I. Tinnirello, "Remarks on IEEE 802.11 DCF Performance Analysis",
IEEE Communications Letters 9(8), 2005.
M. Heusse, F. Rousseau, G. Berger-Sabbatel, A. Duda, "Performance Anomaly of 802.11b",
IEEE INFOCOM 2003.
"""

from lasthop.models.dcf.predict import predict, suits

__all__ = ["predict", "suits"]
