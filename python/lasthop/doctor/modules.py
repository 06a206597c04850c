"""States of the kernel's modules, from files. No module is loaded.

A module can be loaded, built into the kernel, loadable or missing. If the files of the kernel are
not readable, its state is unknown.
"""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lasthop.doctor.machine import BUILT_IN, LOADABLE, LOADED, MISSING, UNKNOWN

__all__ = ["OPTIONS", "KernelFiles", "read_kernel_files", "state_of"]

OPTIONS: Mapping[str, str] = {
    "tun": "TUN",
    "ifb": "IFB",
    "nf_tables": "NF_TABLES",
    "nft_masq": "NFT_MASQ",
    "cls_u32": "NET_CLS_U32",
    "cls_bpf": "NET_CLS_BPF",
    "act_mirred": "NET_ACT_MIRRED",
    **{
        f"sch_{name}": f"NET_SCH_{name.upper()}"
        for name in ("htb", "tbf", "ingress", "fq", "fq_codel", "codel", "cake", "pie", "red")
    },
    **{f"sch_{name}": f"NET_SCH_{name.upper()}" for name in ("sfq", "netem", "prio", "drr")},
    **{f"tcp_{name}": f"TCP_CONG_{name.upper()}" for name in ("bbr", "cubic", "dctcp", "vegas")},
    **{f"tcp_{name}": f"TCP_CONG_{name.upper()}" for name in ("illinois", "westwood")},
}
"""Option of the kernel's configuration for each module, without the prefix ``CONFIG_``."""


@dataclass(frozen=True)
class KernelFiles:
    """Contents of the files that describe the modules of the running kernel."""

    loaded: frozenset[str] | None = None
    """Loaded modules in /proc/modules; None if the kernel has no loadable modules."""
    built_in: frozenset[str] = frozenset()
    loadable: frozenset[str] | None = None
    """Modules in the folder of the running kernel; None if there is no such folder."""
    options: Mapping[str, str] | None = None
    """Configuration of the kernel, without the prefix ``CONFIG_``; None if it is not readable."""
    sysfs_names: frozenset[str] = frozenset()
    """Names of the folders in /sys/module."""
    is_locked: bool = False
    """Whether the setting kernel.modules_disabled forbids to load modules."""


def state_of(module: str, files: KernelFiles) -> str:
    """Return the state of a module of `OPTIONS`."""
    if files.loaded is not None and module in files.loaded:
        return LOADED
    if module in files.built_in or module in files.sysfs_names:
        return BUILT_IN
    can_load = files.loaded is not None and not files.is_locked
    if can_load and files.loadable is not None and module in files.loadable:
        return LOADABLE
    value = "m" if files.options is None else files.options.get(OPTIONS[module])
    if value == "y":
        return BUILT_IN
    if value is None or files.loadable is not None:
        return MISSING
    return UNKNOWN if can_load or files.options is None else MISSING


def read_kernel_files(release: str, root: Path = Path("/")) -> KernelFiles:
    """Read the files of the running kernel.

    Parameters
    ----------
    release : str
        Release of the kernel, as in `os.uname`.
    root : Path
        Root of the file system.
    """
    folder = root / "lib" / "modules" / release
    modules = lines(root / "proc" / "modules")
    built_in, dependencies = lines(folder / "modules.builtin"), lines(folder / "modules.dep")
    configuration = lines(root / "proc" / "config.gz")
    if configuration is None:
        configuration = lines(root / "boot" / f"config-{release}")
    sysfs = root / "sys" / "module"
    return KernelFiles(
        None if modules is None else frozenset(line.split()[0] for line in modules),
        frozenset(map(name_of, built_in or ())),
        None
        if dependencies is None
        else frozenset(name_of(line.partition(":")[0]) for line in dependencies),
        None if configuration is None else options_of(configuration),
        frozenset(path.name for path in sysfs.iterdir()) if sysfs.is_dir() else frozenset(),
        lines(root / "proc" / "sys" / "kernel" / "modules_disabled") == ["1"],
    )


def lines(file: Path) -> list[str] | None:
    """Return the lines of a text file, which may be compressed; None if it cannot be read."""
    try:
        data = file.read_bytes()
        text = gzip.decompress(data) if file.suffix == ".gz" else data
    except (OSError, EOFError):
        return None
    return text.decode(errors="replace").splitlines()


def name_of(path: str) -> str:
    """Return the name of the module in a file such as ``kernel/net/sched/sch_htb.ko.xz``."""
    return path.rpartition("/")[2].partition(".")[0].replace("-", "_")


def options_of(configuration: list[str]) -> dict[str, str]:
    """Return the set options of a kernel configuration, without the prefix ``CONFIG_``."""
    pairs = (line.partition("=") for line in configuration if line.startswith("CONFIG_"))
    return {name.removeprefix("CONFIG_"): value for name, _, value in pairs}
