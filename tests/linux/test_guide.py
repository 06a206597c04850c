"""The guide works when it is followed literally, and it shows the same systemd unit as the
package.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from measure import BenchError
from peers import apt_install
from rich.table import Table

import lasthop.enforce.gateway as package
from commands import lasthop
from lab import GATEWAY, Lab, entered, leftovers, sh, station_v4, wait_until
from traffic import transfers

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/guide/cafe.md").read_text("utf-8")
LASTHOP = Path(sys.executable).with_name("lasthop")
CHANGES = {  # commands that a test cannot run: install from the network, start systemd
    "python3 -m venv",
    "/opt/lasthop/bin/pip",
    "ln -sf",
    "systemctl",
    "useradd",
    "install -D",
}


def commands() -> list[str]:
    """Return the root commands of the guide, in order."""
    blocks = re.findall(r"^```console\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    lines = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("# ")]
    ours = [line for line in lines if line.startswith("lasthop ")]
    return [line for line in ours if not any(line.startswith(each) for each in CHANGES)]


def run_as_root(line: str, etc: Path, run: Path) -> str:
    """Run a command of the guide in the gateway's namespace, with a private /run; return its
    output.
    """
    command = line.replace("lasthop", str(LASTHOP), 1).replace("/etc/lasthop/cafe.toml", str(etc))
    script = f"mount --bind {run} /run; {command}"
    with entered(GATEWAY):
        done = subprocess.run(
            ["unshare", "-m", "sh", "-ec", script], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, f"{line}: {done.stderr}"
    return done.stdout


def test_the_guide_works_when_followed_literally(tmp_path: Path) -> None:
    """Use the gateway file, the commands and the interface names of the guide without changes. The
    gateway finds a new guest and shapes its traffic.
    """
    file = re.search(r"^```toml\n# cafe.toml\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    assert file is not None
    etc, run = tmp_path / "cafe.toml", tmp_path / "run"
    etc.write_text(file[1])
    run.mkdir()
    lines = commands()
    assert [line.split()[2] for line in lines] == ["check", "up", "status", "down"]
    with Lab(stations=2, rate_bps=None):
        for old, new in (("wan", "eth0"), ("lan", "eth1")):
            sh(f"ip -n {GATEWAY} link set {old} name {new}")
        assert transfers(station_v4(0))  # traffic makes the guest visible
        printed = run_as_root(lines[0], etc, run)
        ok = ": ok: the café: 1 access point, 0 stations, and discovered stations; leaf queues: "
        assert ok in printed.splitlines()[0]
        assert run_as_root(lines[1], etc, run).startswith("up, process ")

        def packets() -> int:
            _, printed = lasthop(
                "gateway", "status", etc, "--json", mounts=f"mount --bind {run} /run"
            )
            return sum(row["sent_packets"] for row in json.loads(printed)["stations"])

        def counted() -> bool:
            """Return whether the guest has a separate leaf. The guest gets this leaf after its
            quarantine.
            """
            time.sleep(1)
            return transfers(station_v4(0), count=200_000) and packets() > 150

        wait_until(counted, "the guest's packets are counted")
        assert station_v4(0) in run_as_root(lines[2], etc, run)
        assert run_as_root(lines[3], etc, run) == "down\n"
        with entered(GATEWAY):
            assert leftovers() == []


def block_of(name: str) -> str:
    """Return the content that the guide gives for a file."""
    match = re.search(rf"in\n?.?`{re.escape(name)}`:\n\n```text\n(.*?)^```", GUIDE, re.M | re.S)
    assert match is not None, name
    return match[1]


def test_the_commands_of_the_guide_make_a_router(tmp_path: Path) -> None:
    """Follow the commands and rules of the guide: they make a router that replaces the guests'
    addresses by its own.
    """
    rules, lines = (
        tmp_path / "nftables.conf",
        re.findall(r"^# ((?:ip|sysctl|nft) .*)$", GUIDE, re.M),
    )
    installed("nft", "nftables")
    rules.write_text(block_of("/etc/nftables.conf"))
    with Lab(stations=1, rate_bps=None):
        for old, new in (("wan", "eth0"), ("lan", "eth1")):
            sh(f"ip -n {GATEWAY} link set {old} name {new}")
        sh(f"ip netns exec {GATEWAY} sysctl -qw net.ipv4.ip_forward=0")
        sh(f"ip -n {GATEWAY} address flush dev eth1")
        with entered(GATEWAY):
            for line in lines:
                sh(line.replace("/etc/nftables.conf", str(rules)).replace("/24", "/16"))
        assert transfers(station_v4(0))


def test_the_dhcp_server_of_the_guide_accepts_its_file(tmp_path: Path) -> None:
    installed("dnsmasq", "dnsmasq-base")
    file = tmp_path / "cafe.conf"
    file.write_text(block_of("/etc/dnsmasq.d/cafe.conf"))
    printed = sh(f"dnsmasq --test --conf-file={file} 2>&1")
    assert printed.strip().endswith("syntax check OK.")


def installed(program: str, package: str) -> None:
    """Skip if a program is missing and cannot be installed."""
    if shutil.which(program) is None:
        try:
            apt_install(package)
        except BenchError as error:
            pytest.skip(f"no {program} here: {error}")


def test_outputs_in_the_guide_have_the_form_of_the_real_ones() -> None:
    """Check that the guide contains every column title of the tables that `status` prints."""
    from lasthop.enforce.gateway.live import tables

    status = {"aps": [], "stations": [], "faults": [], "warnings": [], "leaves": None}
    titles = [
        str(column.header)
        for table in tables(status).renderables
        if isinstance(table, Table)
        for column in table.columns
    ]
    assert len(titles) == 14
    assert [title for title in titles if title not in GUIDE] == []


SHARE = Path(package.__file__).parent / "share"
MANUAL = ROOT / "packaging/wheel/data/share/man/man8/lasthop-gateway.8"


def test_files_that_the_guide_installs_come_with_the_package() -> None:
    lines = re.findall(r"^# install -D -m 644 -t (\S+) (\S+)$", GUIDE, re.MULTILINE)
    package = "/opt/lasthop/lib/python3*/site-packages/lasthop/enforce/gateway/share"
    pages = [Path("/opt/lasthop/share/man/man8") / MANUAL.name]
    assert [Path(file) for _, file in lines if MANUAL.name in file] == pages
    units = [Path(file) for _, file in lines if MANUAL.name not in file]
    assert [file.parent for file in units] == [Path(package)]
    # Suffixes of files that users do not install: parts of the script of `plan --sh`, and programs.
    ours = (".sh", ".o", ".sources")
    installed = {path.name for path in SHARE.iterdir() if path.suffix not in ours}
    assert {file.name for file in units} == installed


def test_the_unit_is_valid_with_its_manual_page(tmp_path: Path) -> None:
    installed("systemd-analyze", "systemd")
    installed("man", "man-db")
    unit = tmp_path / "lasthop-gateway@cafe.service"
    text = (SHARE / "lasthop-gateway@.service").read_text("utf-8")
    unit.write_text(text.replace("/opt/lasthop/bin/lasthop", str(LASTHOP)))
    pages = tmp_path / "man/man8"

    def verified() -> str:
        """Return the warnings of `systemd-analyze verify` about the unit of the package."""
        done = subprocess.run(
            ["systemd-analyze", "verify", unit],
            env=os.environ | {"MANPATH": str(pages.parent)},
            capture_output=True,
            text=True,
            check=False,
        )
        return "".join(line for line in done.stderr.splitlines() if "lasthop" in line)

    pages.mkdir(parents=True)
    assert "man lasthop-gateway(8)" in verified()
    shutil.copy(MANUAL, pages)
    assert verified() == ""


@pytest.mark.parametrize("page", [SHARE / "lasthop-gateway@.service", MANUAL], ids=lambda p: p.name)
def test_unit_and_manual_page_name_commands_that_exist(page: Path) -> None:
    from lasthop.cli.gateway import COMMANDS

    text = page.read_text("utf-8")
    named = set(re.findall(r"lasthop gateway (\w+)|^\.BI (\w+) \" FILE", text, re.MULTILINE))
    verbs = {verb for pair in named for verb in pair if verb}
    assert verbs
    assert verbs <= {command.__name__ for command in COMMANDS}
