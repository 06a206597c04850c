"""Prediction for a scenario of a saturated cell of 802.11n, ac or ax."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lasthop.models import cells
from lasthop.models.aggregates import saturated, timing
from lasthop.models.aggregates import window as windows
from lasthop.models.aggregates.alone import alone, timing_of
from lasthop.models.aggregates.assumptions import (
    check,
    loss_of,
    senders,
)
from lasthop.models.aggregates.saturated import Aggregator
from lasthop.models.aggregates.sending import Sending
from lasthop.models.answer import CellValues, Lists, Quantities, prediction
from lasthop.models.errors import ConvergenceError, Doubt, ModelError, refuse
from lasthop.progress.cost_limits import need
from lasthop.scenario.typed import CellScenario, Flow, Readable, Scenario

WINDOW_S, FRAMES_S, SENDER_S = 2.5, 0.05, 2e-3
"""Computation times: per BlockAck window with losses, per kind of sender (for its frames), and per
sender. [s]
"""
OPPORTUNITY_S = 0.05
"""Computation time of the further PPDUs of a TXOP, per second of the TXOP limit. [-]
"""
WINDOW_BYTES = 1.5e8
"""Memory of the Markov chains of a BlockAck window with losses. [bytes]"""
STAGE_S, PAIR_S = 0.022, 3.5e-3
"""Computation time per backoff stage of each kind of contender, and per backoff stage of each pair
of kinds. [s]
"""
STAGE_BYTES, MIN_BYTES, PAIR_BYTES = 7e4, 20 * 3.3e4, 32
"""Memory of the spectra. The first value is per backoff stage of each kind of contender. The second
value is per backoff stage of the kind whose spectra are being computed. The third value is per pair
of senders. [bytes]
"""

WHOLE_LOST = 0.05
"""Largest fraction of PPDUs that may be lost completely (no MPDU is received) if PPDUs also
collide. Above this fraction, an assumption is broken. The model neglects that such failures often
occur several times in a row. With a fraction of 4.5 %, the simulated goodput of two senders was 0.3
% below the prediction; with 8 %, it was 1.4 % below. [-]
"""

SELDOM = 1e-3
"""Largest fraction of packets whose delivery in order may take longer than the reordering timeout
of receivers. [-]
"""


def suits(scenario: Scenario) -> bool:
    """Return whether a scenario is a cell of 802.11n, ac or ax."""
    return cells.is_aggregating(scenario)


def predict(scenario: Readable) -> Quantities:
    """Predict goodput, collisions and aggregates of a saturated cell.

    Parameters
    ----------
    scenario : Scenario or Mapping
        Normalised scenario, as a `Scenario` or a mapping. It has a cell of 802.11n, ac or ax in
        which the access point, stations or both send more UDP than the cell can carry.

    Returns
    -------
    dict
        A result of kind ``"prediction"``: ``goodput_bps`` [bit/s] of cell, stations and flows; of
        stations and the access point ``collision_rate``, ``frame_failure_rate``,
        ``discard_probability`` [-] and ``mpdus_per_ppdu``. A single sender also has
        ``reordering_s`` [s]. Unknown values are absent.

    Raises
    ------
    ModelError
        If the scenario breaks an assumption, such as TCP, or packets for several stations in one
        queue.
    ConvergenceError
        If a solver does not converge.
    """
    known = cells.aggregating_scenario(scenario)
    sending = senders(known)
    kinds = _kinds([sender for sender, _ in sending])
    _need(kinds)
    broken, warnings = check(known, sending, kinds)
    refuse(broken)
    _windows(kinds)
    result = alone(*kinds) if len(sending) == 1 else _contention(known, kinds)
    refuse(_late(kinds, result))
    cells.need_goodput(result.goodput_bps)
    offers = [
        cells.Offer(known.flow_key(flows[0]), cells.offered_bps(flows), goodput_bps)
        for (_, flows), goodput_bps in zip(sending, result.goodput_bps, strict=True)
    ]
    warnings += cells.unsaturated(known, offers)
    return prediction("aggregates", known, _lists(known, sending, result), warnings)


def _kinds(sending: Sequence[Sending]) -> list[Sending]:
    """Return the senders without names. Equal senders are the same object, so that their frames are
    computed once.
    """
    known: dict[Sending, Sending] = {}
    unnamed = (replace(sender, station=replace(sender.station, name="")) for sender in sending)
    return [known.setdefault(each, each) for each in unnamed]


def _need(sending: Sequence[Sending]) -> None:
    """Raise an error if the computation would exceed the limits of time or memory.

    Contenders are of the same kind if their backoff parameters and losses are equal. The spectra of
    each kind, and of each pair of kinds, have one row per backoff stage.
    """
    kinds = list(dict.fromkeys(sending))
    windows = {
        (kind.most_mpdus, loss_of(kind), kind.own.attempts) for kind in kinds if loss_of(kind)
    }
    contending = {
        (
            kind.access.cwmin,
            kind.access.cwmax,
            attempts_of(kind),
            loss_of(kind),
            loss_of(kind) and kind,
        )
        for kind in kinds
        if len(sending) > 1
    }
    stages = [attempts for _, _, attempts, *_ in contending]
    # With collisions, a BlockAck window is solved for each kind of contender.
    solved = len(windows) + sum(1 for *_, loss, _ in contending if loss)
    limits_s = sum(kind.access.txop_limit_s or 0.0 for kind in kinds)
    need(
        f"what {len(sending)} senders of {len(kinds)} kinds get",
        time_s=WINDOW_S * solved
        + OPPORTUNITY_S * limits_s
        + FRAMES_S * len(kinds)
        + SENDER_S * len(sending)
        + (STAGE_S + PAIR_S * len(contending)) * sum(stages),
        memory_bytes=PAIR_BYTES * len(sending) ** 2
        + WINDOW_BYTES * bool(windows)
        + STAGE_BYTES * sum(stages)
        + MIN_BYTES * max(stages, default=0),
    )


def _windows(sending: Sequence[Sending]) -> None:
    """Solve the BlockAck window of every sender with losses; the results are cached.

    Raises
    ------
    ConvergenceError
        If a window has too many losses.
    """
    for each in dict.fromkeys(sending):
        if loss_of(each) > 0 and each.most_mpdus > 1:
            try:
                windows.solve(each.most_mpdus, loss_of(each), each.own.attempts)
            except ConvergenceError as error:
                what = f"losses of {loss_of(each):g} in a window of {each.most_mpdus} are beyond it"
                raise ConvergenceError(f"{what}: {error}") from error


def _contention(scenario: CellScenario, sending: Sequence[Sending]) -> saturated.Cell:
    """Return the throughput of a cell with several senders."""
    by_kind = {each: aggregator(each) for each in dict.fromkeys(sending)}
    result = saturated.solve(
        [by_kind[each] for each in sending],
        scenario.cell.slot_s,
        scenario.cell.sifs_s + sending[0].access.aifsn * scenario.cell.slot_s,
        scenario.cell.countdown,
    )
    for sender, lost in zip(sending, result.whole_lost, strict=True):
        if sender.most_mpdus > 1 and lost > WHOLE_LOST:
            what = f"{lost:.1%} of the PPDUs lost completely, in addition to collisions"
            raise ModelError("assumption 9", what)
    return result


def _late(sending: Sequence[Sending], cell: saturated.Cell) -> Iterator[Doubt]:
    """Yield a message about each sender whose packets would wait for reordering longer than the
    timeout of the receiver.
    """
    for sender, goodput_bps in zip(sending, cell.goodput_bps, strict=True):
        loss, most_s = loss_of(sender), sender.own.reorder_timeout_s
        if loss == 0 or sender.most_mpdus == 1 or most_s is None:
            continue
        window = windows.solve(sender.most_mpdus, loss, sender.own.attempts)
        mpdu_bits = 8 * sender.packets_per_mpdu * sender.payload_bytes
        period_s = mpdu_bits * window.delivered / goodput_bps
        if window.wait_quantile(1 - SELDOM) * period_s >= most_s:
            yield "assumption 10", f"`aggregation.reorder_timeout` = {1e3 * most_s:g} ms"


def attempts_of(sending: Sending) -> int:
    """Return the number of failures in a row after which a sender's contention window returns to
    CWmin.
    """
    return (sending.station if sending.is_up else sending.cell.ap).attempts_short


def aggregator(sending: Sending) -> Aggregator:
    """Return the contender, in the form of the model, that represents a sender of the scenario."""
    access = sending.access
    agreed = sending.most_mpdus > 1
    # Without a BlockAck agreement, a PPDU has one packet. The limit of attempts in the access
    # parameters then applies to the packet.
    attempts = sending.own.attempts if agreed else None
    return Aggregator(
        cwmin=access.cwmin,
        cwmax=access.cwmax,
        attempts_short=attempts_of(sending),
        mpdus=sending.first.count,
        exchange=sending.exchange,
        payload_bytes=sending.packets_per_mpdu * sending.payload_bytes,
        request=sending.request() if attempts is not None else None,
        attempts=attempts,
        loss=loss_of(sending),
    )


def _lists(
    scenario: CellScenario,
    sending: Sequence[tuple[Sending, list[Flow]]],
    result: saturated.Cell,
) -> Lists:
    values = CellValues(scenario, sum(result.goodput_bps))
    goodputs_bps: dict[str, float] = {}
    for number, (sender, flows) in enumerate(sending):
        goodput_bps = result.goodput_bps[number]
        name = sender.station.name
        own = values.stations[name]
        goodputs_bps[name] = goodputs_bps.get(name, 0.0) + goodput_bps
        own |= values.shares(goodputs_bps[name])
        frames = result.collision_prob[number]
        frames += (1 - result.collision_prob[number]) * result.frames[number]
        of_sender = own if sender.is_up else values.ap
        of_sender |= {
            "collision_rate": result.collision_prob[number] / frames,
            "frame_failure_rate": result.failure_prob[number] / frames,
        }
        if sender.most_mpdus > 1:
            of_sender |= {"discard_probability": result.given_up[number]}
        aggregates = {"mpdus_per_ppdu": result.mpdus[number]}
        reordering_s = _reordering_s(sender, alone=len(sending) == 1)
        if reordering_s is not None:
            aggregates |= {"reordering_s": reordering_s}
        of_sender |= aggregates
        if not sender.is_up:
            own |= {f"downlink_{quantity}": value for quantity, value in aggregates.items()}
        if len(flows) == 1:
            values.flows.append((flows[0], goodput_bps, {}))
    return values.lists(sum(sender.is_up for sender, _ in sending))


def _reordering_s(sending: Sending, *, alone: bool) -> float | None:
    """Return the mean time until a received MPDU is delivered in order; None if the model does not
    predict this time. [s]
    """
    loss = loss_of(sending)
    if sending.most_mpdus == 1 or (loss == 0 and (alone or sending.own.attempts is None)):
        return 0.0
    if not alone:
        return None
    window = windows.solve(sending.most_mpdus, loss, sending.own.attempts)
    return timing.reordering_s(window, timing_of(sending))
