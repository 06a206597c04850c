"""Examine this machine. Modules that need Linux are imported only on Linux."""

import os
import platform
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

from lasthop import _core
from lasthop.doctor.machine import LOADABLE, MISSING, UNKNOWN, Linux, Machine, Refusal
from lasthop.doctor.modules import OPTIONS, KernelFiles, read_kernel_files, state_of
from lasthop.errors import UserError
from lasthop.extras import EXTRA_OF_PACKAGE, is_installed
from lasthop.linux_only import linux_error
from lasthop.report.template import template
from lasthop.simulation.simulate import available_jobs
from lasthop.workbench.files import page

__all__ = ["examine"]

FUNCTIONS = {
    "emulator": "emulate",
    "gateway": "check_gateway",
    "queue": "check_interface",
    "relay": "new_relay_key",
}
"""Function of the extension for each part that a build can leave out. Without the part, the
function raises the error of the command, whatever its arguments."""

COMPLETE_BUILD = "install lasthop from a wheel for Linux"
"""Remedy for a part that was left out of the build. Wheels for Linux have all parts."""

PROGRAMS = ("ip", "tc", "nft", "iw")
BPF_SETTING = Path("/proc/sys/kernel/unprivileged_bpf_disabled")


def examine() -> Machine:
    """Return the facts about this machine."""
    uml_refusal, version = find_uml()
    return Machine(
        version=_core.VERSION,
        profile=_core.PROFILE,
        left_out=left_out_parts(),
        python=platform.python_version(),
        system=platform.system(),
        platform=sys.platform,
        kernel=kernel_version(platform.release()),
        architecture=platform.machine(),
        cores=available_jobs(),
        missing_packages=frozenset(each for each in EXTRA_OF_PACKAGE if not is_installed(each)),
        page_refusal=error_of(page),
        report_refusal=error_of(template),
        uml_refusal=uml_refusal,
        uml_version=version,
        linux=linux() if sys.platform.startswith("linux") else None,
    )


def kernel_version(release: str) -> str:
    """Return the version in the release of a kernel. The rest of the release may be private."""
    match = re.match(r"\d+(\.\d+)*", release)
    return match[0] if match else "unknown"


def error_of(function: Callable[..., object]) -> Refusal | None:
    """Call a function, and return its `UserError`; None if it raises none."""
    try:
        function()
    except UserError as error:
        return Refusal.of(error)
    except OSError as error:
        return refusal_of_os_error(error)
    return None


def refusal_of_os_error(error: OSError) -> Refusal:
    """Return the error of the system as the command line prints it."""
    text = error.strerror or str(error)
    return Refusal(f"{error.filename}: {text}" if error.filename else text)


def left_out_parts() -> dict[str, Refusal]:
    """Return the error of each part that was left out of the build."""
    results = {}
    for name, function in FUNCTIONS.items():
        try:
            refusal = error_of(getattr(_core, function))
        except AttributeError:
            refusal = Refusal(f"{name}: not part of this build of lasthop")
        except TypeError:  # The feature exists, and its function needs arguments.
            continue
        if refusal is not None:
            results[name] = refusal._replace(remedy=COMPLETE_BUILD)
    return results


def find_uml() -> tuple[Refusal | None, str | None]:
    """Return the error of emulations in simulated time, and the version of their kernel."""
    if (refusal := Refusal.of(linux_error("lasthop emulate"))) is not None:
        return refusal, None
    from lasthop.uml.kernel import find_kernel

    try:
        return None, kernel_version(find_kernel(names_paths=False).version)
    except UserError as error:
        reason = re.sub(r"(?<=Linux )\d\S*", lambda release: kernel_version(release[0]), str(error))
        return Refusal(reason, error.hint), None
    except OSError as error:
        return refusal_of_os_error(error), None


def linux() -> Linux:
    """Return the facts about this Linux and the rights of this process."""
    with warnings.catch_warnings():
        # The children of a process with threads end without using its locks.
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        return linux_facts()


def linux_facts() -> Linux:
    """Return the facts about this Linux by tests, some of which run in child processes."""
    from lasthop.enforce.congestion.loading import refused
    from lasthop.linux import netns, trials
    from lasthop.linux.struct_ops import KERNEL_TYPES
    from lasthop.linux.tcp import available_congestion

    files = read_kernel_files(os.uname().release)
    modules = {name: state_of(name, files) for name in OPTIONS}
    feature, is_tested = check_gateway_kernel(files, modules)
    return Linux(
        is_root=os.geteuid() == 0,
        missing_capability=find_missing_capability(),
        network_namespaces_refusal=Refusal.of(netns.refused()),
        has_user_namespaces=trials.has_user_namespaces(),
        tun_refusal=check_tun(modules),
        has_ptrace=trials.has_ptrace(),
        bpf_refusal=check_bpf(),
        has_btf=KERNEL_TYPES.exists(),
        unprivileged_bpf_disabled=read_setting(BPF_SETTING),
        congestion_loading_refusal=Refusal.of(refused()),
        missing_gateway_feature=feature,
        gateway_is_tested=is_tested,
        modules=modules,
        congestion_controls=tuple(available_congestion()),
        programs={name: shutil.which(name) is not None for name in PROGRAMS},
        kernel_build_refusal=check_kernel_build(),
    )


def find_missing_capability() -> str | None:
    """Return the name of a capability that a gateway needs and this process lacks. A kernel
    without the interfaces of the test lacks the first capability."""
    from lasthop.linux import rights

    try:
        return rights.lacking()
    except OSError:
        return "CAP_NET_ADMIN"


def check_gateway_kernel(files: KernelFiles, modules: Mapping[str, str]) -> tuple[str | None, bool]:
    """Return the first feature that a gateway needs and this kernel lacks, and whether that is
    certain.

    The features are tested in a namespace, unless the test could load a module.
    """
    from lasthop.linux import rights

    needed = {step: rights.module_of(step) for step in rights.STEPS}
    states = {step: modules[module] for step, module in needed.items() if module is not None}
    if files.loaded is None or not {LOADABLE, UNKNOWN} & set(states.values()):
        trial = rights.tried()
        if trial.untried is None:
            return trial.missing, True
    for step, state in states.items():
        if state == MISSING:
            return rights.absent(step), True
    return None, UNKNOWN not in states.values()


def check_bpf() -> Refusal | None:
    """Return the reason why BPF programs cannot classify packets."""
    from lasthop.linux import rights

    reason = rights.bpf_refused()
    return None if reason is None else Refusal(reason, "give the process the capability CAP_BPF")


def check_tun(modules: Mapping[str, str]) -> Refusal | None:
    """Return the error of emulations in real time about TUN devices."""
    import errno

    from lasthop.linux import tun

    error = tun.refused()
    if error is None and modules["tun"] == MISSING:
        error = tun.refusal(errno.ENODEV)
    return Refusal.of(error)


def check_kernel_build() -> Refusal | None:
    """Return the error of `lasthop kernel build` on this machine. The package lists of apt are not
    read, which may take seconds."""
    from lasthop.uml import build, source

    if not source.installed_archives() and shutil.which("apt-cache") is None:
        return Refusal.of(source.no_source())
    return Refusal.of(build.without_programs())


def read_setting(file: Path) -> int | None:
    """Return the number in a file with a setting of the kernel; None if the file does not
    exist."""
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None
