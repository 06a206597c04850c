"""What the fluid of flows over a router's queue assumes."""

ASSUMPTIONS = {
    "section II": "of many long-lived flows of one TCP, held back by the queue of one link",
    "section II-C": "of a queue that drops or marks by its length, in packets",
    "section VI": "of a small buffer",
    "remark (i)": "of congestion avoidance alone: no slow start, no timeouts, no flows that come "
    "and go",
    "eq. 1": "that each loss shrinks the window, and that growth and reduction depend on the "
    "window alone, alike for all flows",
    "eq. 4": "that packets are lost or marked by the queue alone, and ACKs wait nowhere",
    "eq. 10": "that there is a point of rest",
    "eq. 36": "of one round-trip time",
    "table I": "of a rule for every ACK",
}
"""Sections II and VI of the paper: what follows on "the assumption", by number."""
