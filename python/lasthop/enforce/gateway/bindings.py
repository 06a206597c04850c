"""Learnt MAC addresses of the IP addresses in the configuration file.

The configuration file may list a station by its IP address only, and `discover.ignore` lists
machines by IP address. Frames are classified by MAC address. The IP address is therefore bound to
the first MAC address that is seen with it. A guest can claim any IP address by ARP. Another MAC
address is therefore ignored until the bound MAC address has been absent for `absence_s`.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from lasthop.linux.tc import Address


@dataclass
class Binding:
    """The MAC address that is bound to an IP address."""

    mac: str
    last_s: float
    """Time at which the MAC address was last seen with the IP address. [s]"""
    claimant: str | None = None
    """Another MAC address that claims the same IP address; None if there is none."""


@dataclass
class Bindings:
    """Bindings of IP addresses in the configuration file to MAC addresses. They depend only on the
    time and on the MAC addresses that the sources of stations report.

    Parameters
    ----------
    absence_s : float
        Time after which a binding ends if its MAC address was not seen with the IP address. [s]
    lasting : collection of addresses
        IP addresses with permanent bindings: those of machines whose packets are not shaped.
        Without permanence, a guest could take over such an address by sending ARP replies faster.
    """

    absence_s: float
    lasting: Collection[Address] = ()
    by_address: dict[Address, Binding] = field(default_factory=dict)

    def see(self, address: Address, mac: str, now_s: float) -> None:
        """Record that a MAC address was seen with an IP address."""
        known = self.by_address.get(address)
        if known is None or self.is_over(address, known, now_s):
            self.by_address[address] = Binding(mac, now_s)
        elif known.mac == mac:
            known.last_s = now_s
        else:
            known.claimant = mac

    def restore(self, macs: Mapping[Address, str], now_s: float) -> None:
        """Restore the permanent bindings that the last run stored."""
        for address, mac in macs.items():
            if address in self.lasting:
                self.by_address[address] = Binding(mac, now_s)

    def forget(self, now_s: float, addresses: Collection[Address]) -> None:
        """Remove bindings that have ended, and bindings of addresses that are not in
        `addresses`."""
        for address, known in list(self.by_address.items()):
            if address not in addresses or self.is_over(address, known, now_s):
                del self.by_address[address]

    def is_over(self, address: Address, known: Binding, now_s: float) -> bool:
        """Return whether a binding has ended because its MAC address was absent for too long."""
        return address not in self.lasting and now_s - known.last_s > self.absence_s

    def mac_of(self, address: Address) -> str | None:
        """Return the MAC address that is bound to an IP address."""
        known = self.by_address.get(address)
        return known.mac if known is not None else None

    def warnings(self) -> list[str]:
        """Return a warning for each IP address that a second MAC address claims."""
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
