"""Theory of saturated cells whose PPDUs are aggregates of MPDUs (802.11n, ac, ax).

`predict` reads a scenario, and `sending` forms its frames. `durations` computes the air time of
PPDUs. `window` models a BlockAck window that is always full, and `timing` computes the throughput
of a single sender with such a window. `saturated` models a cell with several contenders.
``tests/validation`` has Monte Carlo programs of the same rules; ``docs/validation.md`` states how
closely their results agree with these models.

Example: a single station of 802.11ax sends PPDUs of 64 MPDUs of 1538 bytes, without losses and with
a loss of one in ten MPDUs:

>>> from lasthop.models.aggregates import durations, timing, window
>>> link = durations.Ppdu("he", 80, mcs=11, streams=2, coding="ldpc")
>>> def ppdu_s(mpdus):
...     return 1e-9 * link.duration_ns(durations.aggregate_bytes("he", 1538, mpdus))
>>> def response_s(mpdus):
...     return 1e-9 * durations.control_ns("ack" if mpdus == 1 else "block_ack_64", 24)
>>> times = timing.Timing(
...     ppdu_s, response_s, sifs_s=16e-6, slot_s=9e-6, aifs_s=43e-6, wait_s=48e-6,
...     cwmin=15, cwmax=1023, attempts_short=7, request_s=32e-6,
... )
>>> full, lossy = window.solve(64, 0.0), window.solve(64, 0.1)
>>> [round(timing.goodput_bps(each, times, 1472) / 1e6) for each in (full, lossy)]
[861, 638]
>>> round(lossy.mpdus, 1), round(1e3 * timing.reordering_s(lossy, times), 2)
(34.1, 0.4)
"""

from lasthop.models.aggregates.predict import predict, suits

__all__ = ["predict", "suits"]
