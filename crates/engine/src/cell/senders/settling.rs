//! End of an exchange, and timeouts of packets that receivers store until earlier packets arrive.

use super::sorting::{HandingUp, Sorting};
use super::{Link, Senders, Sending};
use crate::cell::OffAir;
use crate::kernel::time::Time;
use crate::mac::block_ack::BlockAckEvents;
use crate::mac::dcf::{Dcf, Outcome};
use crate::queue::TxQueues;

impl Senders {
    /// Ends the exchange of `contender`, which is the only transmitter, at `now`. The response ends
    /// at `done`. Returns whether the receiver has received any data.
    pub(in crate::cell) fn receive(
        &mut self,
        now: Time,
        done: Time,
        contender: u32,
        queue: &mut TxQueues,
        medium: &mut Dcf,
    ) -> bool {
        self.judged.clear();
        let sender = &mut self.senders[contender as usize];
        let Sending::Data(txq) = sender.sending else {
            return true;
        };
        let Link {
            rates,
            window,
            counters,
            ..
        } = &mut sender.links[txq as usize];
        let count = window.on_air();
        counters.ppdus += 1;
        counters.mpdus += u64::from(count);
        counters.air_ns += sender.last.1.0;
        let judged = &mut self.judged;
        let mut sorting = Sorting {
            queue,
            received: &mut self.received,
            lost: &mut self.lost,
            off: OffAir::of(sender.node == self.ap),
            now,
            done,
            delivered: 0,
            discarded: 0,
            counters,
        };
        let received = match rates.is_clean() && window.receive_all(&mut sorting) {
            true => {
                judged.resize(count as usize, true);
                count
            }
            false => {
                let is_lost = |bytes, has_data| {
                    let lost = medium.is_lost(contender, rates.error(bytes, has_data));
                    judged.push(!lost);
                    lost
                };
                window.receive(now, is_lost, &mut sorting)
            }
        };
        if self.adapts {
            rates.on_tx_status(now, rates.tx_vector(), received, count - received);
        }
        let (delivered, packets) = (sorting.delivered, window.settled_in_order());
        queue.settled(txq, packets);
        sender.delivered += delivered;
        if sender.node == self.ap {
            let down = &mut self.down[txq as usize];
            down.attempts += judged.len() as u64;
            down.failed += judged.len() as u64 - u64::from(received);
            down.delivered += delivered;
        }
        self.track_reordering(now, contender, txq);
        received > 0
    }

    /// Settles the packets that `contender` sent in the exchange that ended at `now`: they are
    /// acknowledged, given up, or to be sent again. Also settles packets that the contender has
    /// `discarded` after an internal collision, without having `sent` them.
    pub(in crate::cell) fn settle(
        &mut self,
        now: Time,
        contender: u32,
        outcome: Outcome,
        (sent, discarded, after_rts): (bool, bool, bool),
        queue: &mut TxQueues,
    ) {
        let sender = &mut self.senders[contender as usize];
        let sending = match sent {
            true => std::mem::replace(&mut sender.sending, Sending::Nothing),
            false => match queue.next() {
                // without the internal collision, the contender would have sent packets of this
                // transmit queue
                Some(txq) => Sending::Data(txq),
                None => Sending::Nothing,
            },
        };
        let delivered = matches!(outcome, Outcome::Delivered { .. });
        if outcome == Outcome::Collided {
            self.judged.clear();
        }
        let (Sending::Data(txq) | Sending::Bar(txq)) = sending else {
            return;
        };
        let Link {
            rates,
            window,
            aggregation,
            counters,
            ..
        } = &mut sender.links[txq as usize];
        if let (Sending::Data(_), Outcome::Collided, true, false) =
            (sending, outcome, sent, after_rts)
        {
            counters.ppdus += 1;
            counters.mpdus += u64::from(window.on_air());
            counters.air_ns += sender.last.1.0;
            if self.adapts {
                rates.on_tx_status(now, rates.tx_vector(), 0, window.on_air());
            }
        }
        let mut sorting = Sorting {
            queue,
            received: &mut self.received,
            lost: &mut self.lost,
            off: OffAir::of(sender.node == self.ap),
            now,
            done: now,
            delivered: 0,
            discarded: 0,
            counters,
        };
        if let Sending::Bar(_) = sending {
            sender.bar = match sender.bar {
                _ if delivered => {
                    window.synchronise(&mut sorting);
                    None
                }
                Some((_, attempts))
                    if aggregation.attempts.is_some_and(|max| attempts + 1 >= max) =>
                {
                    None
                }
                Some((_, attempts)) => Some((txq, attempts + 1)),
                None => None,
            };
        } else {
            let collided = outcome == Outcome::Collided && sent;
            let count = window.on_air();
            let several = count > 1 || self.judged.len() > 1;
            if collided {
                window.fail();
            }
            if sender.node == self.ap && collided {
                let down = &mut self.down[txq as usize];
                down.attempts += u64::from(count);
                down.failed += u64::from(count);
            }
            let agreed = window.parameters().agreed;
            if !sent
                && discarded
                && !window.waits()
                && let Some(packet) = sorting.queue.take(txq)
            {
                sorting.settled(&packet, false);
                window.skip_packet();
            }
            let needs_bar = window.give_up(discarded && !agreed, &mut sorting);
            let unanswered = several && sent && !delivered && !(collided && after_rts);
            if needs_bar || aggregation.bar_after_failure && agreed && unanswered {
                sender.bar = Some((txq, 0));
            }
        }
        let lost = sorting.discarded;
        sender.discarded += lost;
        if sender.node == self.ap {
            self.down[txq as usize].discarded += lost;
        }
        let packets = window.settled_in_order();
        queue.settled(txq, packets);
        self.track_reordering(now, contender, txq);
    }

    /// Adds the link of the transmit queue `txq` to the list `reordering` if the receiver stores
    /// packets. If not, removes the link from the list.
    #[inline]
    fn track_reordering(&mut self, now: Time, contender: u32, txq: u32) {
        let window = &self.senders[contender as usize].links[txq as usize].window;
        if window.deadline() < Time::NEVER || !self.reordering.is_empty() {
            self.update_reordering(now, contender, txq);
        }
    }

    #[inline(never)]
    fn update_reordering(&mut self, now: Time, contender: u32, txq: u32) {
        let deadline = |(contender, txq): (u32, u32)| {
            self.senders[contender as usize].links[txq as usize]
                .window
                .deadline()
        };
        let mut reordering = std::mem::take(&mut self.reordering);
        if !reordering.contains(&(contender, txq)) {
            reordering.push((contender, txq));
        }
        reordering.retain(|&link| deadline(link) < Time::NEVER);
        let first = reordering.iter().map(|&link| deadline(link)).min();
        // if the deadline of a receiver has already passed, its timeout is due immediately, at
        // `now`
        self.deadline = first.map_or(Time::NEVER, |first| first.max(now));
        self.reordering = reordering;
    }

    /// Makes the receivers whose deadline has passed at `now` hand up the packets that they store.
    pub(in crate::cell) fn time_out(&mut self, now: Time) {
        self.reordering.sort_unstable();
        for &(contender, txq) in &self.reordering {
            let sender = &mut self.senders[contender as usize];
            let Link {
                window, counters, ..
            } = &mut sender.links[txq as usize];
            let mut up = HandingUp {
                received: &mut self.received,
                off: OffAir::of(sender.node == self.ap),
                now,
                counters,
            };
            while window.deadline() <= now {
                window.time_out(&mut up);
            }
        }
        if let Some(&(contender, txq)) = self.reordering.first() {
            self.update_reordering(now, contender, txq);
        }
    }
}
