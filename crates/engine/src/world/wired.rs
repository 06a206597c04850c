//! A wired link of a world: the link, and what the world and results know of it beside.

use crate::kernel::time::Time;
use crate::link::Link;
use crate::packet::Packet;

/// A link of the network: a cache line, where it is one of the many of hosts.
#[repr(align(64))]
pub(crate) struct WiredLink {
    pub(super) link: Link,
    pub(super) label: Box<Label>,
}

impl WiredLink {
    /// Whether it is a link of a host.
    pub(super) fn is_of_host(&self) -> bool {
        matches!(self.link, Link::Host(_))
    }

    /// Whether packets enter it ahead of time.
    pub(super) fn enters_ahead(&self) -> bool {
        self.label.ahead
    }

    /// The link, for what it counts.
    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// Name in results.
    pub(crate) fn name(&self) -> &str {
        &self.label.name
    }

    /// Whether results show it.
    pub(crate) fn is_shown(&self) -> bool {
        self.label.shown
    }

    /// Whether its queue may mark packets.
    pub(crate) fn marks(&self) -> bool {
        self.label.marks
    }

    /// When a packet that enters the link of a host at `at` leaves it.
    #[inline(always)]
    pub(super) fn pass_host(&mut self, at: Time, packet: &Packet) -> Time {
        match &mut self.link {
            Link::Host(host) => host.enter(at, packet),
            Link::Pipe(_) | Link::Served(_) | Link::Traced(_) => {
                unreachable!("legs know what links are")
            }
        }
    }
}

/// What no packet needs.
pub(super) struct Label {
    /// Whether packets enter the link ahead of time.
    pub(super) ahead: bool,
    /// Whether results show it.
    pub(super) shown: bool,
    /// Whether its queue may mark packets.
    pub(super) marks: bool,
    /// Its name in results.
    pub(super) name: Box<str>,
}
