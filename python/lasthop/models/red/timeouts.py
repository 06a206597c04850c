"""Comparison of two loss probabilities at the same queue: that of the fluid model, and that of Reno
with timeouts.

The formula of Padhye et al. 2000 includes two effects that the fluid model leaves out: the
saw-tooth of the window, and the timeouts that follow losses at small windows.
"""

from collections.abc import Iterator

from lasthop.models.errors import Doubt
from lasthop.models.hotspot.padhye import send_rate
from lasthop.models.red.fluid import Fluid
from lasthop.scenario.transports import Tcp
from lasthop.stability.models.red import RedDerived

FACTOR = 1.5
"""Least ratio of the fluid's loss to the loss of Reno with timeouts at which a warning is issued.
The saw-tooth of the window causes a ratio of 1.33 even without timeouts. [-]
"""
BEYOND_RENO = 16.0
"""Window above which Compound TCP grows faster than Reno. It is the window w with alpha w^k = 1,
where alpha and k are Compound's parameters. [packets]
"""
WIDEST = 1e6
"""Receive window that is practically unlimited. [packets]"""


def doubted_loss(fluid: Fluid, tcp: Tcp) -> Iterator[Doubt]:
    """Yield warnings about the loss at equilibrium.

    Parameters
    ----------
    fluid : Fluid
        Fluid model of a scenario, with an equilibrium.
    tcp : Tcp
        Common settings of the flows.
    """
    case = fluid.case
    loss = float(case.model.loss(case.derived, list(case.equilibrium))[0])
    about = reno_loss(fluid, tcp)
    if case.model.name == "threshold":
        reason = "losses are those of an M/M/1 queue, and flows are smoother"
        if about is None:
            what = "from windows of 16 packets on, expect a third to three times this loss"
            yield "section VI", f"{reason}: {what}"
        else:
            yield (
                "section VI",
                f"{reason}: between the {loss:.2%} predicted and the {about:.2%} of Reno that just "
                "fills the link (Padhye et al. 2000)",
            )
    elif about is not None and loss >= FACTOR * about:
        yield (
            "remark (i)",
            f"without timeouts {loss:.2%} would be lost; with them, at a window of "
            f"{case.equilibrium[0]:.2g} packets, expect about {about:.2%} (Padhye et al. 2000)",
        )


def reno_loss(fluid: Fluid, tcp: Tcp) -> float | None:
    r"""Return the loss probability :math:`p` at which Reno with timeouts fills the link; None if
    the formula does not apply.

    .. math:: (1 - p) \sum_g s_g B(p, \tau_g + q(p)/C) = C

    :math:`s_g` is the share of the flows in group :math:`g`, :math:`\tau_g` their round-trip time
    without queues, and :math:`B` the send rate of a flow. :math:`C` is the capacity per flow.
    :math:`q(p)` is RED's queue at this loss probability, or half of a small buffer. The link is
    assumed to be full.

    Notes
    -----
    :math:`B` is Eq. (32) of Padhye et al. 2000, with one packet per ACK, or two packets if ACKs are
    delayed. The formula does not apply to ECN marks, since they cause no timeouts. It does not
    apply to Compound TCP with a window above 16 packets, since its growth differs from Reno's.
    """
    from scipy.optimize import brentq

    case, p = fluid.case, fluid.case.derived
    reno = tcp.congestion in ("reno", "newreno") or (
        tcp.congestion == "compound" and float(case.equilibrium[0]) < BEYOND_RENO
    )
    if not reno or (isinstance(p, RedDerived) and not p.served):
        return None
    capacity = float(case.decided["capacity"])

    def surplus(loss: float) -> float:
        if isinstance(p, RedDerived):
            # Above max_th, RED's drop function is replaced by that of gentle RED, as in the
            # computation of the equilibrium.
            waiting = float(p.drop_curve.smooth().queue_at(loss))
        else:
            waiting = 0.5 * case.values["q_th"] / fluid.flows
        rates = 0.0
        for group in fluid.groups:
            rtt = group.rtt_s + waiting / capacity
            rto = max(tcp.min_rto_s, rtt)
            rates += len(group.flows) * send_rate(loss, WIDEST, rtt, rto, tcp.segments_per_step)
        return (1.0 - loss) * rates / fluid.flows - capacity

    least, most = 1e-9, 0.99
    if not surplus(least) > 0.0 > surplus(most):
        return None
    return float(brentq(surplus, least, most))
