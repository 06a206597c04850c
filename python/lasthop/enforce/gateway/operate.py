"""Run gateways as services of `lasthop gateway`, and check configurations."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from lasthop.daemon.service_kind import ServiceContext, ServiceKind
from lasthop.daemon.state import State, state_of
from lasthop.enforce.gateway import config, groups
from lasthop.enforce.gateway.bypass import bypasses, known
from lasthop.enforce.gateway.config import Gateway
from lasthop.enforce.gateway.entries import UNKNOWN_MAC
from lasthop.enforce.gateway.leases import open_leases
from lasthop.enforce.gateway.leaves import memory, unmanaged, why
from lasthop.enforce.gateway.metrics import check_port
from lasthop.enforce.gateway.rate_sources import read_station_rates
from lasthop.enforce.gateway.shaper import Shaper
from lasthop.enforce.gateway.suitability import by_address, warnings_for, without_programs
from lasthop.enforce.gateway.weights import short_queue
from lasthop.errors import UserError
from lasthop.linux import rights


class Checked(NamedTuple):
    """Result of a check of a gateway configuration."""

    warnings: list[str]
    leaves: dict[str, str] | None
    """Queueing discipline of leaves, and the reason for this discipline; None if the kernel was not
    tested."""
    ports: Mapping[str, int] = MappingProxyType({})
    """Number of MAC addresses at each port towards the stations."""


def check(gateway: Gateway) -> Checked:
    """Check whether this machine can set up the gateway, and return warnings.

    Raises
    ------
    UserError
        If the command `up` would fail.
    """
    if (lacks := rights.lacking()) is not None:
        return Checked([rights.no_right_to_test(lacks)], None)
    result, leaves = [], None
    trial = rights.tried(gateway.discipline)
    if trial.missing is not None:
        raise rights.refusal(trial.missing)
    if trial.untried is not None:
        result.append(
            "the kernel was not tested, which needs CAP_SYS_ADMIN or a user namespace: "
            f"{trial.untried}"
        )
    if (discipline := trial.discipline) is not None:
        leaves = {"discipline": discipline, "why": why(gateway)}
        result += [*unmanaged(gateway, discipline), *memory(discipline)]
    if (refused := rights.bpf_refused()) is not None:
        result += without_programs(f"BPF program: refused, u32 filters classify instead: {refused}")
    if faults := bypasses(gateway).faults:
        raise UserError(faults[0])
    state = state_of(gateway.lan, None)
    is_up = state.is_held()
    refuse(gateway, state, is_up)
    if is_up:
        result.append(
            f"the gateway is up ({state.holder()}); run `lasthop gateway up` to apply the file"
        )
    seen = known(gateway)
    if refused is None:
        # No warning is printed about stations whose MAC address is unknown, since they may be
        # absent.
        reasons = seen.by_address.items()
        result += by_address({name: reason for name, reason in reasons if reason != UNKNOWN_MAC})
    _, unread = read_station_rates(gateway)
    return Checked(result + warnings(gateway) + unread, leaves, seen.ports)


def refuse(gateway: Gateway, state: State, is_up: bool) -> None:
    """Raise `UserError` for every failure that can be foreseen, before a file is written."""
    with Shaper(gateway, state.log) as shaper:
        shaper.check(is_up=is_up or bool(state.log.records()))
    if not is_up:
        check_port(gateway.metrics)


def warnings(gateway: Gateway, leaves: Mapping[str, str] | None = None) -> list[str]:
    """Return warnings about the configuration and this machine. `leaves` contains the queueing
    discipline of leaves and the reason for it; None if the kernel was not tested."""
    results = [*warnings_for(gateway), *bypasses(gateway).warnings, *short_queue(gateway)]
    results += groups.short_queue(gateway)
    if leaves is not None:
        results += [*unmanaged(gateway, leaves["discipline"]), *memory(leaves["discipline"])]
    if (leases := gateway.discovery.leases) is not None:
        try:
            open_leases(leases).close()
        except UserError as error:
            results.append(str(error))
    return results


def serve(context: ServiceContext[Gateway]) -> None:
    """Run a gateway until it is stopped."""
    from lasthop.enforce.gateway.service import GatewayService

    GatewayService(context).serve()


GATEWAY = ServiceKind("gateway", config.read, lambda gateway: gateway.lan, refuse, serve)
