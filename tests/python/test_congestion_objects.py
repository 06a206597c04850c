"""The BPF objects in the package are compiled from `crates/bpf`."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from lasthop.enforce import gateway, queue
from lasthop.enforce.congestion import CONTROLS
from lasthop.enforce.congestion.controls import SHARE
from lasthop.errors import UserError
from lasthop.linux import struct_ops
from lasthop.linux.bpf_object import Object
from lasthop.linux.btf import Btf
from lasthop.linux.struct_ops import OPERATIONS, SECTION, functions

SOURCES = Path(__file__).parents[2] / "crates" / "bpf"
SHARED = Path(queue.__file__).with_name("share")
OF_GATEWAY = Path(gateway.__file__).with_name("share")
PARTS = ("constants.h", "kernel.h", "fixed.h", "window.h")


@pytest.mark.parametrize("law", CONTROLS)
def test_an_object_is_as_new_as_its_sources(law):
    content = b"".join((SOURCES / name).read_bytes() for name in (*PARTS, f"{law}.bpf.c"))
    noted = (SHARE / f"{law}.sources").read_text().strip()
    assert hashlib.sha256(content).hexdigest() == noted, "run crates/bpf/build"


PROGRAMS = {
    "sharing": ("sharing_constants.h", "kernel.h", "fixed.h", "packet.h", "sharing.h"),
    "pi": ("kernel.h", "fixed.h", "packet.h", "pi.h"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_object_of_the_queue_is_as_new_as_its_sources(name):
    parts = (*PROGRAMS[name], f"{name}.bpf.c")
    content = b"".join((SOURCES / each).read_bytes() for each in parts)
    noted = (SHARED / f"{name}.sources").read_text().strip()
    assert hashlib.sha256(content).hexdigest() == noted, "run crates/bpf/build"


def test_the_object_of_the_gateway_is_as_new_as_its_sources():
    parts = ("kernel.h", "fixed.h", "packet.h", "stations.h", "stations.bpf.c")
    content = b"".join((SOURCES / each).read_bytes() for each in parts)
    noted = (OF_GATEWAY / "stations.sources").read_text().strip()
    assert hashlib.sha256(content).hexdigest() == noted, "run crates/bpf/build"


def test_the_compiler_makes_these_objects(tmp_path, debian_program):
    debian_program("clang-16", "clang-16 llvm-16")
    debian_program("llvm-strip-16", "llvm-16")
    subprocess.run([SOURCES / "build", tmp_path], check=True)
    for law in CONTROLS:
        assert (tmp_path / f"{law}.o").read_bytes() == (SHARE / f"{law}.o").read_bytes()
    made = (tmp_path / "stations.o").read_bytes()
    assert made == (OF_GATEWAY / "stations.o").read_bytes()
    for name in PROGRAMS:
        assert (tmp_path / f"{name}.o").read_bytes() == (SHARED / f"{name}.o").read_bytes()


@pytest.mark.parametrize("law", CONTROLS)
def test_an_object_has_a_section_for_each_operation_and_no_path_of_a_machine(law):
    built = Object(CONTROLS[law].object)
    names = [member.name for member in built.types().structure(OPERATIONS).members]
    sections = functions(built)
    assert list(sections.values()) == [
        f"struct_ops/{law}_{name}" for name in names if name not in ("name", "flags")
    ]
    flags = built.types().structure(OPERATIONS).place("flags")
    assert built.section(SECTION)[flags] == 1  # users without privileges may select it
    assert b"/home" not in built.data
    assert str(SOURCES).encode() not in built.data


@pytest.mark.parametrize("law", CONTROLS)
def test_names_of_a_process_fit_into_the_kernel(law):
    control = CONTROLS[law]
    most = f"{control.short}_{4_194_304}"  # largest process ID (linux/threads.h)
    assert max(len(most), len(control.kernel_name)) < 16


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_a_kernel_without_type_information_is_named_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(struct_ops, "KERNEL_TYPES", tmp_path / "vmlinux")
    struct_ops.kernel_types.cache_clear()
    with pytest.raises(UserError, match="vmlinux: No such file or directory") as caught:
        struct_ops.load(b"", "name", "compound")
    assert "CONFIG_DEBUG_INFO_BTF" in str(caught.value.hint)


def test_a_file_that_is_not_an_object_is_refused():
    with pytest.raises(ValueError, match="no BPF object"):
        Object(bytes(100))
    with pytest.raises(ValueError, match="no BTF"):
        Btf(bytearray(100))
