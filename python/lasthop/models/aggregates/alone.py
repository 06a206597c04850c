"""Throughput of a single sender, which has no contention."""

from lasthop.models.aggregates import timing
from lasthop.models.aggregates import window as windows
from lasthop.models.aggregates.assumptions import loss_of
from lasthop.models.aggregates.saturated import Cell
from lasthop.models.aggregates.sending import Sending


def alone(sending: Sending) -> Cell:
    """Return the throughput of a single sender, which has no collisions. With losses, module
    `timing` computes the throughput from the mean duration of a round, including longer backoffs
    after failed PPDUs.
    """
    times, loss = timing_of(sending), loss_of(sending)
    if loss == 0:
        access = sending.exchange(sending.first.count)
        sizes = access.sizes or ()
        period_s = times.aifs_s + times.backoff_s(0) + access.exchange_s
        assert access.payload_bytes is not None
        return Cell(
            attempt_prob=(1 / (1 + sending.access.cwmin / 2),),
            collision_prob=(0.0,),
            failure_prob=(0.0,),
            given_up=(0.0,),
            request_share=(0.0,),
            mpdu_rate=(sum(sizes) / period_s,),
            goodput_bps=(8 * access.payload_bytes / period_s,),
            mpdus=(sum(sizes) / len(sizes),),
            frames=(float(len(sizes)),),
            whole_lost=(0.0,),
        )
    # Without a BlockAck agreement, a PPDU has one packet. The limit of attempts in the access
    # parameters then applies to the packet.
    window = windows.solve(
        sending.most_mpdus, loss, sending.own.attempts if sending.most_mpdus > 1 else None
    )
    period_s = timing.round_s(window, times)
    requests = window.requests.per_round
    mpdu_bytes = sending.packets_per_mpdu * sending.payload_bytes
    return Cell(
        attempt_prob=(1 / (1 + sending.access.cwmin / 2),),
        collision_prob=(0.0,),
        failure_prob=(window.failed / (1 + requests),),
        given_up=(window.given_up,),
        request_share=(requests / (1 + requests),),
        mpdu_rate=(window.delivered / period_s,),
        goodput_bps=(8 * mpdu_bytes * window.delivered / period_s,),
        mpdus=(window.mpdus,),
        frames=(1.0,),
        whole_lost=(window.failed,),
    )


def timing_of(sending: Sending) -> timing.Timing:
    """Return the durations of a single sender."""
    cell = sending.cell
    node = sending.station if sending.is_up else cell.ap

    def ppdu_s(mpdus: int) -> float:
        return sending.exchange(mpdus).ended_s

    def response_s(mpdus: int) -> float:
        return 1e-9 * sending.response_ns(mpdus)

    return timing.Timing(
        ppdu_s,
        response_s,
        sifs_s=cell.sifs_s,
        slot_s=cell.slot_s,
        aifs_s=cell.sifs_s + sending.access.aifsn * cell.slot_s,
        wait_s=sending.exchange(sending.first.count).wait_s,
        cwmin=sending.access.cwmin,
        cwmax=sending.access.cwmax,
        attempts_short=node.attempts_short,
        request_s=1e-9 * sending.control_ns("block_ack_request"),
    )
