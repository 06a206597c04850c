"""MAC addresses that are learnt for IP addresses of the file.

The file may list a station, or ignore a machine, by its IP address only. Frames are classified by
MAC address, so the IP address is bound to the MAC address that is first seen with it. A guest can
claim any IP address by ARP, so other MAC addresses have no effect until the first one has been
absent.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from lasthop.linux.tc import Address


@dataclass
class Binding:
    """A MAC address that was seen with an IP address."""

    mac: str
    last_s: float
    """Time at which it was last seen. [s]"""
    claimant: str | None = None
    """Another MAC address that claims the same IP address."""


@dataclass
class Bindings:
    """Bindings of IP addresses in the file to MAC addresses. They depend only on sightings and
    time.

    Parameters
    ----------
    absence_s : float
        Time after which a binding ends if its MAC address was not seen with the address. [s]
    lasting : collection of addresses
        Addresses with permanent bindings, since packets of their machines are not shaped.
        Otherwise a guest could make such a machine seem absent by sending ARP replies faster.
    """

    absence_s: float
    lasting: Collection[Address] = ()
    by_address: dict[Address, Binding] = field(default_factory=dict)

    def see(self, address: Address, mac: str, now_s: float) -> None:
        """Note that a MAC address was seen with an IP address."""
        known = self.by_address.get(address)
        if known is None or self.is_over(address, known, now_s):
            self.by_address[address] = Binding(mac, now_s)
        elif known.mac == mac:
            known.last_s = now_s
        else:
            known.claimant = mac

    def restore(self, macs: Mapping[Address, str], now_s: float) -> None:
        """Restore the permanent bindings of the last run."""
        for address, mac in macs.items():
            if address in self.lasting:
                self.by_address[address] = Binding(mac, now_s)

    def forget(self, now_s: float, addresses: Collection[Address]) -> None:
        """Remove old bindings, and bindings of addresses that are not in `addresses`."""
        for address, known in list(self.by_address.items()):
            if address not in addresses or self.is_over(address, known, now_s):
                del self.by_address[address]

    def is_over(self, address: Address, known: Binding, now_s: float) -> bool:
        """Return whether a binding has ended."""
        return address not in self.lasting and now_s - known.last_s > self.absence_s

    def mac_of(self, address: Address) -> str | None:
        """Return the MAC address that is bound to an IP address."""
        known = self.by_address.get(address)
        return known.mac if known is not None else None

    def warnings(self) -> list[str]:
        """Return a warning for each address that a second MAC address claims."""
        return [
            f"address {address}: {known.claimant} claims it, but {known.mac} had it first: "
            + (
                "after a change of the machine, remove the address from `discover.ignore`, reload, "
                "and add it again"
                if address in self.lasting
                else f"it stays with {known.mac} until that has been absent for `discover.absence`"
            )
            for address, known in self.by_address.items()
            if known.claimant is not None
        ]
