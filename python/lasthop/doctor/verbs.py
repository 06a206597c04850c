"""Needs of each verb of the command line."""

from collections.abc import Mapping
from dataclasses import dataclass

from lasthop.doctor.limits import (
    AS_ROOT,
    Limit,
    Need,
    absent_disciplines,
    feature,
    on_linux,
    package,
    packages,
    root,
    system,
)
from lasthop.doctor.machine import Linux, Machine, Refusal

__all__ = ["GROUPS", "VERBS", "Verb"]


@dataclass(frozen=True)
class Verb:
    """Verb of the command line with its needs."""

    needs: tuple[Need, ...] = ()
    alternatives: frozenset[str] = frozenset()
    """Parts of which the verb needs at least one; empty if its parts are additions."""

    def limits(self, machine: Machine) -> list[Limit]:
        """Return the limits of the verb. A limit of the whole verb hides those of its parts, since
        these do not run either. The need for another system hides all other limits."""
        limits: dict[str | None, list[Limit]] = {}
        for need in self.needs:
            if need.within is None or need.within not in limits:
                limits.setdefault(need.part, []).extend(need.limits(machine))
                if not limits[need.part]:
                    del limits[need.part]
        of_verb = limits.get(None)
        if of_verb is not None:
            return [limit for limit in of_verb if limit.kind == "system"] or of_verb
        if self.alternatives and self.alternatives <= limits.keys():
            limits = {part: limits[part] for part in limits if part in self.alternatives}
        # A verb reports only the first limit of a part.
        return [first for first, *_ in limits.values()]

    def runs(self, limits: list[Limit]) -> bool:
        """Return whether the verb runs with these limits, perhaps without some of its parts."""
        parts = {limit.part for limit in limits}
        return None not in parts and not (self.alternatives and self.alternatives <= parts)


def without(part: str, *needs: Need) -> tuple[Need, ...]:
    """Return needs of a part of a verb."""
    return tuple(need._replace(part=part) for need in needs)


def ptrace(machine: Machine) -> Refusal | None:
    """Return the refusal of a system on which no process may be traced."""
    if machine.linux is None or machine.linux.ptrace:
        return None
    from lasthop.uml.boot import refusal_of_ptrace

    return Refusal.of(refusal_of_ptrace("user-mode Linux"))


def capability(linux: Linux) -> Refusal | None:
    """Return the refusal of a process that lacks a capability of a gateway."""
    if linux.missing_capability is None:
        return None
    from lasthop.linux.rights import lacks

    return Refusal.of(lacks(linux.missing_capability, is_root=linux.is_root))


def unexamined(linux: Linux) -> Refusal | None:
    """Return the warning of a check that cannot examine the machine."""
    if linux.missing_capability is None:
        return None
    from lasthop.linux.rights import unexamined

    return Refusal(unexamined(linux.missing_capability), AS_ROOT)


def gateway_kernel(linux: Linux) -> Refusal | None:
    """Return the refusal of a kernel without a feature of a gateway."""
    if linux.gateway is None:
        return None
    from lasthop.linux.rights import refusal

    return Refusal.of(refusal(linux.gateway))


def congestion(linux: Linux) -> Refusal | None:
    """Return the refusal of a kernel or a process that cannot load congestion controls."""
    return linux.congestion_loading


def untested(linux: Linux) -> Refusal | None:
    """Return the reason why it is unknown whether the kernel has the features of a gateway."""
    if linux.gateway_is_tested or linux.gateway is not None:
        return None
    reason = "the kernel was not tested, since a test could load modules"
    return Refusal(reason, "run `lasthop gateway check FILE` as root")


def bpf_filters(linux: Linux) -> Refusal | None:
    """Return the reason why a gateway classifies packets without BPF programs."""
    if linux.bpf is None or linux.missing_capability is not None:
        return None
    return Refusal(f"u32 filters classify instead: {linux.bpf}", "the process must have CAP_BPF")


def leaf_queues(linux: Linux) -> Refusal | None:
    """Return the reason why the leaves of a gateway are FIFOs."""
    from lasthop.linux.leaf_queue import MANAGED

    if any(linux.has(f"sch_{name}") for name in MANAGED):
        return None
    from lasthop.linux_only import OTHER_KERNEL

    names = " nor ".join(f"sch_{name}" for name in MANAGED)
    return Refusal(f"this kernel has neither {names}: leaf queues are FIFOs", OTHER_KERNEL)


def shaping(linux: Linux) -> Refusal | None:
    """Return the refusal of a kernel that cannot shape a queue."""
    from lasthop.linux import disciplines, rights
    from lasthop.linux_only import OTHER_KERNEL

    if not linux.has("sch_tbf"):
        return Refusal(disciplines.absent("tbf"), OTHER_KERNEL)
    if not linux.has("sch_htb"):
        step = next(each for each in rights.STEPS if rights.module_of(each) == "sch_htb")
        return Refusal.of(rights.refusal(rights.absent(step)))
    return None


def translation(linux: Linux) -> Refusal | None:
    """Return the refusal of a kernel without address translation."""
    from lasthop.linux.nat import lacking

    for name in ("nf_tables", "nft_masq"):
        if not linux.has(name):
            return Refusal.of(lacking(f"module {name} is missing"))
    return None


PICTURE = packages("a picture", "--plot")
REPORT = Need("program", lambda machine: machine.report, "--report")
PARQUET = packages("Parquet files", "Parquet files")
SOME_MODELS = packages("some models", "some models")
ON_CLUSTERS = (package("distributed", "--cluster"), package("submitit", "--slurm"))
METRICS = packages("metrics", "metrics")


def real_time(part: str) -> tuple[Need, ...]:
    """Return the needs of emulations in real time."""
    return without(
        part,
        feature("emulator"),
        Need("rights", on_linux(lambda linux: linux.network_namespaces)),
        Need("rights", on_linux(lambda linux: linux.tun)),
    )


SIMULATED_TIME = without(
    "--virtual", Need("program", lambda machine: machine.uml), Need("rights", ptrace)
)

GATEWAY = (system("lasthop gateway"), feature("gateway"))
GATEWAY_KERNEL = (
    Need("kernel", on_linux(gateway_kernel)),
    Need("kernel", on_linux(untested), "a test of the kernel"),
    Need("kernel", on_linux(bpf_filters), "BPF programs"),
    Need("kernel", on_linux(leaf_queues), "short leaf queues"),
)
CAPABILITY = Need("rights", on_linux(capability))
UNEXAMINED = Need("rights", on_linux(unexamined), "a test of this machine")
STATE = root("only root may open /run/lasthop", "services of root")
QUEUE = (system("lasthop queue"), feature("queue"))
QUEUE_KERNEL = (
    Need("kernel", on_linux(shaping)),
    Need("kernel", on_linux(absent_disciplines), "some queues"),
)
CONGESTION = (system("lasthop congestion"),)
KERNEL = (system("lasthop kernel"),)
RELAY = (system("lasthop relay"), feature("relay"))

STABILITY = {
    f"stability {name}": Verb((packages("lasthop stability"), *((PICTURE,) if is_drawn else ())))
    for name, is_drawn in {
        "models": False,
        "equilibrium": False,
        "roots": False,
        "hopf": True,
        "normal-form": False,
        "cycle": True,
        "integrate": True,
        "chart": True,
    }.items()
}

GROUPS: Mapping[str, Mapping[str, Verb]] = {
    "Scenarios": {
        "init": Verb(),
        "schema": Verb(),
        "check": Verb(),
        "import pcap": Verb((packages("import pcap"),)),
        "import iw": Verb(),
        "import hostapd": Verb(),
        "import openwrt": Verb(),
    },
    "Prediction and simulation": {
        "predict": Verb((packages("a prediction"), SOME_MODELS, PARQUET, PICTURE)),
        "simulate": Verb((PARQUET, PICTURE, REPORT)),
        "compare": Verb(
            (
                packages("lasthop compare"),
                SOME_MODELS,
                REPORT,
                system("lasthop compare --emulate", "--emulate"),
                *real_time("--emulate"),
                system("lasthop compare --virtual", "--virtual"),
                *SIMULATED_TIME,
            )
        ),
        "explain": Verb((packages("lasthop explain FILE", "FILE"),)),
        "sweep": Verb((PARQUET, PICTURE, REPORT, *ON_CLUSTERS)),
        "what-if": Verb(
            (
                packages("lasthop what-if"),
                PARQUET,
                PICTURE,
                REPORT,
            )
        ),
        "tune": Verb(
            (
                packages("lasthop tune"),
                SOME_MODELS,
                PARQUET,
                packages("lasthop tune --out", "--out"),
                PICTURE,
                REPORT,
                *ON_CLUSTERS,
            )
        ),
        "plot": Verb((packages("lasthop plot"),)),
        "reproduce": Verb((packages("lasthop reproduce"), *ON_CLUSTERS)),
        **STABILITY,
    },
    "Emulation": {
        "emulate": Verb(
            (
                system("lasthop emulate"),
                *real_time("real time"),
                *SIMULATED_TIME,
                Need("kernel", on_linux(translation), "--uplink", "real time"),
                Need("rights", on_linux(congestion), "Compound", "real time"),
                PICTURE,
                REPORT,
            ),
            frozenset({"real time", "--virtual"}),
        ),
        "kernel build": Verb(
            (
                *KERNEL,
                feature("emulator"),
                Need("program", on_linux(lambda linux: linux.kernel_build)),
            )
        ),
        "kernel list": Verb(KERNEL),
        "kernel remove": Verb(KERNEL),
    },
    "Linux": {
        "gateway check": Verb((*GATEWAY, *GATEWAY_KERNEL, UNEXAMINED)),
        "gateway plan": Verb(GATEWAY),
        "gateway up": Verb((*GATEWAY, CAPABILITY, *GATEWAY_KERNEL, METRICS)),
        "gateway status": Verb((*GATEWAY, STATE)),
        "gateway down": Verb((*GATEWAY, STATE)),
        "gateway run": Verb((*GATEWAY, CAPABILITY, *GATEWAY_KERNEL, METRICS)),
        "queue check": Verb((*QUEUE, *QUEUE_KERNEL, UNEXAMINED)),
        "queue plan": Verb(QUEUE),
        "queue up": Verb((*QUEUE, CAPABILITY, *QUEUE_KERNEL, METRICS)),
        "queue status": Verb((*QUEUE, STATE)),
        "queue down": Verb((*QUEUE, STATE)),
        "queue run": Verb((*QUEUE, CAPABILITY, *QUEUE_KERNEL, METRICS)),
        "congestion list": Verb(
            (*CONGESTION, root("the origin of congestion controls is unknown", "origins"))
        ),
        "congestion load": Verb((*CONGESTION, Need("rights", on_linux(congestion)))),
        "congestion unload": Verb(
            (*CONGESTION, root("only root may remove a loaded congestion control"))
        ),
        "relay serve": Verb((*RELAY, METRICS)),
        "relay connect": Verb((*RELAY, METRICS)),
        "relay key": Verb(RELAY),
    },
    "Others": {
        "workbench": Verb((packages("workbench"), Need("program", lambda machine: machine.page))),
        "completion": Verb(),
        "doctor": Verb(),
    },
}
"""Verbs by the heading under which the report lists them."""

VERBS: Mapping[str, Verb] = {
    name: verb for group in GROUPS.values() for name, verb in group.items()
}
