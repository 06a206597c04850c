"""A BPF program in front of a queue, and the map in which it keeps what it is told and counts."""

import mmap
from importlib.resources import files

from lasthop.errors import UserError
from lasthop.linux.bpf import BpfError
from lasthop.linux.classifier import Classifier

NEEDS = "needs Linux 5.17 or newer with CONFIG_NET_CLS_BPF and CONFIG_DEBUG_INFO_BTF"


class Program:
    """A program that is loaded.

    Parameters
    ----------
    name : str
        Name of the object, without its ending.
    structure : str
        What the map's value is, in the program.
    what : str
        What messages call it.

    Raises
    ------
    UserError
        If the kernel refuses it.
    """

    def __init__(self, name: str, structure: str, what: str) -> None:
        try:
            self.classifier = Classifier(object_of(name), name_of(name))
        except BpfError as error:
            raise UserError(f"{what}: {error.strerror}", NEEDS) from None
        self.structure = self.classifier.structure(structure)
        self.value = mmap.mmap(self.classifier.maps["queue"], self.structure.size)
        """What the map has: what is written there the program reads, and what it counts goes on."""

    @property
    def descriptor(self) -> int:
        """What stands for the program."""
        return self.classifier.program

    def tell(self, at: int, what: bytes) -> None:
        """Write to the map: a program that reads a field meanwhile sees what was or what is."""
        self.value[at : at + len(what)] = what

    def close(self) -> None:
        """Let go; a program that is attached stays."""
        self.value.close()
        self.classifier.close()


def name_of(name: str) -> str:
    """What the kernel calls a program."""
    return f"lasthop_{name}"


def object_of(name: str) -> bytes:
    """A program as compiled."""
    return files("lasthop.enforce.queue").joinpath("share", f"{name}.o").read_bytes()
