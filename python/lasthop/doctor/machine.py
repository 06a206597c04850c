"""Facts about a machine that decide which commands run on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lasthop.errors import UserError

__all__ = [
    "BUILT_IN",
    "FEATURES",
    "LOADABLE",
    "LOADED",
    "MISSING",
    "UNKNOWN",
    "Linux",
    "Machine",
    "Refusal",
]

LOADED, BUILT_IN, LOADABLE, MISSING, UNKNOWN = (
    "loaded",
    "built in",
    "loadable",
    "missing",
    "unknown",
)
"""States of a module of the kernel. A loadable module is loaded at its first use."""


FEATURES: Mapping[str, str] = {
    "emulator": "emulator",
    "gateway": "enforce",
    "queue": "enforce",
    "relay": "relay",
}
"""Cargo feature of each part of lasthop that a build can leave out."""


class Refusal(NamedTuple):
    """Reason why something does not run, and the remedy."""

    reason: str
    remedy: str | None = None

    @classmethod
    def of(cls, error: UserError | None) -> "Refusal | None":
        """Return the message and the hint of a command's error; None for None."""
        return None if error is None else cls(str(error), error.hint)


@dataclass(frozen=True)
class Linux:
    """Facts about a Linux kernel and the rights of this process. A refusal is the error of the
    command that needs the feature; None means that the feature works."""

    is_root: bool = True
    missing_capability: str | None = None
    """Name of a capability that a gateway needs and this process lacks; None if there is none."""
    network_namespaces_refusal: Refusal | None = None
    has_user_namespaces: bool = True
    """Whether this process may create a user namespace with a network namespace."""
    tun_refusal: Refusal | None = None
    has_ptrace: bool = True
    """Whether this process may be traced, as processes of user-mode Linux are."""
    bpf_refusal: Refusal | None = None
    """Reason why BPF programs cannot classify packets."""
    has_btf: bool = True
    """Whether the kernel provides its type information in BTF."""
    unprivileged_bpf_disabled: int | None = None
    """Value of the setting kernel.unprivileged_bpf_disabled; None if the kernel has no such
    setting."""
    congestion_loading_refusal: Refusal | None = None
    """Error of `lasthop congestion load`."""
    missing_gateway_feature: str | None = None
    """First feature that a gateway needs and the kernel lacks; None if none is known to be
    missing."""
    gateway_is_tested: bool = True
    """Whether the kernel was tested, or all its modules are known."""
    modules: Mapping[str, str] = field(default_factory=dict)
    """State of each module of the kernel that lasthop uses, by name."""
    congestion_controls: tuple[str, ...] = ()
    """Names of the congestion controls that are available."""
    programs: Mapping[str, bool] = field(default_factory=dict)
    """Whether each program of the system is installed, by name."""
    kernel_build_refusal: Refusal | None = None
    """Error of `lasthop kernel build` before it looks for a source."""

    def has(self, module: str) -> bool:
        """Return whether a module of the kernel is not known to be missing."""
        return self.modules.get(module) != MISSING


@dataclass(frozen=True)
class Machine:
    """Facts about a machine and about the build of lasthop on it. The default is a machine on
    which every command runs."""

    version: str = "0"
    profile: str = "release"
    left_out: Mapping[str, Refusal] = field(default_factory=dict)
    """Refusal of each part that was left out of the build. Names are keys of `FEATURES`."""
    python: str = "3.11.0"
    system: str = "Linux"
    """Name of the operating system, as in `platform.system`."""
    platform: str = "linux"
    """Name of the operating system, as in `sys.platform`."""
    kernel: str = "6.12"
    """Version of the operating system's kernel, without the suffix of a distribution."""
    architecture: str = "x86_64"
    cores: int = 1
    """Number of processors on which this process may run."""
    missing_packages: frozenset[str] = frozenset()
    """Optional packages that are not installed. Names are those of imports."""
    page_refusal: Refusal | None = None
    """Error of `lasthop workbench` if its page has not been built."""
    report_refusal: Refusal | None = None
    """Error of the option --report if its template has not been built."""
    uml_refusal: Refusal | None = None
    """Error of `lasthop emulate --virtual` if no suitable user-mode Linux exists."""
    uml_version: str | None = None
    """Version of the user-mode Linux that emulations use."""
    linux: Linux | None = field(default_factory=Linux)
    """Facts about Linux; None on other systems."""

    @property
    def features(self) -> dict[str, bool]:
        """Return whether the build has each cargo feature, by the feature's name."""
        left_out = {FEATURES[part] for part in self.left_out}
        return {feature: feature not in left_out for feature in FEATURES.values()}
