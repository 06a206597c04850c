//! Pending arrivals of packets over links. An arrival is never cancelled.
//!
//! Links deliver their packets in the order in which the arrivals are inserted, unless their delay
//! changes. If a network has at most [`MAX_LISTED_LINKS`] links, each link therefore has a list of
//! its arrivals in order of time, and the next arrival is the earliest first entry of these lists.
//! Other arrivals are in a calendar queue ([`super::calendar`]): all arrivals of networks with more
//! links, and all later arrivals of a link after one arrival was inserted out of order.
//!
//! ArrivalQueue are in order of time. ArrivalQueue at the same time are in order of rank, lowest first.
//! ArrivalQueue of the same rank are in the order in which they were inserted.

use std::collections::VecDeque;

use super::calendar::Calendar;
use super::time::{Span, Time};

/// Largest number of links of a network in which each link has a list.
const MAX_LISTED_LINKS: usize = 2;

/// Pending arrivals, each with an item.
#[derive(Clone, Debug)]
pub struct ArrivalQueue<T> {
    /// Number of links that have a list: their ranks are below this number.
    listed: usize,
    lists: [LinkArrivals<T>; MAX_LISTED_LINKS],
    others: Calendar<T>,
    /// Time and rank of the first arrival in `others`, if links have lists.
    first_other: (Time, usize),
    /// Time and rank of the next arrival, if links have lists.
    next: (Time, usize),
    /// Place of the next arrival: the index of a list, or [`MAX_LISTED_LINKS`] for `others`.
    source: usize,
}

/// ArrivalQueue of one link, in order of time.
#[derive(Clone, Debug)]
struct LinkArrivals<T> {
    pending: VecDeque<(Time, T)>,
    /// Time of the first arrival; [`Time::NEVER`] if there is none.
    first: Time,
    /// Earliest time of the next arrival that is still in order; [`Time::NEVER`] after an arrival
    /// out of order, because later arrivals are then in the calendar queue.
    in_order_from: Time,
}

/// Value of the fields `next` and `first_other` that means "no arrival".
const NONE: (Time, usize) = (Time::NEVER, 0);

impl<T: Copy> ArrivalQueue<T> {
    /// Returns an empty list of arrivals for a network with `links` links, whose numbers are the
    /// ranks. The calendar queue is fast if most arrivals are inserted at most `typical_delay` before their
    /// time.
    pub fn new(typical_delay: Span, links: usize) -> ArrivalQueue<T> {
        let list = || LinkArrivals {
            pending: VecDeque::new(),
            first: Time::NEVER,
            in_order_from: Time::ZERO,
        };
        ArrivalQueue {
            listed: if links <= MAX_LISTED_LINKS { links } else { 0 },
            lists: [list(), list()],
            others: Calendar::new(typical_delay),
            first_other: NONE,
            next: NONE,
            source: MAX_LISTED_LINKS,
        }
    }

    /// Inserts an arrival at time `at`. `rank` is below 2^24.
    #[inline(always)]
    pub fn push(&mut self, at: Time, rank: usize, item: T) {
        match self.listed {
            0 => self.others.push(at, rank, item),
            _ => self.push_in_order(at, rank, item),
        }
    }

    /// Inserts an arrival into the list of its link. Not inlined, so that networks without lists run
    /// no slower.
    #[inline(never)]
    fn push_in_order(&mut self, at: Time, rank: usize, item: T) {
        let list = &mut self.lists[rank];
        if at < list.in_order_from {
            list.in_order_from = Time::NEVER;
            return self.push_other(at, rank, item);
        }
        list.in_order_from = at;
        if list.first == Time::NEVER {
            list.first = at;
            if (at, rank) < self.next {
                self.next = (at, rank);
                self.source = rank;
            }
        }
        list.pending.push_back((at, item));
    }

    /// Inserts an arrival of a link with a list into the calendar queue.
    #[cold]
    #[inline(never)]
    fn push_other(&mut self, at: Time, rank: usize, item: T) {
        self.others.push(at, rank, item);
        self.first_other = self.others.first();
        self.find_next();
    }

    /// Returns the time and the rank of the next arrival; `Time::NEVER` if no arrival is pending.
    #[inline(always)]
    pub fn first(&mut self) -> (Time, usize) {
        match self.listed {
            0 => self.others.first(),
            _ => self.next,
        }
    }

    /// Sets `next` and `source` to the earliest arrival.
    #[inline(always)]
    fn find_next(&mut self) {
        self.next = self.first_other;
        self.source = MAX_LISTED_LINKS;
        for (rank, list) in self.lists.iter().enumerate().rev() {
            // at the same time and rank, arrivals in the list were inserted before all others
            if (list.first, rank) <= self.next {
                self.next = (list.first, rank);
                self.source = rank;
            }
        }
    }

    /// Removes the next arrival and returns its item. Call [`first`](ArrivalQueue::first) before.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<T> {
        match self.listed {
            0 => self.others.pop().copied(),
            _ => self.pop_in_order(),
        }
    }

    #[inline(never)]
    fn pop_in_order(&mut self) -> Option<T> {
        let Some(list) = self.lists.get_mut(self.source) else {
            return self.pop_other();
        };
        let (_, item) = list.pending.pop_front()?;
        list.first = list.pending.front().map_or(Time::NEVER, |&(at, _)| at);
        self.find_next();
        Some(item)
    }

    #[cold]
    fn pop_other(&mut self) -> Option<T> {
        let item = self.others.pop().copied();
        self.first_other = self.others.first();
        self.find_next();
        item
    }

    /// Returns whether a day (bucket) of the calendar queue with many arrivals has begun since the
    /// last call.
    #[inline(always)]
    pub fn take_large_day_begun(&mut self) -> bool {
        self.others.take_large_day_begun()
    }

    /// Returns the items of the pending arrivals in the days of the calendar queue that have begun.
    pub fn begun(&self) -> impl Iterator<Item = &T> {
        self.others.begun()
    }

    /// Returns the items of all pending arrivals, in no particular order.
    pub fn items(&self) -> impl Iterator<Item = &T> {
        let listed = self.lists.iter().flat_map(|list| &list.pending);
        listed.map(|(_, item)| item).chain(self.others.items())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares the arrivals with a sorted list. The arrivals of a link are in order of time, or
        /// sometimes out of order.
        #[test]
        fn arrivals_have_the_order_of_a_sorted_list(
            links in 1_usize..4,
            operations in prop::collection::vec((0_usize..3, 0_u64..40, 0_usize..3, 0_u8..20), 1..400),
        ) {
            let mut arrivals = ArrivalQueue::new(Span(1_000), links);
            let mut plain: Vec<(Time, usize, usize)> = Vec::new();
            let mut now = Time::ZERO;
            for (number, (kind, ahead, rank, disorder)) in operations.into_iter().enumerate() {
                if kind > 0 {
                    let rank = rank % links;
                    let delay = 50 * (rank as u64 + 1) + if disorder == 0 { ahead } else { 0 };
                    let at = now + Span(delay);
                    arrivals.push(at, rank, number);
                    plain.push((at, rank, number));
                    now += Span(ahead / 8);
                    let next = plain.iter().map(|arrival| arrival.0).min();
                    now = next.map_or(now, |next| now.min(next));
                } else {
                    let first = plain.iter().copied().min();
                    let due = first.map_or((Time::NEVER, 0), |(at, rank, _)| (at, rank));
                    prop_assert_eq!(arrivals.first(), due);
                    prop_assert_eq!(arrivals.pop(), first.map(|(_, _, item)| item));
                    plain.retain(|arrival| Some(*arrival) != first);
                    now = first.map_or(now, |(at, ..)| at);
                }
                let mut items: Vec<usize> = arrivals.items().copied().collect();
                items.sort_unstable();
                let pending: Vec<usize> = plain.iter().map(|&(_, _, item)| item).collect();
                prop_assert_eq!(items, pending);
            }
        }
    }
}
