//! Choice of the contents of the exchange that begins.

use super::filling::Filling;
use super::{Link, Senders, Sending};
use crate::kernel::time::{Span, Time};
use crate::mac::dcf::{Dcf, MinimumExchange, PlannedExchange};
use crate::queue::TxQueues;

impl Senders {
    /// Returns the shortest exchange with which `contender` can begin from `now` on; `None` if the
    /// contender has nothing to send. The rate control chooses the TXVECTOR of the exchange.
    pub(in crate::cell) fn minimum_exchange(
        &mut self,
        now: Time,
        contender: u32,
        queue: &TxQueues,
        medium: &Dcf,
    ) -> Option<MinimumExchange> {
        let headers = self.cell.frame_bytes(0);
        let sender = &mut self.senders[contender as usize];
        if let Some((txq, _)) = sender.bar {
            let (data_air, response_air) = sender.links[txq as usize].rates.timing().bar();
            return Some(MinimumExchange {
                data_air,
                response_air,
                gives_up: false,
            });
        }
        let txq = queue.next()?;
        let link = &mut sender.links[txq as usize];
        if self.adapts {
            let retry = link.window.retry();
            link.rates.choose(now, retry, &mut self.stream);
        }
        let (data_air, response_air) = match medium.has_limit(contender) {
            false => (Span::ZERO, Span::ZERO), // without a time limit, the air times are not used
            true => {
                let first = link.window.first_waiting();
                let new = queue.first(txq);
                let bytes = first.or(new.map(|packet| u32::from(packet.bytes) + headers));
                link.rates.timing_mut().single(bytes.unwrap_or(0))
            }
        };
        Some(MinimumExchange {
            data_air,
            response_air,
            gives_up: !link.window.parameters().agreed,
        })
    }

    /// Chooses the packets and MPDUs of the exchange that `contender` begins.
    pub(in crate::cell) fn form(
        &mut self,
        contender: u32,
        queue: &mut TxQueues,
        medium: &Dcf,
    ) -> PlannedExchange {
        let (left, opens) = medium.opportunity(contender);
        let sender = &mut self.senders[contender as usize];
        let txq = match (sender.bar, queue.next()) {
            (Some((txq, _)), _) => {
                sender.sending = Sending::Bar(txq);
                sender.last = (txq, Span::ZERO);
                let Link { to, rates, .. } = &sender.links[txq as usize];
                return rates.timing().bar_exchange(*to);
            }
            // a contender that sends always has a transmit queue with packets, so that 0 is not
            // used
            (None, txq) => txq.unwrap_or(0),
        };
        let Link {
            to,
            rates,
            window,
            aggregation,
            ..
        } = &mut sender.links[txq as usize];
        let timing = rates.timing_mut();
        let mut filling = Filling {
            timing,
            room: timing.room(left, opens),
            mpdus: aggregation.mpdus,
            count: 0,
            subframes: 0,
            psdu: 0,
        };
        let mut has_room = true;
        for bytes in window.waiting() {
            has_room = filling.add(bytes);
            if !has_room {
                break;
            }
        }
        let headers = self.cell.frame_bytes(0);
        if has_room && aggregation.amsdu_bytes.is_none() {
            let room = window.room().min(filling.mpdus - filling.count);
            let count = filling.put_all(queue.slices_of_txq(txq), room, headers);
            queue.take_many(txq, count, |packets| window.begin_all(packets, headers));
            has_room = false;
        }
        while has_room
            && window.room() > 0
            && let Some(first) = queue.first(txq)
        {
            let bytes = u32::from(first.bytes) + headers;
            if !filling.add(bytes) {
                break;
            }
            if let Some(packet) = queue.take(txq) {
                window.begin(packet, bytes);
            }
            if let Some(max) = aggregation.amsdu_bytes {
                let headers = (self.cell.mac_header_bytes, self.cell.llc_bytes);
                filling.widen(bytes, headers, max, txq, queue, window);
            }
        }
        let (count, psdu) = (filling.count, filling.psdu);
        let several = count > 1;
        window.go(count);
        let planned = timing.exchange(*to, psdu, several, opens);
        sender.sending = Sending::Data(txq);
        sender.last = (txq, planned.data_air);
        planned
    }
}
