//! What becomes of an exchange that ends, and of what receivers hold back.

use super::sorting::{HandingUp, Sorting, off_air};
use super::{Aggregates, Link, Sending};
use crate::kernel::time::Time;
use crate::mac::block_ack::Fates;
use crate::mac::dcf::{AP, Dcf, Outcome};
use crate::queue::Lanes;

impl Aggregates {
    /// The exchange of `contender`, the only one, ends at `now`, its response at `done`; tells whether
    /// anything was received.
    pub(in crate::cell) fn receive(
        &mut self,
        now: Time,
        done: Time,
        contender: u32,
        queue: &mut Lanes,
        medium: &mut Dcf,
    ) -> bool {
        self.judged.clear();
        let sender = &mut self.senders[contender as usize];
        let Sending::Data(lane) = sender.sending else {
            return true;
        };
        let Link {
            way,
            window,
            counters,
            ..
        } = &mut sender.links[lane as usize];
        let count = window.on_air();
        counters.ppdus += 1;
        counters.mpdus += u64::from(count);
        counters.air_ns += sender.last.1.0;
        let judged = &mut self.judged;
        let mut sorting = Sorting {
            queue,
            received: &mut self.received,
            lost: &mut self.lost,
            off: off_air(sender.node),
            now,
            done,
            delivered: 0,
            discarded: 0,
            counters,
        };
        let received = match way.is_clean() && window.receive_all(&mut sorting) {
            true => {
                judged.resize(count as usize, true);
                count
            }
            false => {
                let is_lost = |bytes, has_data| {
                    let lost = medium.is_lost(contender, way.error(bytes, has_data));
                    judged.push(!lost);
                    lost
                };
                window.receive(now, is_lost, &mut sorting)
            }
        };
        let (delivered, packets) = (sorting.delivered, window.settled_in_order());
        queue.settled(lane, packets);
        sender.delivered += delivered;
        if sender.node == AP {
            let down = &mut self.down[lane as usize];
            down.attempts += judged.len() as u64;
            down.failed += judged.len() as u64 - u64::from(received);
            down.delivered += delivered;
        }
        self.watch(now, contender, lane);
        received > 0
    }

    /// After the exchange that ended at `now`: what becomes of what `contender` sent in it, and what has
    /// been given up inside the node (`discarded`).
    pub(in crate::cell) fn settle(
        &mut self,
        now: Time,
        contender: u32,
        outcome: Outcome,
        (sent, discarded, behind_rts): (bool, bool, bool),
        queue: &mut Lanes,
    ) {
        let sender = &mut self.senders[contender as usize];
        let sending = match sent {
            true => std::mem::replace(&mut sender.sending, Sending::Nothing),
            false => match queue.next() {
                Some(lane) => Sending::Data(lane), // what it would have sent
                None => Sending::Nothing,
            },
        };
        let delivered = matches!(outcome, Outcome::Delivered { .. });
        if outcome == Outcome::Collided {
            self.judged.clear();
        }
        let (Sending::Data(lane) | Sending::Bar(lane)) = sending else {
            return;
        };
        let Link {
            window,
            terms,
            counters,
            ..
        } = &mut sender.links[lane as usize];
        if let (Sending::Data(_), Outcome::Collided, true, false) =
            (sending, outcome, sent, behind_rts)
        {
            counters.ppdus += 1;
            counters.mpdus += u64::from(window.on_air());
            counters.air_ns += sender.last.1.0;
        }
        let mut sorting = Sorting {
            queue,
            received: &mut self.received,
            lost: &mut self.lost,
            off: off_air(sender.node),
            now,
            done: now,
            delivered: 0,
            discarded: 0,
            counters,
        };
        if let Sending::Bar(_) = sending {
            sender.bar = match sender.bar {
                _ if delivered => {
                    window.told(&mut sorting);
                    None
                }
                Some((_, attempts)) if terms.attempts.is_some_and(|most| attempts + 1 >= most) => {
                    None
                }
                Some((_, attempts)) => Some((lane, attempts + 1)),
                None => None,
            };
        } else {
            let collided = outcome == Outcome::Collided && sent;
            let count = window.on_air();
            let several = count > 1 || self.judged.len() > 1;
            if collided {
                window.fail();
            }
            if sender.node == AP && collided {
                let down = &mut self.down[lane as usize];
                down.attempts += u64::from(count);
                down.failed += u64::from(count);
            }
            let agreed = window.terms().agreed;
            if !sent
                && discarded
                && !window.waits()
                && let Some(packet) = sorting.queue.take(lane)
            {
                sorting.settled(&packet, false);
                window.pass_by();
            }
            let ignorant = window.give_up(discarded && !agreed, &mut sorting);
            let unanswered = several && sent && !delivered && !(collided && behind_rts);
            if ignorant || terms.bar_after_failure && agreed && unanswered {
                sender.bar = Some((lane, 0));
            }
        }
        let lost = sorting.discarded;
        sender.discarded += lost;
        if sender.node == AP {
            self.down[lane as usize].discarded += lost;
        }
        let packets = window.settled_in_order();
        queue.settled(lane, packets);
        self.watch(now, contender, lane);
    }

    /// Keeps in mind whether the receiver of a lane holds something back.
    #[inline]
    fn watch(&mut self, now: Time, contender: u32, lane: u32) {
        let window = &self.senders[contender as usize].links[lane as usize].window;
        if window.deadline() < Time::NEVER || !self.reordering.is_empty() {
            self.keep_watch(now, contender, lane);
        }
    }

    #[inline(never)]
    fn keep_watch(&mut self, now: Time, contender: u32, lane: u32) {
        let of = |(contender, lane): (u32, u32)| {
            self.senders[contender as usize].links[lane as usize]
                .window
                .deadline()
        };
        let mut reordering = std::mem::take(&mut self.reordering);
        if !reordering.contains(&(contender, lane)) {
            reordering.push((contender, lane));
        }
        reordering.retain(|&one| of(one) < Time::NEVER);
        let first = reordering.iter().map(|&one| of(one)).min();
        // one that has waited long enough behind another is due at once
        self.deadline = first.map_or(Time::NEVER, |first| first.max(now));
        self.reordering = reordering;
    }

    /// Receivers that have waited long enough at `now` hand up what they hold.
    pub(in crate::cell) fn time_out(&mut self, now: Time) {
        self.reordering.sort_unstable();
        for &(contender, lane) in &self.reordering {
            let sender = &mut self.senders[contender as usize];
            let Link {
                window, counters, ..
            } = &mut sender.links[lane as usize];
            let mut up = HandingUp {
                received: &mut self.received,
                off: off_air(sender.node),
                now,
                counters,
            };
            while window.deadline() <= now {
                window.time_out(&mut up);
            }
        }
        if let Some(&(contender, lane)) = self.reordering.first() {
            self.keep_watch(now, contender, lane);
        }
    }
}
