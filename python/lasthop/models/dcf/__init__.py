"""Theory of one saturated 802.11 DCF cell and of fixed-rate drop-tail links.

Used as the yardstick of `tests/validation`: nothing here calls the engine.

References
----------
G. Bianchi, "Performance Analysis of the IEEE 802.11 Distributed Coordination Function",
IEEE JSAC 18(3), 2000.
G. Bianchi, I. Tinnirello, "Remarks on IEEE 802.11 DCF Performance Analysis",
IEEE Communications Letters 9(8), 2005.
M. Heusse, F. Rousseau, G. Berger-Sabbatel, A. Duda, "Performance Anomaly of 802.11b",
IEEE INFOCOM 2003.
"""
