"""Examination of this machine by `lasthop doctor`, and of files that describe a kernel."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from lasthop.doctor import doctor, probe
from lasthop.doctor.machine import BUILT_IN, LOADABLE, LOADED, MISSING, UNKNOWN, Machine
from lasthop.doctor.modules import OPTIONS, KernelFiles, read_kernel_files, state_of
from lasthop.linux import rights


@pytest.fixture(scope="module")
def here() -> Machine:
    return probe.examine()


def test_this_machine_is_examined(here: Machine) -> None:
    assert (here.version, here.platform) == (lh.__version__, sys.platform)
    assert here.cores >= 1
    assert "-" not in here.kernel
    json.loads(doctor(machine=here).to_json())


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux's /proc")
def test_the_examination_leaves_nothing_behind() -> None:
    def traces() -> tuple[object, ...]:
        modules = Path("/proc/modules")
        loaded = (
            [line.split()[0] for line in modules.read_text().splitlines()]
            if modules.exists()
            else []
        )
        children = Path("/proc/thread-self/children")
        interfaces = Path("/proc/self/net/dev").read_text().count("\n")
        namespace = Path("/proc/self/ns/net").readlink()
        return loaded, interfaces, namespace, children.read_text() if children.exists() else ""

    before = traces()
    probe.examine()
    assert traces() == before


ON_MACOS = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in {"fcntl", "pwd", "resource", "termios"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
import lasthop
sys.platform = "darwin"
print(lasthop.doctor("emulate").to_json())
linux = [name for name in sys.modules if name.startswith("lasthop.linux.")]
assert not linux, linux
"""
"""Program that examines this machine as if it were no Linux."""


def test_another_system_imports_no_module_of_linux() -> None:
    done = subprocess.run([sys.executable, "-c", ON_MACOS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert value["linux"] is None
    assert value["commands"][0]["limits"][0]["kind"] == "system"


# -- modules of the kernel ---------------------------------------------------------------------


def files(**more: Any) -> KernelFiles:
    return KernelFiles(**{"loaded": frozenset({"sch_htb"}), **more})


@pytest.mark.parametrize(
    ("module", "found", "expected"),
    [
        ("sch_htb", files(), LOADED),
        ("sch_red", files(built_in=frozenset({"sch_red"})), BUILT_IN),
        ("ifb", files(sysfs_names=frozenset({"ifb"})), BUILT_IN),
        ("sch_red", files(loadable=frozenset({"sch_red"})), LOADABLE),
        ("sch_red", files(loadable=frozenset({"sch_red"}), is_locked=True), MISSING),
        ("sch_red", files(loadable=frozenset()), MISSING),
        ("sch_red", files(options={"NET_SCH_RED": "y"}), BUILT_IN),
        ("sch_red", files(options={}), MISSING),
        ("sch_red", files(options={"NET_SCH_RED": "m"}), UNKNOWN),
        ("sch_red", files(), UNKNOWN),
        ("sch_red", KernelFiles(options={}), MISSING),
        ("sch_red", KernelFiles(), UNKNOWN),
    ],
)
def test_the_state_of_a_module_follows_from_files(
    module: str, found: KernelFiles, expected: str
) -> None:
    assert state_of(module, found) == expected


def test_files_of_the_kernel_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "lib/modules/6.1.0-9-amd64"
    contents = {
        tmp_path / "proc/modules": "sch_htb 32768 0 - Live 0x0\n",
        tmp_path / "proc/sys/kernel/modules_disabled": "1\n",
        folder / "modules.builtin": "kernel/net/sched/sch_fq_codel.ko\n",
        folder / "modules.dep": "kernel/net/sched/sch-red.ko.xz: kernel/net/x.ko\n",
        tmp_path / "boot/config-6.1.0-9-amd64": "CONFIG_IFB=m\n# CONFIG_TUN is not set\n",
        tmp_path / "sys/module/tun/version": "",
    }
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    assert read_kernel_files("6.1.0-9-amd64", tmp_path) == KernelFiles(
        frozenset({"sch_htb"}),
        frozenset({"sch_fq_codel"}),
        frozenset({"sch_red"}),
        {"IFB": "m"},
        frozenset({"tun"}),
        True,
    )
    assert read_kernel_files("6.1.0-9-amd64", tmp_path / "nothing") == KernelFiles()


def test_a_kernel_whose_modules_are_loadable_is_not_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise AssertionError("a test could load a module")

    monkeypatch.setattr(rights, "tried", fail)
    found = KernelFiles(loaded=frozenset())
    states = dict.fromkeys(OPTIONS, LOADABLE)
    assert probe.check_gateway_kernel(found, states) == (None, True)
    assert probe.check_gateway_kernel(found, {**states, "cls_u32": MISSING}) == (
        "no u32 filters in hash tables (module cls_u32)",
        True,
    )


def test_a_module_of_tun_devices_that_is_missing_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lasthop.linux.tun.refused", lambda: None)
    assert probe.check_tun({"tun": LOADED}) is None
    refusal = probe.check_tun({"tun": MISSING})
    assert refusal is not None
    assert refusal.reason == "/dev/net/tun: No such device"


def test_a_kernel_of_unknown_modules_is_reported_as_untested() -> None:
    files = KernelFiles(loaded=frozenset())
    modules = dict.fromkeys(OPTIONS, UNKNOWN)
    assert probe.check_gateway_kernel(files, modules) == (None, False)
