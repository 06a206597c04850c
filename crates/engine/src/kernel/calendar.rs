//! Calendar queue of events that are never cancelled: each event is inserted once, with an item,
//! and is removed at its time.
//!
//! Time is divided into days of equal width, and [`DAYS`] days are a year. The next [`DAYS`] days
//! are called "in sight". An event in these days is in the unsorted list of its day. An event in
//! the next [`YEARS`] years is in the unsorted list of its year. Later events are in a heap. The
//! events of a day are sorted only when the day begins, so that the cost per event does not depend
//! on the number of pending events. For timers, whose deadlines change, see [`super::agenda`].
//!
//! Events are in order of time. Events at the same time are in order of rank, lowest first. Events
//! of the same rank are in the order in which they were inserted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::time::{Span, Time};

/// Number of days per year. Each of the next [`DAYS`] days has a list of its events. The number is
/// a power of two, and at most 64 * 64, because the 64 bits of `words` are one bit per word of
/// `marked`.
const DAYS: usize = 1024;
const WORD: usize = 64;
/// Number of lists of events by year. An event after the next [`DAYS`] days is in the list of its
/// year if this year is fewer than [`YEARS`] years after the present year.
const YEARS: u64 = 64;
/// Shortest width of a day. [ns]
const SHORTEST_DAY: u64 = 1_000;
/// Index that means "no entry".
const NONE: u32 = u32::MAX;
/// Flag in the index of the first entry of a day: the day has more than one event.
const MORE: u32 = 1 << 31;
/// Minimum number of events of a day for which [`Calendar::take_large_day_begun`] reports that the
/// day has begun.
const MANY: usize = 8;
/// Number of low bits of `order` that store the insertion number of an event. The higher bits store
/// its rank. [bits]
const COUNT_BITS: u32 = 40;

/// Pending events, each with an item.
#[derive(Clone, Debug)]
pub struct Calendar<T> {
    /// Pending events with their items, and free entries.
    entries: Vec<Entry<T>>,
    free: u32,
    /// Earliest event of the days that have begun; [`NOTHING`] if these days have no event.
    next: Due,
    /// The other events of the days that have begun, latest event first.
    begun: Vec<Due>,
    /// Number of the first day that has not begun, with days counted from 0. Events of earlier days
    /// are in `next` and `begun`.
    today: u64,
    /// Index in `entries` of the first event of each of the next [`DAYS`] days. The flag [`MORE`]
    /// means that the day has further events, which are in `rest`. The index of a day in `days` and
    /// `rest` is its number modulo [`DAYS`].
    days: Box<[u32; DAYS]>,
    rest: Vec<Vec<Due>>,
    /// Whether a day with at least [`MANY`] events has begun since the last call of
    /// [`Calendar::take_large_day_begun`].
    large_day_begun: bool,
    /// One bit for each of the next [`DAYS`] days, which is set if the day has an event. `words`
    /// has one bit per word of `marked`, which is set if the word is not 0.
    marked: [u64; DAYS / WORD],
    words: u64,
    /// Events of each of the years after the present year. The index of a year is its number modulo
    /// [`YEARS`]. `marked_years` has one bit per year, which is set if the year has events.
    years: Box<[Vec<Due>; YEARS as usize]>,
    marked_years: u64,
    later: BinaryHeap<Reverse<Due>>,
    /// Lower bound of the day of the events in `years` and `later`. The bound is the first day of
    /// the first year in `years` with events, or the day of the first event in `later`, whichever
    /// is earlier. `u64::MAX`: `years` and `later` have no events.
    later_day: u64,
    day_bits: u32,
    count: u64,
}

/// An event and its item. If the item is a packet, the entry fills a cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Entry<T> {
    due: Due,
    /// Index of the next free entry, if this entry is free.
    next_free: u32,
    item: T,
}

/// Time of an event, its order among events at the same time, and the index of its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: Time,
    order: u64,
    place: u32,
}

/// Value of [`Calendar::next`] that means "no event".
const NOTHING: Due = Due {
    at: Time::NEVER,
    order: 0,
    place: NONE,
};

impl Due {
    fn rank(self) -> usize {
        (self.order >> COUNT_BITS) as usize
    }
}

impl<T: Copy> Calendar<T> {
    /// Returns an empty calendar. The calendar is fast if most events are inserted at most
    /// `typical_delay` before their time.
    pub fn new(typical_delay: Span) -> Calendar<T> {
        let day_ns = (8 * typical_delay.0 / DAYS as u64)
            .max(SHORTEST_DAY)
            .next_power_of_two();
        Calendar {
            entries: Vec::new(),
            free: NONE,
            next: NOTHING,
            begun: Vec::new(),
            today: 0,
            days: Box::new([NONE; DAYS]),
            rest: vec![Vec::new(); DAYS],
            large_day_begun: false,
            marked: [0; DAYS / WORD],
            words: 0,
            years: Box::new([const { Vec::new() }; YEARS as usize]),
            marked_years: 0,
            later: BinaryHeap::new(),
            later_day: u64::MAX,
            day_bits: day_ns.trailing_zeros(),
            count: 0,
        }
    }

    /// Inserts an event at time `at`. `rank` is below 2^24.
    #[inline(always)]
    pub fn push(&mut self, at: Time, rank: usize, item: T) {
        let order = (rank as u64) << COUNT_BITS | self.count;
        self.count += 1;
        let due = self.store(at, order, item);
        let day = at.0 >> self.day_bits;
        if day.wrapping_sub(self.today) < DAYS as u64 {
            self.show(day, due);
        } else if day < self.today {
            self.push_begun(due);
        } else {
            self.push_later(due, day);
        }
    }

    /// Stores an event in a free entry, or in a new entry if no entry is free.
    #[inline(always)]
    fn store(&mut self, at: Time, order: u64, item: T) -> Due {
        let mut place = self.free;
        let free = self.entries.get_mut(place as usize);
        if let Some(entry) = free {
            self.free = entry.next_free;
            entry.due = Due { at, order, place };
            entry.item = item;
        } else {
            place = self.entries.len() as u32;
            self.entries.push(Entry {
                due: Due { at, order, place },
                next_free: NONE,
                item,
            });
        }
        Due { at, order, place }
    }

    /// Inserts an event on one of the next [`DAYS`] days, into the list of its day.
    #[inline(always)]
    fn show(&mut self, day: u64, due: Due) {
        let index = day as usize % DAYS;
        if self.days[index] == NONE {
            self.days[index] = due.place;
            self.marked[index / WORD] |= 1 << (index % WORD);
            self.words |= 1 << (index / WORD);
        } else {
            self.days[index] |= MORE;
            self.rest[index].push(due);
        }
    }

    /// Inserts an event on a day that has begun.
    #[inline(never)]
    fn push_begun(&mut self, mut due: Due) {
        if due < self.next {
            std::mem::swap(&mut due, &mut self.next);
        }
        if due.place == NONE {
            return;
        }
        let earlier = self.begun.iter().rev();
        let behind = earlier.take_while(|&&other| other < due).count();
        self.begun.insert(self.begun.len() - behind, due);
    }

    /// Inserts an event after the next [`DAYS`] days, into the list of its year or into the heap.
    #[inline(never)]
    fn push_later(&mut self, due: Due, day: u64) {
        let year = day / DAYS as u64;
        if year - self.this_year() < YEARS {
            let index = year % YEARS;
            self.years[index as usize].push(due);
            self.marked_years |= 1 << index;
            self.later_day = self.later_day.min(year * DAYS as u64);
        } else {
            self.later_day = self.later_day.min(day);
            self.later.push(Reverse(due));
        }
    }

    /// Returns the number of the year of the first day that has not begun.
    fn this_year(&self) -> u64 {
        self.today / DAYS as u64
    }

    /// Returns the first day of the next year in `years` that has events; `u64::MAX` if no year in
    /// `years` has events.
    fn next_year(&self) -> u64 {
        if self.marked_years == 0 {
            return u64::MAX;
        }
        let this = self.this_year();
        let ahead = self.marked_years.rotate_right((this % YEARS) as u32);
        (this + u64::from(ahead.trailing_zeros())) * DAYS as u64
    }

    /// Returns the day of the first event in the heap; `u64::MAX` if the heap is empty.
    fn next_in_heap(&self) -> u64 {
        let next = self.later.peek();
        next.map_or(u64::MAX, |due| due.0.at.0 >> self.day_bits)
    }

    /// Returns the time and the rank of the next event; `Time::NEVER` if no event is pending.
    #[inline(always)]
    pub fn first(&mut self) -> (Time, usize) {
        if self.next.place == NONE {
            self.begin();
        }
        (self.next.at, self.next.rank())
    }

    /// Removes the next event, which the last call of [`first`](Calendar::first) has returned, and
    /// returns its item.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<&T> {
        let place = self.next.place;
        let entry = self.entries.get_mut(place as usize)?;
        entry.next_free = std::mem::replace(&mut self.free, place);
        self.next = self.begun.pop().unwrap_or(NOTHING);
        Some(&entry.item)
    }

    /// Begins the next day that has an event: the events of this day are moved to `next` and `begun`.
    #[inline(always)]
    fn begin(&mut self) {
        let day = self.next_in_sight();
        if day >= self.later_day {
            if self.later_day < u64::MAX {
                self.begin_later(day);
            }
            return;
        }
        self.today = day + 1;
        if self.take_day(day) {
            self.begin_rest(day);
        }
    }

    /// Begins `day`, one of the next [`DAYS`] days, by moving one of its events to `next`. Returns
    /// whether the day has more events.
    #[inline]
    fn take_day(&mut self, day: u64) -> bool {
        let index = day as usize % DAYS;
        let word = index / WORD;
        self.marked[word] &= !(1 << (index % WORD));
        if self.marked[word] == 0 {
            self.words &= !(1 << word);
        }
        let first = std::mem::replace(&mut self.days[index], NONE);
        self.next = self.entries[(first & !MORE) as usize].due;
        first & MORE != 0
    }

    /// Moves the further events of `day` to `begun`, sorts them with the event in `next`, and moves
    /// the earliest event to `next`.
    #[inline(never)]
    fn begin_rest(&mut self, day: u64) {
        let rest = &mut self.rest[day as usize % DAYS];
        if let &mut [mut other] = &mut rest[..]
            && self.next.place != NONE
        {
            // most of these days have two events
            rest.clear();
            if other < self.next {
                std::mem::swap(&mut other, &mut self.next);
            }
            self.begun.push(other);
            return;
        }
        std::mem::swap(rest, &mut self.begun);
        // most events are inserted in order of time, so that the reversed list is sorted already
        self.begun.reverse();
        if self.next.place != NONE {
            self.begun.push(self.next);
        }
        self.begun.sort_unstable_by(|a, b| b.cmp(a));
        self.large_day_begun = self.begun.len() >= MANY;
        self.next = self.begun.pop().unwrap_or(NOTHING);
    }

    /// Handles the earliest event in `years` or in the heap. If the event is in the list of a year,
    /// moves the events of this year to the lists of their days, and begins the next day that has
    /// an event. If the event is in the heap, begins its day. `in_sight` is the first of the next
    /// [`DAYS`] days that has events. The event in the heap may be on this day.
    #[cold]
    fn begin_later(&mut self, in_sight: u64) {
        let (year, day) = (self.next_year(), self.next_in_heap());
        if year <= day {
            self.begin_year(year);
            return self.begin();
        }
        self.today = day + 1;
        while let Some(due) = self.later.peek()
            && due.0.at.0 >> self.day_bits == day
        {
            self.rest[day as usize % DAYS].push(due.0);
            self.later.pop();
        }
        self.later_day = self.next_in_heap().min(year);
        if day == in_sight {
            self.take_day(day);
        }
        self.begin_rest(day);
    }

    /// Moves all events of the year that begins with `day` to the lists of their days. No pending
    /// event is before `day`.
    fn begin_year(&mut self, day: u64) {
        self.today = self.today.max(day);
        let index = day / DAYS as u64 % YEARS;
        self.marked_years &= !(1 << index);
        for due in std::mem::take(&mut self.years[index as usize]) {
            let day = due.at.0 >> self.day_bits;
            self.show(day, due);
        }
        self.later_day = self.next_year().min(self.next_in_heap());
    }

    /// Returns whether a day with at least [`MANY`] events has begun since the last call.
    #[inline(always)]
    pub fn take_large_day_begun(&mut self) -> bool {
        self.large_day_begun && std::mem::take(&mut self.large_day_begun)
    }

    /// Returns the items of the pending events in the days that have begun, latest event first.
    pub fn begun(&self) -> impl Iterator<Item = &T> {
        self.begun_dues()
            .map(|due| &self.entries[due.place as usize].item)
    }

    /// Returns the pending events of the days that have begun, latest event first.
    fn begun_dues(&self) -> impl Iterator<Item = &Due> {
        let next = (self.next.place != NONE).then_some(&self.next);
        self.begun.iter().chain(next)
    }

    /// Returns the first of the next [`DAYS`] days that has an event; `u64::MAX` if none of these
    /// days has an event.
    #[inline]
    fn next_in_sight(&self) -> u64 {
        if self.words == 0 {
            return u64::MAX;
        }
        let today = self.today as usize % DAYS;
        let word = today / WORD;
        let rest = self.marked[word] & u64::MAX << (today % WORD);
        let index = if rest != 0 {
            word * WORD + rest.trailing_zeros() as usize
        } else {
            // `marked` is used as a ring: after the present word, the search continues with the
            // following words, and then from the first word on
            let behind = self.words & u64::MAX.checked_shl(word as u32 + 1).unwrap_or(0);
            let words = if behind != 0 { behind } else { self.words };
            let next = words.trailing_zeros() as usize;
            next * WORD + self.marked[next].trailing_zeros() as usize
        };
        let ahead = index.wrapping_sub(today) % DAYS;
        self.today + ahead as u64
    }

    /// Returns the items of all pending events, in no particular order.
    pub fn items(&self) -> impl Iterator<Item = &T> {
        let begun = self.begun_dues().map(|due| due.place);
        let later = self.later.iter().map(|due| due.0.place);
        let days = self.days.iter().filter(|&&place| place != NONE);
        let days = days.map(|place| place & !MORE);
        let rest = self.rest.iter().flatten().map(|due| due.place);
        let years = self.years.iter().flatten().map(|due| due.place);
        let places = begun.chain(days).chain(rest).chain(years).chain(later);
        places.map(|place| &self.entries[place as usize].item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_times_leave_by_rank_and_then_as_they_came() {
        let mut calendar = Calendar::new(Span(1_000));
        for (rank, item) in [(2, 'a'), (1, 'b'), (2, 'c'), (1, 'd')] {
            calendar.push(Time(7), rank, item);
        }
        let order: Vec<char> = std::iter::from_fn(|| {
            calendar.first();
            calendar.pop().copied()
        })
        .collect();
        assert_eq!(order, ['b', 'd', 'a', 'c']);
        assert_eq!(calendar.first(), (Time::NEVER, 0));
    }

    proptest! {
        /// Compares the calendar with a plain list of events. Events are inserted at any time after
        /// the present, also before the earliest pending event.
        #[test]
        fn events_leave_as_from_a_plain_list(
            typical_delay in prop_oneof![Just(0_u64), Just(5_000), Just(1 << 40)],
            moves in prop::collection::vec((0_usize..4, 0_u64..100_000, 0_u32..28, 0_usize..3), 1..400),
        ) {
            let mut calendar = Calendar::new(Span(typical_delay));
            let mut plain: Vec<(Time, usize, usize)> = Vec::new();
            let mut now = Time::ZERO;
            for (number, (kind, ahead, scale, rank)) in moves.into_iter().enumerate() {
                if kind > 0 {
                    let at = now + Span((ahead << scale) >> 12); // a time in the present day, in sight, in a list of a year, or in the heap
                    calendar.push(at, rank, number);
                    plain.push((at, rank, number));
                } else {
                    let first = plain.iter().copied().min();
                    let due = first.map_or((Time::NEVER, 0), |(at, rank, _)| (at, rank));
                    prop_assert_eq!(calendar.first(), due);
                    prop_assert_eq!(calendar.pop().copied(), first.map(|(_, _, item)| item));
                    plain.retain(|one| Some(*one) != first);
                    now = first.map_or(now, |(at, ..)| at);
                }
                let mut items: Vec<usize> = calendar.items().copied().collect();
                items.sort_unstable();
                let pending: Vec<usize> = plain.iter().map(|&(_, _, item)| item).collect();
                prop_assert_eq!(items, pending);
            }
        }
    }
}
