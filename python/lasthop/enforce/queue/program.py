"""BPF program in front of a queue, and the map with its settings and counters."""

import mmap
from importlib.resources import files

from lasthop.errors import UserError
from lasthop.linux.bpf import BpfError
from lasthop.linux.classifier import Classifier

NEEDS = "needs Linux 5.17 or newer with CONFIG_NET_CLS_BPF and CONFIG_DEBUG_INFO_BTF"


class Program:
    """BPF program that is loaded into the kernel.

    Parameters
    ----------
    name : str
        Name of the object file, without its ending.
    structure : str
        Name of the C structure of the map's value.
    what : str
        Name of the program in messages to users.

    Raises
    ------
    UserError
        If the kernel refuses the program.
    """

    def __init__(self, name: str, structure: str, what: str) -> None:
        try:
            self.classifier = Classifier(object_of(name), name_of(name))
        except BpfError as error:
            raise UserError(f"{what}: {error.strerror}", NEEDS) from None
        self.structure = self.classifier.structure(structure)
        self.value = mmap.mmap(self.classifier.maps["queue"], self.structure.size)
        """Value of the map, in memory that is shared with the BPF program."""

    @property
    def descriptor(self) -> int:
        """Return the file descriptor of the BPF program."""
        return self.classifier.program

    def tell(self, at: int, what: bytes) -> None:
        """Write a field to the map's value. The BPF program reads either the old or the new value,
        never a mixture."""
        self.value[at : at + len(what)] = what

    def close(self) -> None:
        """Close the descriptors of the program and the map. An attached program continues to
        run."""
        self.value.close()
        self.classifier.close()


def name_of(name: str) -> str:
    """Return the name under which the kernel lists a program."""
    return f"lasthop_{name}"


def object_of(name: str) -> bytes:
    """Return the content of the object file of a program."""
    return files("lasthop.enforce.queue").joinpath("share", f"{name}.o").read_bytes()
