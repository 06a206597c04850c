//! Callers: incoming connections that have not yet sent their request. Their number is limited, and
//! the oldest callers are closed to make room for new callers.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::Instant;

/// Limits of the number of callers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Maximum number of callers at the same time.
    pub(crate) all: usize,
    /// Maximum number of callers from one address at the same time.
    pub(crate) of_one: usize,
    /// Age from which a caller that has sent nothing may be closed to make room for a new caller.
    pub(crate) silent_age: Duration,
    /// Age from which a caller that has sent data may be closed to make room for a new caller.
    /// Callers that have sent nothing are closed first.
    pub(crate) spoken_age: Duration,
}

/// An incoming connection that has not yet sent its request.
#[derive(Debug)]
struct Caller {
    from: IpAddr,
    since: Instant,
    is_silent: bool,
    task: Option<AbortHandle>,
}

/// All callers, in order of age.
#[derive(Debug)]
pub(crate) struct Callers {
    limits: Limits,
    next: u64,
    all: BTreeMap<u64, Caller>,
    /// Number of callers that were closed to make room.
    pub(crate) closed: u64,
}

impl Callers {
    /// Returns an empty list of callers.
    pub(crate) fn new(limits: Limits) -> Callers {
        Callers {
            limits,
            next: 0,
            all: BTreeMap::new(),
            closed: 0,
        }
    }

    /// Admits a caller and returns its identifier. Returns `None` if a limit of [`Limits`] is reached
    /// and no caller can be closed.
    pub(crate) fn admit(&mut self, from: IpAddr) -> Option<u64> {
        let from = subscriber(from);
        let of_one = self.all.values().filter(|caller| caller.from == from);
        if of_one.count() >= self.limits.of_one && !self.make_room(|caller| caller.from == from) {
            return None;
        }
        if self.all.len() >= self.limits.all && !self.make_room(|_| true) {
            return None;
        }
        let caller = Caller {
            from,
            since: Instant::now(),
            is_silent: true,
            task: None,
        };
        self.next += 1;
        self.all.insert(self.next, caller);
        Some(self.next)
    }

    /// Closes one of the callers that `is_meant` selects. This is the oldest caller that has sent
    /// nothing, if it is at least `silent_age` old, and otherwise the oldest other caller, if it is
    /// at least `spoken_age` old. Returns whether a caller was closed.
    fn make_room(&mut self, is_meant: impl Fn(&Caller) -> bool) -> bool {
        let Limits {
            silent_age,
            spoken_age,
            ..
        } = self.limits;
        let oldest = |is_silent: bool, age: Duration| {
            let mut meant = self.all.iter().filter(|(_, caller)| {
                caller.is_silent == is_silent && caller.since.elapsed() >= age && is_meant(caller)
            });
            meant.next().map(|(&id, _)| id)
        };
        let Some(id) = oldest(true, silent_age).or_else(|| oldest(false, spoken_age)) else {
            return false;
        };
        let caller = self.all.remove(&id);
        if let Some(task) = caller.and_then(|caller| caller.task) {
            task.abort();
        }
        self.closed += 1;
        true
    }

    /// Sets the task that serves a caller. Closing the caller aborts the task.
    pub(crate) fn serve(&mut self, id: u64, task: AbortHandle) {
        if let Some(caller) = self.all.get_mut(&id) {
            caller.task = Some(task);
        }
    }

    /// Records that a caller has sent data.
    pub(crate) fn spoke(&mut self, id: u64) {
        if let Some(caller) = self.all.get_mut(&id) {
            caller.is_silent = false;
        }
    }

    /// Removes a caller that has sent its request or has ended.
    pub(crate) fn leave(&mut self, id: u64) {
        self.all.remove(&id);
    }
}

/// Returns the address that identifies a subscriber. For IPv6 it is the /64 network, because each
/// subscriber has at least one /64 network.
pub(crate) fn subscriber(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: usize = 8;
    const OF_ONE: usize = 3;

    fn callers(silent_age: Duration) -> Callers {
        Callers::new(Limits {
            all: ALL,
            of_one: OF_ONE,
            silent_age,
            spoken_age: Duration::from_secs(2),
        })
    }

    fn ids(callers: &Callers) -> Vec<u64> {
        callers.all.keys().copied().collect()
    }

    #[test]
    fn the_oldest_silent_caller_of_an_address_makes_room_for_a_new_one() {
        let mut callers = callers(Duration::ZERO);
        let address = |text: &str| text.parse().unwrap();
        for from in ["192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2", "192.0.2.1"] {
            callers.admit(address(from)).unwrap();
        }
        callers.spoke(1);
        assert_eq!(callers.admit(address("192.0.2.1")), Some(5));
        assert_eq!(ids(&callers), [1, 3, 4, 5], "not the one that has spoken");
        callers.spoke(4);
        callers.spoke(5);
        assert_eq!(callers.admit(address("192.0.2.1")), None, "all are busy");
        callers.leave(4);
        assert_eq!(callers.admit(address("192.0.2.1")), Some(6));
        assert_eq!(callers.closed, 1);
    }

    #[test]
    fn addresses_of_a_network_of_64_bits_are_one() {
        let mut callers = callers(Duration::ZERO);
        for host in 0..9_u128 {
            let address = (0x2001_0db8_u128 << 96) + (host << 60);
            callers.admit(Ipv6Addr::from_bits(address).into()).unwrap();
        }
        assert_eq!(ids(&callers), [7, 8, 9]);
    }

    #[test]
    fn the_oldest_silent_caller_of_all_makes_room_at_the_whole_limit() {
        let mut callers = callers(Duration::ZERO);
        for host in 0..100_u8 {
            callers.admit([10, 0, 0, host].into()).unwrap();
        }
        assert_eq!(ids(&callers), (93..=100).collect::<Vec<_>>());
    }

    #[test]
    fn a_young_caller_makes_no_room_where_callers_have_time() {
        let mut callers = callers(Duration::from_secs(60));
        for _ in 0..OF_ONE {
            callers.admit([10, 0, 0, 1].into()).unwrap();
        }
        assert_eq!(callers.admit([10, 0, 0, 1].into()), None);
    }
}
