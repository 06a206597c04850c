"""Processors that this one can pass for, as the libraries below Python see it.

OpenBLAS, numpy and the C library choose their loops by what a processor can do; results differ in
the last bits. Each has its own environment variable, read as it is loaded.
"""

import platform
from pathlib import Path

__all__ = ["PROCESSORS", "dressed_as"]

CPUINFO = Path("/proc/cpuinfo")

NUMPY = ["X86_V3", "X86_V4", "AVX512_ICL", "AVX512_SPR"]
"""Loops that numpy has in addition to its plain ones, each with higher requirements than the one
before."""

LIBC = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F"

NEEDS = {
    "SkylakeX": {"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512cd"},
    "Haswell": {"avx2", "fma"},
    "Zen": {"avx2", "fma"},
    "Sandybridge": {"avx"},
    "Nehalem": {"sse4_2"},
    "Prescott": {"pni"},
}
"""Flags without which a core type of OpenBLAS cannot run."""


def flags() -> set[str]:
    """Return the features of this processor, by their names in /proc/cpuinfo; nothing if it is no
    x86-64."""
    if platform.machine() != "x86_64" or not CPUINFO.exists():
        return set()
    lines = CPUINFO.read_text("utf-8").splitlines()
    return set(next((line for line in lines if line.startswith("flags")), "").split())


PROCESSORS = [core for core, needed in NEEDS.items() if needed <= flags()] or ["native"]
"""Core types that can run here, the ablest first."""


def dressed_as(core: str) -> dict[str, str]:
    """Environment in which the libraries take this processor for one of another core type."""
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
    """Return the loops that this numpy can disable: it would warn of others."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    return [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
