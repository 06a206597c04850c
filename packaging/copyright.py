"""Print the contents of the Debian package and their licences: copyright.py SITE-PACKAGES."""

import json
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import distributions
from pathlib import Path

HEAD = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: lasthop

Files: *
Copyright: the authors of lasthop
License: Expat or Apache-2.0
Comment: The texts are in usr/lib/lasthop/lib/site-packages/lasthop-*.dist-info/licenses.
 Apache-2.0 is in /usr/share/common-licenses too.
"""


def main(site: Path) -> None:
    """Print one paragraph for each Python package, and the list of linked crates."""
    print(HEAD)
    packages = sorted(
        distributions(path=[str(site)]), key=lambda each: each.metadata["Name"].lower()
    )
    for each in packages:
        name, data = each.metadata["Name"], each.metadata.json
        if name == "lasthop":
            continue
        terms = data.get("license_expression") or data.get("license") or classified(data)
        tops = sorted(
            {str(file).split("/")[0] for file in each.files or () if ".." not in str(file)}
        )
        print("Files:", *(f"usr/lib/lasthop/lib/site-packages/{top}*" for top in tops))
        print(f"Copyright: {data.get('author') or data.get('author_email') or 'its authors'}")
        print(f"License: {str(terms).splitlines()[0]}")
        print("Comment: its text is in the folder with .dist-info\n")
    print("Files: usr/lib/lasthop/lib/site-packages/lasthop/_core.abi3.so")
    print("Copyright: the authors of lasthop, and of the crates that are linked in")
    print("License: Expat or Apache-2.0")
    print("Comment: linked in are, each under its own licence,")
    for crate, licence in crates():
        print(f" {crate}: {licence}")


def classified(data: Mapping[str, str | list[str]]) -> str:
    """Return the licence that the classifiers of a package state."""
    named = [c for c in data.get("classifier", []) if c.startswith("License ::")]
    return named[0].rpartition(" :: ")[2] if named else "unknown"


def crates() -> list[tuple[str, str]]:
    """Return the crates linked into the extension, each with its licence, sorted by name."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    tree = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    packages = {each["id"]: each for each in tree["packages"]}
    nodes = {each["id"]: each for each in tree["resolve"]["nodes"]}
    open_, seen = [next(i for i, p in packages.items() if p["name"] == "lasthop-python")], set()
    while open_:
        crate = open_.pop()
        if crate not in seen:
            seen.add(crate)
            for dep in nodes[crate]["deps"]:
                if any(kind["kind"] is None for kind in dep["dep_kinds"]):
                    open_.append(dep["pkg"])
    linked = (packages[crate] for crate in seen)
    return sorted(
        (f"{each['name']} {each['version']}", each["license"] or "unknown")
        for each in linked
        if each["source"] is not None
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
