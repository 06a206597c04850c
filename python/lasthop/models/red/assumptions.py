"""Assumptions of the fluid of flows over a router's queue."""

ASSUMPTIONS = {
    "section II": "of many long-lived flows of one TCP, held back by the queue of one link",
    "section II-C": "of a queue that drops or marks by its length, in packets",
    "section VI": "of a small buffer",
    "remark (i)": "of only congestion avoidance: no slow start, no timeouts, no flows that come "
    "and go",
    "eq. 1": "that each loss shrinks the window, and that growth and reduction depend only on the "
    "window, in the same manner for all flows",
    "eq. 4": "that only the queue drops or marks packets, and ACKs wait nowhere",
    "eq. 10": "that there is an equilibrium",
    "eq. 36": "of one round-trip time",
    "table I": "of a rule for every ACK",
}
"""Sections II and VI of the paper: what follows on "the assumption", by number."""
