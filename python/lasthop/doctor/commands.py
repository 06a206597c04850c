"""Needs of each command of the command line."""

from collections.abc import Mapping
from dataclasses import dataclass

from lasthop.doctor.limits import (
    Limit,
    Need,
    absent_disciplines,
    needs_feature,
    needs_linux,
    needs_package,
    needs_packages,
    needs_root,
    on_linux,
)
from lasthop.doctor.machine import Linux, Machine, Refusal
from lasthop.errors import AS_ROOT

__all__ = ["COMMANDS", "GROUPS", "Command"]


@dataclass(frozen=True)
class Command:
    """Command of the command line with its needs."""

    needs: tuple[Need, ...] = ()
    alternatives: frozenset[str] = frozenset()
    """Parts of which the command needs at least one; empty if it runs without any of its
    parts."""

    def limits(self, machine: Machine) -> list[Limit]:
        """Return the limits of the command. A limit of the whole command hides those of its parts,
        since these do not run either. The need for another system hides all other limits."""
        limits: dict[str | None, list[Limit]] = {}
        for need in self.needs:
            if need.within is None or need.within not in limits:
                limits.setdefault(need.part, []).extend(need.limits(machine))
                if not limits[need.part]:
                    del limits[need.part]
        of_command = limits.get(None)
        if of_command is not None:
            return [limit for limit in of_command if limit.kind == "system"] or of_command
        if self.alternatives and self.alternatives <= limits.keys():
            limits = {part: limits[part] for part in limits if part in self.alternatives}
        # A command reports only the first limit of a part.
        return [first for first, *_ in limits.values()]

    def runs(self, limits: list[Limit]) -> bool:
        """Return whether the command runs with these limits, perhaps without some of its parts."""
        parts = {limit.part for limit in limits}
        return None not in parts and not (self.alternatives and self.alternatives <= parts)


def for_part(part: str, *needs: Need) -> tuple[Need, ...]:
    """Return needs of a part of a command."""
    return tuple(need._replace(part=part) for need in needs)


def ptrace(machine: Machine) -> Refusal | None:
    """Return the refusal of a system on which no process may be traced."""
    if machine.linux is None or machine.linux.has_ptrace:
        return None
    from lasthop.uml.boot import refusal_of_ptrace

    return Refusal.of(refusal_of_ptrace("user-mode Linux"))


def capability(linux: Linux) -> Refusal | None:
    """Return the refusal of a process that lacks a capability of a gateway."""
    if linux.missing_capability is None:
        return None
    from lasthop.linux.rights import lacks

    return Refusal.of(lacks(linux.missing_capability, is_root=linux.is_root))


def no_right_to_test(linux: Linux) -> Refusal | None:
    """Return the reason why a check cannot test the machine."""
    if linux.missing_capability is None:
        return None
    return Refusal(f"this needs {linux.missing_capability}", AS_ROOT)


def gateway_kernel(linux: Linux) -> Refusal | None:
    """Return the refusal of a kernel without a feature of a gateway."""
    if linux.missing_gateway_feature is None:
        return None
    from lasthop.linux.rights import refusal

    return Refusal.of(refusal(linux.missing_gateway_feature))


def congestion(linux: Linux) -> Refusal | None:
    """Return the refusal of a kernel or a process that cannot load congestion controls."""
    return linux.congestion_loading_refusal


def unknown_kernel(linux: Linux) -> Refusal | None:
    """Return the reason why it is unknown whether the kernel has the features of a gateway."""
    if linux.gateway_is_tested or linux.missing_gateway_feature is not None:
        return None
    return Refusal("a test could load modules", "run `lasthop gateway check FILE` as root")


def bpf_filters(linux: Linux) -> Refusal | None:
    """Return the reason why a gateway classifies packets without BPF programs."""
    refusal = linux.bpf_refusal
    if refusal is None or linux.missing_capability is not None:
        return None
    return refusal._replace(reason=f"u32 filters classify instead: {refusal.reason}")


def leaf_queues(linux: Linux) -> Refusal | None:
    """Return the reason why the leaves of a gateway are FIFOs."""
    from lasthop.linux.leaf_queue import MANAGED

    if any(linux.has(f"sch_{name}") for name in MANAGED):
        return None
    from lasthop.linux.disciplines import install_kernel

    names = " nor ".join(f"sch_{name}" for name in MANAGED)
    reason = f"leaf queues are FIFOs, because this kernel has neither {names}"
    return Refusal(reason, install_kernel(f"sch_{MANAGED[0]}"))


def shaping(linux: Linux) -> Refusal | None:
    """Return the refusal of a kernel that cannot shape a queue."""
    from lasthop.linux import disciplines, rights

    if not linux.has("sch_tbf"):
        return Refusal(disciplines.absent("tbf"), disciplines.install_kernel("sch_tbf"))
    if not linux.has("sch_htb"):
        step = next(each for each in rights.STEPS if rights.module_of(each) == "sch_htb")
        return Refusal.of(rights.refusal(rights.absent(step)))
    return None


def nat(linux: Linux) -> Refusal | None:
    """Return the refusal of a kernel without address translation."""
    from lasthop.linux.nat import lacking

    for name in ("nf_tables", "nft_masq"):
        if not linux.has(name):
            return Refusal.of(lacking(f"module {name} is missing"))
    return None


PICTURE = needs_packages("pictures", "--plot")
PICTURE_OR_OUT = needs_packages("pictures", "--plot and --out")
REPORT = Need("program", lambda machine: machine.report_refusal, "--report")
PARQUET = needs_packages("Parquet files", "Parquet files")
SOME_MODELS = needs_packages("some models", "some models")
ON_CLUSTERS = (needs_package("distributed", "--cluster"), needs_package("submitit", "--slurm"))
METRICS = needs_packages("metrics", "metrics")
RELAY_METRICS = needs_packages("metrics of relays", "metrics")


def real_time(part: str) -> tuple[Need, ...]:
    """Return the needs of emulations in real time."""
    return for_part(
        part,
        needs_feature("emulator"),
        Need("rights", on_linux(lambda linux: linux.network_namespaces_refusal)),
        Need("rights", on_linux(lambda linux: linux.tun_refusal)),
    )


SIMULATED_TIME = for_part(
    "--virtual", Need("program", lambda machine: machine.uml_refusal), Need("rights", ptrace)
)

GATEWAY = (needs_linux("lasthop gateway"), needs_feature("gateway"))
GATEWAY_KERNEL = (
    Need("kernel", on_linux(gateway_kernel)),
    Need("kernel", on_linux(unknown_kernel), "test of the kernel"),
    Need("kernel", on_linux(bpf_filters), "BPF programs"),
    Need("kernel", on_linux(leaf_queues), "fq_codel or CoDel in leaf queues"),
)
CAPABILITY = Need("rights", on_linux(capability))
TEST = Need("rights", on_linux(no_right_to_test), "test of this machine")
RUN_FOLDER = needs_root("only root may open /run/lasthop", "services of root")
QUEUE = (needs_linux("lasthop queue"), needs_feature("queue"))
QUEUE_KERNEL = (
    Need("kernel", on_linux(shaping)),
    Need("kernel", on_linux(absent_disciplines), "some queues"),
)
CONGESTION = (needs_linux("lasthop congestion"),)
KERNEL = (needs_linux("lasthop kernel"),)
RELAY = (needs_linux("lasthop relay"), needs_feature("relay"))

STABILITY = {
    "stability models": Command(
        (needs_packages("lasthop stability models"), needs_packages("lasthop stability", "CASE"))
    ),
} | {
    f"stability {name}": Command(
        (needs_packages("lasthop stability"), *((PICTURE_OR_OUT,) if is_drawn else ()))
    )
    for name, is_drawn in {
        "equilibrium": False,
        "roots": False,
        "hopf": True,
        "normal-form": False,
        "cycle": True,
        "integrate": True,
        "chart": True,
    }.items()
}

GROUPS: Mapping[str, Mapping[str, Command]] = {
    "Scenarios": {
        "init": Command(),
        "schema": Command(),
        "check": Command(),
        "import pcap": Command((needs_packages("import pcap"),)),
        "import iw": Command(),
        "import hostapd": Command(),
        "import openwrt": Command(),
    },
    "Prediction and simulation": {
        "predict": Command((needs_packages("predictions"), SOME_MODELS, PICTURE)),
        "simulate": Command((PARQUET, PICTURE, REPORT)),
        "compare": Command(
            (
                needs_packages("lasthop compare"),
                SOME_MODELS,
                REPORT,
                needs_linux("lasthop compare --emulate", "--emulate"),
                *real_time("--emulate"),
                needs_linux("lasthop compare --virtual", "--virtual"),
                *SIMULATED_TIME,
            )
        ),
        "explain": Command((needs_packages("lasthop explain FILE", "FILE"),)),
        "sweep": Command((PARQUET, PICTURE, REPORT, *ON_CLUSTERS)),
        "what-if": Command(
            (
                needs_packages("lasthop what-if"),
                PARQUET,
                PICTURE,
                REPORT,
            )
        ),
        "tune": Command(
            (
                needs_packages("lasthop tune"),
                SOME_MODELS,
                PARQUET,
                needs_packages("lasthop tune --out", "--out"),
                PICTURE,
                REPORT,
                *ON_CLUSTERS,
            )
        ),
        "plot": Command((needs_packages("lasthop plot"),)),
        "reproduce": Command((needs_packages("lasthop reproduce"), *ON_CLUSTERS)),
        **STABILITY,
    },
    "Emulation": {
        "emulate": Command(
            (
                needs_linux("lasthop emulate"),
                *real_time("real time"),
                *SIMULATED_TIME,
                Need("kernel", on_linux(nat), "--uplink", "real time"),
                Need("rights", on_linux(congestion), "Compound", "real time"),
                PICTURE,
                REPORT,
            ),
            frozenset({"real time", "--virtual"}),
        ),
        "kernel build": Command(
            (
                *KERNEL,
                needs_feature("emulator"),
                Need("program", on_linux(lambda linux: linux.kernel_build_refusal)),
            )
        ),
        "kernel list": Command(KERNEL),
        "kernel remove": Command(KERNEL),
    },
    "Real networks (Linux)": {
        "gateway check": Command((*GATEWAY, *GATEWAY_KERNEL, TEST)),
        "gateway plan": Command(GATEWAY),
        "gateway up": Command((*GATEWAY, CAPABILITY, *GATEWAY_KERNEL, METRICS)),
        "gateway status": Command((*GATEWAY, RUN_FOLDER)),
        "gateway down": Command((*GATEWAY, RUN_FOLDER)),
        "gateway run": Command((*GATEWAY, CAPABILITY, *GATEWAY_KERNEL, METRICS)),
        "queue check": Command((*QUEUE, *QUEUE_KERNEL, TEST)),
        "queue plan": Command(QUEUE),
        "queue up": Command((*QUEUE, CAPABILITY, *QUEUE_KERNEL, METRICS)),
        "queue status": Command((*QUEUE, RUN_FOLDER)),
        "queue down": Command((*QUEUE, RUN_FOLDER)),
        "queue run": Command((*QUEUE, CAPABILITY, *QUEUE_KERNEL, METRICS)),
        "congestion list": Command(
            (*CONGESTION, needs_root("only root may open /run/lasthop", "origins"))
        ),
        "congestion load": Command((*CONGESTION, Need("rights", on_linux(congestion)))),
        "congestion unload": Command(
            (*CONGESTION, needs_root("only root may remove a loaded congestion control"))
        ),
        "relay serve": Command((*RELAY, RELAY_METRICS)),
        "relay connect": Command((*RELAY, RELAY_METRICS)),
        "relay key": Command(RELAY),
    },
    "Other commands": {
        "workbench": Command(
            (
                needs_packages("lasthop workbench"),
                Need("program", lambda machine: machine.page_refusal),
            )
        ),
        "completion": Command(),
        "doctor": Command(),
    },
}
"""Commands by the heading under which the report lists them."""

COMMANDS: Mapping[str, Command] = {
    name: command for group in GROUPS.values() for name, command in group.items()
}
