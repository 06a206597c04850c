//! Airtime fairness among stations, and limits on the packets in the device (`net/mac80211/tx.c`,
//! from `ieee80211_next_txq` to `ieee80211_txq_schedule_start`; `sta_info.c`, `airtime.c`).
//!
//! Each access category has a list of stations with packets. The balance of a station is its air
//! time deficit minus the air time of its packets in the device. If the first station of the list
//! has a negative balance, `airtime_weight` is added to its deficit, and the station moves to the
//! end of the list. Therefore a station that has used little air time stays at the front.

use std::collections::VecDeque;

use super::Mac80211Setting;
use crate::kernel::time::{Span, Time};

/// A station and an access category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Party {
    pub(super) category: u32,
    pub(super) station: u32,
}

/// The parameters of the estimated air time of packets in the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Data rate. [bit/s]
    pub rate_bps: u64,
    /// Time that each packet adds: a share of the air time of the preamble and the gaps.
    pub each: Span,
}

/// Length of the headers that the estimate adds to each packet. [bytes]
const HEADERS: u64 = 38;

impl Estimate {
    /// Returns the estimated air time of `packets` packets with a total length of `bytes`. [ns]
    fn of(&self, packets: u32, bytes: u64) -> u64 {
        if packets == 0 || self.rate_bps == 0 {
            return 0;
        }
        let packets = u64::from(packets);
        let bits = 8 * (bytes + HEADERS * packets);
        let on_air = u128::from(bits) * 1_000_000_000 / u128::from(self.rate_bps);
        on_air as u64 + packets * self.each.0
    }
}

/// Time for which a station is still charged for air time after it last entered the list.
const ACTIVE: Span = Span(100_000_000);

/// The airtime account of a station in an access category.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// Air time that the station may still use. A negative value is a debt. [ns]
    deficit: i64,
    /// Air time of the station's packets in the device. [ns]
    pending: u64,
    /// Number and total length of the station's packets in the device.
    packets: u32,
    bytes: u64,
    of: Estimate,
    listed: bool,
    /// Number of the round in which the station was last served.
    round: u32,
    /// Time at which the station last entered the list with packets; `None` if it has not done so
    /// yet.
    active: Option<Time>,
}

impl Account {
    /// Returns the deficit of the station minus the air time of its packets in the device. [ns]
    fn balance(&self) -> i64 {
        self.deficit - self.pending as i64
    }

    fn is_active(&self, now: Time) -> bool {
        self.active.is_some_and(|since| now <= since + ACTIVE)
    }
}

/// The airtime accounts of all stations in all access categories.
#[derive(Clone, Debug)]
pub(super) struct Airtime {
    accounts: Vec<Account>,
    /// List of the stations with packets, for each access category.
    lists: Vec<VecDeque<u32>>,
    rounds: Vec<u32>,
    /// Whether a round is in progress, for each access category.
    open: Vec<bool>,
    /// Air time of the packets in the device, for each access category. The next field is the sum
    /// of these air times. [ns]
    pending: Vec<u64>,
    total: u64,
    stations: u32,
    fair: bool,
    weight: Span,
    aql: bool,
    low: Span,
    high: Span,
    radio: Span,
}

impl Airtime {
    pub(super) fn new(setting: &Mac80211Setting, stations: u32, categories: u32) -> Airtime {
        let categories = categories as usize;
        let new = Account {
            deficit: setting.airtime_weight.0 as i64,
            ..Account::default()
        };
        Airtime {
            accounts: vec![new; stations as usize * categories],
            lists: vec![VecDeque::new(); categories],
            rounds: vec![0; categories],
            open: vec![false; categories],
            pending: vec![0; categories],
            total: 0,
            stations,
            fair: setting.airtime_fairness,
            weight: setting.airtime_weight,
            aql: setting.aql,
            low: setting.aql_low,
            high: setting.aql_high,
            radio: setting.aql_radio,
        }
    }

    fn place(&self, party: Party) -> usize {
        (party.category * self.stations + party.station) as usize
    }

    /// Adds a station to the list if packets wait for the station. The station is also added if it
    /// had packets recently and its balance (deficit minus air time of packets in the device) is
    /// negative. With airtime fairness, a station with packets is added at the front.
    pub(super) fn list(&mut self, now: Time, party: Party, waits: bool) {
        let place = self.place(party);
        let account = &mut self.accounts[place];
        let stays = account.balance() < 0 && account.is_active(now);
        if account.listed || !waits && !stays {
            return;
        }
        account.listed = true;
        let list = &mut self.lists[party.category as usize];
        match self.fair && waits {
            true => list.push_front(party.station),
            false => list.push_back(party.station),
        }
        if waits {
            account.active = Some(now);
        }
    }

    /// Begins a round, unless the device holds enough packets of the access category. Returns
    /// whether the round has begun.
    pub(super) fn begin_round(&mut self, category: u32) -> bool {
        let own = category as usize;
        let others = self.lists[own].len().saturating_sub(1) as u64;
        let limit = others * self.low.0 / 2 + self.high.0;
        self.open[own] = !self.aql || self.pending[own] < limit;
        self.rounds[own] = self.rounds[own].wrapping_add(1);
        self.open[own]
    }

    /// Removes the next station from the list and returns this station; `None` if the round is
    /// over.
    pub(super) fn next(&mut self, category: u32) -> Option<u32> {
        let own = category as usize;
        if !self.open[own] {
            return None;
        }
        let (mut head, mut is_any_eligible) = (None, false);
        loop {
            let station = *self.lists[own].front()?;
            let party = Party { category, station };
            if head == Some(station) && !std::mem::take(&mut is_any_eligible) {
                return None;
            }
            head = head.or(Some(station));
            let mut eligible = self.may_take(party);
            is_any_eligible |= eligible;
            let place = self.place(party);
            let account = &mut self.accounts[place];
            if account.balance() < 0 {
                account.deficit += self.weight.0 as i64;
                eligible = false;
            }
            if !eligible {
                self.lists[own].rotate_left(1);
                continue;
            }
            if account.round == self.rounds[own] {
                return None;
            }
            account.round = self.rounds[own];
            account.listed = false;
            self.lists[own].pop_front();
            return Some(station);
        }
    }

    /// Returns whether the limits of air time allow the device to accept more packets for a
    /// station.
    pub(super) fn may_take(&self, party: Party) -> bool {
        let pending = self.accounts[self.place(party)].pending;
        !self.aql || pending < self.low.0 || self.total < self.radio.0 && pending < self.high.0
    }

    /// Records that the device has accepted a packet of this length for a station.
    pub(super) fn took(&mut self, party: Party, bytes: u32) {
        let account = self.accounts[self.place(party)];
        let bytes = account.bytes + u64::from(bytes);
        self.holds(party, account.packets + 1, bytes);
    }

    /// Sets the number and total length of a station's packets in the device.
    pub(super) fn holds(&mut self, party: Party, packets: u32, bytes: u64) {
        let place = self.place(party);
        let account = &mut self.accounts[place];
        (account.packets, account.bytes) = (packets, bytes);
        let pending = match self.aql {
            true => account.of.of(packets, bytes),
            false => 0,
        };
        let before = std::mem::replace(&mut account.pending, pending);
        let own = &mut self.pending[party.category as usize];
        *own = *own + pending - before;
        self.total = self.total + pending - before;
    }

    /// Sets the parameters with which the air time of a station's packets is estimated.
    pub(super) fn estimate(&mut self, party: Party, of: Estimate) {
        let place = self.place(party);
        self.accounts[place].of = of;
        let Account { packets, bytes, .. } = self.accounts[place];
        self.holds(party, packets, bytes);
    }

    /// Charges a station for air time, if the station had packets recently.
    pub(super) fn charge(&mut self, now: Time, party: Party, air: Span) {
        let place = self.place(party);
        let account = &mut self.accounts[place];
        if self.fair && account.is_active(now) {
            account.deficit -= air.0 as i64;
        }
    }
}

#[cfg(test)]
mod tests;
