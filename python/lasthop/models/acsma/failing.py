r"""Two fluid systems in which links starve: a single Reno connection over A-CSMA, without and with
AQM (paper 001, appendices A and B).

Without AQM the queue and the aggressiveness r grow without bound. All links then have the largest
r, so that the system acts as legacy CSMA. With AQM and a single connection, the r of every link
converges to the same value, which also corresponds to legacy CSMA. In both systems the link in the
middle starves.
"""

from dataclasses import dataclass

import numpy as np

from lasthop.models.acsma.errors import NetworkError
from lasthop.models.acsma.fluid import MIN_RATE
from lasthop.models.acsma.optimum import Problem
from lasthop.models.acsma.reno import drop_tail_loss, rate_speed
from lasthop.models.acsma.sets import Floats


@dataclass(frozen=True)
class _OneFlowPerLink:
    """Base class of systems with one connection per link. The state is (x, r): the rates of the
    connections, then the aggressiveness of the links.
    """

    problem: Problem
    per_packet: float

    def __post_init__(self) -> None:
        incidence = self.problem.incidence
        square = incidence.shape[0] == incidence.shape[1]
        own = square and np.array_equal(incidence, np.eye(len(incidence)))
        if self.problem.capacity.size or not own:
            raise NetworkError("appendices A and B are of one flow on each wireless link, in order")


@dataclass(frozen=True)
class SingleConnection(_OneFlowPerLink):
    r"""One connection on each link over A-CSMA, without AQM.

    .. math:: \dot x_s = \frac{x_s^2}{2} \Bigl(\frac{2}{T_s^2 x_s^2} - p_s\Bigr)_{x_s}^+, \quad
        \dot r_s = \alpha \Bigl(x_s - C \sum_{i: s \in i} \tau_i(r)\Bigr)_{r_s}^+, \quad
        p_s = \frac{(x_s - C \sum_{i: s \in i} \tau_i(r))^+}{x_s}

    :math:`x_s` is the rate of flow :math:`s`, :math:`p_s` its loss probability, and :math:`C
    \sum_{i: s \in i} \tau_i(r)` the service rate of its link. Packets are lost only if arrivals
    exceed service, and then r grows.

    Attributes
    ----------
    problem : Problem
        Network with one flow on each link, in the order of the links, and :math:`\beta`.
    per_packet : float
        Aggressiveness per queued packet, :math:`\alpha`. [-]
    rtt_s : float
        Round-trip time, :math:`T_s`. [s]
    largest : float
        Upper bound of r, :math:`r_{max}`; by default there is no bound. [-]

    Notes
    -----
    The system is that of Eqs. (A.1)-(A.4).
    """

    rtt_s: float = 1.0
    largest: float = np.inf

    def speed(self, state: Floats) -> Floats:
        """Return the time derivatives of rates x and aggressiveness r. [packets/s^2, 1/s]"""
        problem = self.problem
        links = len(state) // 2
        x = np.maximum(state[:links], MIN_RATE)
        r = np.clip(state[links:], 0.0, self.largest)
        served = problem.network.service_rate_pps * problem.airtime(r, problem.beta)
        faster = rate_speed(x, np.asarray(self.rtt_s), drop_tail_loss(x, served))
        return np.concatenate([faster, self.per_packet * (x - served)])


@dataclass(frozen=True)
class SingleConnectionAqm(_OneFlowPerLink):
    r"""One connection on each link over A-CSMA with AQM.

    .. math:: \dot x_s = \frac{x_s^2}{2} \Bigl(\frac{2}{T_s^2 x_s^2} - r_s\Bigr)_{x_s}^+, \quad
        \dot r_s = \alpha \Bigl[x_s - C \sum_{i: s \in i} \tau_i(r)\Bigr]_{r_s}^+, \quad
        T_s = \frac{1}{\alpha} \frac{r_s}{x_s}

    Attributes
    ----------
    problem : Problem
        Network with one flow on each link, in the order of the links, and :math:`\beta`.
    per_packet : float
        Aggressiveness per queued packet, :math:`\alpha`. [-]

    Notes
    -----
    The system is that of Eqs. (B.1)-(B.4). :math:`x_s` is the rate of flow :math:`s`, :math:`T_s`
    its round-trip time, and :math:`C \sum_{i: s \in i} \tau_i(r)` the service rate of its link.
    """

    def speed(self, state: Floats) -> Floats:
        """Return the time derivatives of rates x and aggressiveness r. [packets/s^2, 1/s]"""
        problem = self.problem
        links = len(state) // 2
        x = np.maximum(state[:links], MIN_RATE)
        # The queue includes at least the packet in service, so that the round-trip time is
        # positive.
        r = np.maximum(state[links:], self.per_packet)
        rtt = r / self.per_packet / x
        served = problem.network.service_rate_pps * problem.airtime(r, problem.beta)
        faster = rate_speed(x, rtt, r)
        return np.concatenate([faster, self.per_packet * (x - served)])


def equal_aggressiveness(per_packet: float) -> float:
    r"""Return the aggressiveness of every link with a single connection and AQM.

    .. math:: r_s = 2^{1/3} \alpha^{2/3}

    Notes
    -----
    The formula is Eq. (B.8), which follows from (B.6) and (B.7). :math:`\alpha` is the
    aggressiveness per queued packet.
    """
    return float(2.0 ** (1.0 / 3.0) * per_packet ** (2.0 / 3.0))
