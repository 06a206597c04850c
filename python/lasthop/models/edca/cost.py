r"""Estimated cost of solving the Markov chain of a cell.

The numbers of states and of operations are multiplied by the measured cost per state and per
operation. Times are expressed in *turns*: a turn is the time of one iteration of a plain Python
loop. This time varies between machines in the same way as the solver's time. The measured chains
had 50 to 500 stations with windows of 4 to 200 packets, bursts of 1 to 64 packets, and odds of the
AP of 0.1 to 90. The measured times above one second were 0.5 to 0.9 times the estimates, and the
measured memory 0.5 to 1 times.
"""

import numpy as np

from lasthop.models.edca.cell import Floats
from lasthop.models.edca.full import state_count
from lasthop.models.edca.lumped import MAX_FILL
from lasthop.models.edca.product import TILTS, level_range
from lasthop.progress.cost_limits import need

TURN_S = 30e-9
"""Time of one turn: an iteration of a plain loop, ``total += turn``, on one core of an Intel Xeon
server. [s]
"""

ROUNDS, BY_ODDS, BY_BURST = 54.0, 0.75, -0.1
"""The first value is the number of rounds of the iteration (module `levels`) if the odds and the
burst length are 1. For other cells this number is multiplied by powers of the odds and of the burst
length. The other two values are the exponents of these powers. Measured chains took 15 to 360
rounds. [-]
"""

MIN_ROUNDS, MAX_ROUNDS = 20.0, 26.0
"""Least number of rounds, and largest number of rounds divided by the square root of the number of
stations. [-]
"""

LEVEL_TURNS, LEVEL_BURST_TURNS = 830.0, 15.0
"""The first value is the time of a round per level (all states with equal numbers of packets at the
stations). The second value is the additional time per level and per packet of a station's burst.
[turns]
"""

STATE_TURNS, STATE_BURST_TURNS = 3.3, 0.16
"""Time of one round of the iteration, per state of the Markov chain: `STATE_TURNS` for each state,
and in addition `STATE_BURST_TURNS` for each state and each packet of a station's burst. [turns]
"""

SET_UP_LEVEL_TURNS, SET_UP_STATE_TURNS, SET_UP_BURST_TURNS = 6000.0, 45.0, 6.0
"""Set-up times: per level, per state, and additionally per state and per packet of a station's
burst. [turns]
"""

FILL_S, FILL_BYTES = 3e-10, 16.0
"""Time of elimination per operation, and memory per matrix element that becomes non-zero. [s,
bytes]
"""

STEP_BYTES = 100.0
"""Memory per transition between states, including all intermediate forms. [bytes]"""

TABLE_BYTES, TABLE_S = 56.0, 5e-8
"""Memory and computation time per element of the tables that are indexed by a number of stations
and a number of packets. The values are the sums over all such tables. [bytes, s]
"""

CONVOLUTION_S = 1e-9
"""Time of a multiplication in the computation of the number of arrangements. [s]"""


def check_cost(
    solver: str, stations: int, window: int, odds: Floats, ap_packets: int, station_packets: int
) -> None:
    """Raise an error if the solution of a chain would exceed the limits of time or memory.

    Parameters
    ----------
    solver : str
        ``"full"``, ``"product"`` or ``"lumped"``; the cost of the other solvers is negligible.
    stations, window : int
        Number of stations, :math:`N`, and window of each station, :math:`W` packets.
    odds : ndarray
        Odds of the AP against one active station, with 1 to N active stations. [-]
    ap_packets, station_packets : int
        TXOP limits of the AP and of a station. [packets]

    Raises
    ------
    TooCostlyError
        If the solution would exceed the limits of time or memory.
    """
    burst = min(station_packets, window)
    txop = " with TXOP" if max(ap_packets, burst) > 1 else ""
    what = f"a chain of {stations} stations{txop} and windows of {window} packets"
    if solver == "full":
        time_s, memory_bytes = _full(stations, window, odds, burst)
    elif solver in ("product", "lumped"):
        tilted = 5.0 * 8.0 * TILTS * (window + 1.0)
        need(what, time_s=tilted / 4e8, memory_bytes=tilted)
        least, _, most = level_range(stations, window, odds, ap_packets, burst)
        time_s, memory_bytes = _tables(stations, window, most)
        if solver == "lumped":
            ends = (least, most)
            more_s, more_bytes = _lumped(stations, window, ends, odds, ap_packets, burst)
            time_s, memory_bytes = time_s + more_s, memory_bytes + more_bytes
    else:
        return
    need(what, time_s=time_s, memory_bytes=memory_bytes)


def _full(stations: int, window: int, odds: Floats, burst: int) -> tuple[float, float]:
    """Return the time [s] and memory [bytes] for the full chain of the paper."""
    if min(stations, window) > 30:  # too many states for a float
        return np.inf, np.inf
    states, levels = float(state_count(stations, window)), stations * window
    time_s = states * (stations + window) * 1e-7
    time_s += _balancing(states, levels, stations, odds, burst)
    listed = 8.0 * stations + 100.0 + 32.0 * window
    return time_s, states * (listed + STEP_BYTES * (window + burst))


def _tables(stations: int, window: int, most: int) -> tuple[float, float]:
    """Return the time [s] and memory [bytes] for the tables over active stations and packets at
    stations.
    """
    entries = (stations + 1.0) * (most + 1.0)
    return entries * (TABLE_S + CONVOLUTION_S * min(window, most)), entries * TABLE_BYTES


def _lumped(
    stations: int,
    window: int,
    ends: tuple[int, int],
    odds: Floats,
    ap_packets: int,
    burst: int,
) -> tuple[float, float]:
    """Return the time [s] and memory [bytes] for the lumped chain, without its tables."""
    level = np.arange(ends[0], ends[1] + 1, dtype=np.float64)
    width = np.minimum(level, stations) - np.ceil(level / window) + 1.0
    if max(ap_packets, burst) == 1:  # improbable states are left out
        width = np.minimum(width, 10.0 * np.sqrt(stations) + 10.0)
    states, levels = float(width.sum()), len(level)
    mean, span = states / levels, min(ap_packets, levels) + burst
    memory_bytes = states * (burst + 2.0) * STEP_BYTES
    if mean**3 * span**2 <= MAX_FILL:
        memory_bytes += FILL_BYTES * states * mean * span
        return FILL_S * states * (mean * span) ** 2, memory_bytes
    return _balancing(states, levels, stations, odds, burst), memory_bytes


def _balancing(states: float, levels: int, stations: int, odds: Floats, burst: int) -> float:
    """Return the time of the iterative solution by levels (module `levels`). [s]

    With higher odds of the AP, more stations are active, and the iteration takes more rounds. The
    number of rounds is limited by the number of stations.
    """
    most = MAX_ROUNDS * np.sqrt(stations)
    usual = ROUNDS * float(np.max(odds)) ** BY_ODDS * burst**BY_BURST
    rounds = min(max(usual, MIN_ROUNDS), most)
    round_turns = levels * (LEVEL_TURNS + LEVEL_BURST_TURNS * burst)
    round_turns += states * (STATE_TURNS + STATE_BURST_TURNS * burst)
    set_up_turns = levels * SET_UP_LEVEL_TURNS
    set_up_turns += states * (SET_UP_STATE_TURNS + SET_UP_BURST_TURNS * burst)
    return float(TURN_S * (rounds * round_turns + set_up_turns))
