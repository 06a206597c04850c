"""Texts of the assumptions of all models. A message refers to an assumption by its number.

Each text follows the words "the assumption" in a message. The module does not import numpy or
scipy, so that `lasthop explain` can print the texts in every installation.
"""

from collections.abc import Mapping

CELL_ALONE = "of only a WLAN cell and its wired link"
"""Common assumption of all models of a cell."""

HOTSPOT = {
    "a1": "that the wired part loses nothing and is not the bottleneck",
    "a2": "that a station's buffer is large enough not to overflow",
    "a3": "of TCP Reno with delayed ACKs, whose timer never expires",
    "a4": "that loss at the AP starves no connection, and lost ACKs do not slow an upload down",
    "a5": "that an AP that loses packets has a full drop-tail buffer",
    "a6": "that the AP loses packets independently, so that Padhye's formulas hold with T0 = RTT",
    "a7": "that no frame is lost on the channel or given up",
    "section 3": "of long-lived TCP connections in steady state",
    "cell": CELL_ALONE,
}

EDCA = {
    "a1": "that queues overflow neither at the AP nor at a station",
    "a2": "that every TCP segment is acknowledged immediately",
    "a3": "of an ideal channel, no lost frame and no lost packet",
    "a4": "of long-lived TCP connections with their whole windows outstanding, equal at all "
    "stations",
    "a5": "that nothing is processed for long, and the wire holds no packets",
    "section 2.1": "of one access category",
    "section 2.2": "of p-persistent backoff, and equal access parameters at all stations",
    "section 4": "that a transmission opportunity has a number of packets, and the AP's queue is "
    "randomly mixed",
    "cell": CELL_ALONE,
}

VBS = {
    "assumption 1": "that the AP always has a packet to send: the cell, not the wire, is the "
    "bottleneck",
    "assumption 2": "that a lost TCP ACK costs nothing but the growth of the window",
    "section II-B": "of fixed rates",
    "section III-A": "that connections run compound, reno, newreno",
    "section III-B": "of long-lived TCP connections and plain DCF, one packet for each access",
    "section IV-A": "that the window moves as a Markov chain, shrunk only by losses, with "
    "NewReno's recovery",
    "section IV-B": "that attempts in a slot are independent, and a station has one rate and "
    "quality",
    "section IV-C": "that queues lose what they have no room for, and serve in the order of "
    "arrival",
    "section V": "that classes of all flows share the AP's queue and settle",
    "section VI": "of basic access, without RTS",
    "section VI-C": "of downloads only",
    "cell": CELL_ALONE,
}

ACSMA = {
    "section 3.1": "of links that hear only some of each other, without hidden nodes and without "
    "frames lost on the channel",
    "section 3.2": "that the sets of links which may send simultaneously can be listed",
    "section 3.3": "of backoff in continuous time, so that no two links begin simultaneously; "
    "every link that carries a flow always has a packet or a dummy packet, the others are silent",
    "section 3.4": "of long-lived Reno connections in congestion avoidance, at rest",
    "section 4.1": "of adaptive access, or of legacy access in continuous time",
    "section 4.2.1": "that TCP ACKs return immediately and take no time of the channel (h-ACK)",
    "section 5.1": "that each link sets its r by its queue, slowly against the links' backoff",
    "section 5.2": "that losses signal the cost of links to connections, and are rare, so that "
    "their probabilities add up along a route",
    "section 5.3.2": "that a wired link that loses packets has a full drop-tail queue, any other "
    "none",
    "appendices A and B": "of one flow per link, which crosses only this link",
}

RED = {
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

DCF = {
    "assumption 1": "that every sender has packets at all times, over UDP",
    "assumption 2": "that a sender's packets of one access category have one size, one rate and "
    "one probability of error",
    "assumption 3": "of a CWmin of at least 1, and of equal AIFSN and one access category per node "
    'where counters freeze (`countdown` = "dcf")',
    "assumption 4": "that all nodes resume together after a failure, as with "
    '`ack_timeout` = "eifs"',
    "assumption 5": "of transmission opportunities that no RTS, channel error or CF-End interrupts",
    "assumption 6": "that frames have a fixed rate and are lost with one probability",
    "assumption 7": "that an attempt collides with a probability that does not depend on the past",
    "cell": CELL_ALONE,
}

AGGREGATES = {
    "assumption 1": "that every sender has packets at all times, over UDP",
    "assumption 2": "that a sender's packets have one size and go to one receiver, so that an "
    "aggregate is never cut short by packets for another",
    "assumption 3": "of one access category, with one AIFSN for all",
    "assumption 4": "that MPDUs are lost by themselves, all of a sender's with one probability",
    "assumption 5": "of one PPDU in an access where MPDUs are lost, and of opportunities that last "
    "to `txop_limit`",
    "assumption 6": "that senders whose frames collided wait as long as all others",
    "assumption 7": "that a PPDU has room for the whole window where MPDUs are lost",
    "assumption 8": "that a BlockAckReq is sent only after MPDUs that were given up",
    "assumption 9": "that MPDUs are hardly ever given up, and PPDUs of several hardly ever lost "
    "whole, where they collide too",
    "assumption 10": "that receivers wait without limit for missing MPDUs",
    "assumption 11": "that an MPDU is seldom lost many times in a row",
    "cell": "of a cell that aggregates, and a wire that limits nothing",
}

AIRTIME = {
    "assumption 1": "that only the access point sends, datagrams, and that more arrive for each "
    "station than it gets",
    "assumption 2": "that the datagrams of a station have one size",
    "assumption 3": "of one access category",
    "assumption 4": "that no MPDU is lost, unless mean aggregates are given, and no PPDU whole",
    "assumption 5": "of opportunities that last to `txop_limit`",
    "assumption 6": "of a queue that is one drop-tail FIFO, or mac80211's",
    "assumption 7": "that mean aggregates are those of stations that are there, and within "
    "their limits",
    "cell": "of a cell that aggregates, and a wire that limits nothing",
}

BOTTLENECK = {
    "assumption 1": "that the rate of the bottleneck is fixed",
    "assumption 2": "that the WLAN carries this rate, so that packets wait in the bottleneck only",
    "assumption 3": "that flows are long-lived TCP connections or sources of datagrams",
    "assumption 4": "that TCP windows are large enough to fill a share",
    "assumption 5": "that stations have equal shares, or shares by group",
}

BY_MODEL: Mapping[str, Mapping[str, str]] = {
    "hotspot": HOTSPOT,
    "edca": EDCA,
    "vbs": VBS,
    "acsma": ACSMA,
    "red": RED,
    "dcf": DCF,
    "aggregates": AGGREGATES,
    "airtime": AIRTIME,
    "bottleneck": BOTTLENECK,
}
"""Assumptions by model and number; the documentation page of each model has a table of its
assumptions.
"""

SOURCES: Mapping[str, str] = {
    "hotspot": "paper 002, table 1 and section 3",
    "edca": "paper 003, sections 2 to 4",
    "vbs": "paper 000, sections II to VI",
    "acsma": "paper 001",
    "red": "paper 004, sections II and VI",
    "dcf": "Bianchi 2000 and its successors",
}
"""Paper and sections that state the assumptions of each model; a model without an entry is
lasthop's own.
"""
