"""Processor types that OpenBLAS, numpy and the C library can be made to assume.

These libraries choose their loops by the features of the processor, and results of different loops
differ in the last bits. Each library reads a separate environment variable when it is loaded.
"""

import platform
from pathlib import Path

__all__ = ["PROCESSORS", "dressed_as"]

CPUINFO = Path("/proc/cpuinfo")

NUMPY = ["X86_V3", "X86_V4", "AVX512_ICL", "AVX512_SPR"]
"""Names of numpy's optional loops. Each loop requires more processor features than the loop before
it in the list.
"""

LIBC = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F"

NEEDS = {
    "SkylakeX": {"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512cd"},
    "Haswell": {"avx2", "fma"},
    "Zen": {"avx2", "fma"},
    "Sandybridge": {"avx"},
    "Nehalem": {"sse4_2"},
    "Prescott": {"pni"},
}
"""Processor features that each core type of OpenBLAS requires."""


def flags() -> set[str]:
    """Return the features of this processor by their names in /proc/cpuinfo, or an empty set if the
    processor is not x86-64.
    """
    if platform.machine() != "x86_64" or not CPUINFO.exists():
        return set()
    lines = CPUINFO.read_text("utf-8").splitlines()
    return set(next((line for line in lines if line.startswith("flags")), "").split())


PROCESSORS = [core for core, needed in NEEDS.items() if needed <= flags()] or ["native"]
"""Core types of OpenBLAS that can run on this processor. The core type with the most features is
first.
"""


def dressed_as(core: str) -> dict[str, str]:
    """Return the environment variables with which the libraries assume this core type."""
    if core == "native":
        return {}
    environment = {"OPENBLAS_CORETYPE": core}
    if core == "SkylakeX":
        return environment
    plain = "avx2" not in NEEDS[core]
    off = [name for name in NUMPY[0 if plain else 1 :] if name in switchable()]
    environment["NPY_DISABLE_CPU_FEATURES"] = " ".join(off)
    return environment | ({"GLIBC_TUNABLES": LIBC} if plain else {})


def switchable() -> list[str]:
    """Return the names of the loops that this numpy can disable. numpy would warn about other
    names.
    """
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    return [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
