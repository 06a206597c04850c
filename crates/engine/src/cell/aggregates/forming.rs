//! What a contender sends in the exchange that begins.

use super::filling::Filling;
use super::link::receiver;
use super::{Aggregates, Link, Sending};
use crate::kernel::time::Span;
use crate::mac::dcf::{Burst, Dcf, Prospect};
use crate::queue::Lanes;

impl Aggregates {
    /// The shortest exchange with which `contender` could go on, if it has something to send.
    pub(in crate::cell) fn prospect(
        &mut self,
        contender: u32,
        queue: &Lanes,
        medium: &Dcf,
    ) -> Option<Prospect> {
        let headers = self.cell.frame_bytes(0);
        let sender = &mut self.senders[contender as usize];
        if let Some((lane, _)) = sender.bar {
            let (data_air, response_air) = sender.links[lane as usize].way.bar();
            return Some(Prospect {
                data_air,
                response_air,
                gives_up: false,
            });
        }
        let lane = queue.next()?;
        let link = &mut sender.links[lane as usize];
        let (data_air, response_air) = match medium.has_limit(contender) {
            false => (Span::ZERO, Span::ZERO), // nobody asks
            true => {
                let first = link.window.first_waiting();
                let new = queue.first(lane);
                let bytes = first.or(new.map(|packet| u32::from(packet.bytes) + headers));
                link.way.alone(bytes.unwrap_or(0))
            }
        };
        Some(Prospect {
            data_air,
            response_air,
            gives_up: !link.window.terms().agreed,
        })
    }

    /// Forms what `contender` sends in the exchange that begins.
    pub(in crate::cell) fn form(
        &mut self,
        contender: u32,
        queue: &mut Lanes,
        medium: &Dcf,
    ) -> Burst {
        let (left, opens) = medium.opportunity(contender);
        let sender = &mut self.senders[contender as usize];
        let lane = match (sender.bar, queue.next()) {
            (Some((lane, _)), _) => {
                sender.sending = Sending::Bar(lane);
                sender.last = (lane, Span::ZERO);
                let to = receiver(sender.node, lane);
                return sender.links[lane as usize].way.bar_burst(to);
            }
            (None, lane) => lane.unwrap_or(0), // a contender that sends has something
        };
        let Link {
            way, window, terms, ..
        } = &mut sender.links[lane as usize];
        let mut filling = Filling {
            way,
            room: way.room(left, opens),
            mpdus: terms.mpdus,
            count: 0,
            subframes: 0,
            psdu: 0,
        };
        let mut goes_on = true;
        for bytes in window.waiting() {
            goes_on = filling.add(bytes);
            if !goes_on {
                break;
            }
        }
        let headers = self.cell.frame_bytes(0);
        if goes_on && terms.amsdu_bytes.is_none() {
            let mut room = window.room().min(filling.mpdus - filling.count);
            queue.take_while(lane, |packet| {
                let bytes = u32::from(packet.bytes) + headers;
                let takes = room > 0 && filling.put(bytes);
                if takes {
                    room -= 1;
                    window.begin(*packet, bytes);
                }
                takes
            });
            goes_on = false;
        }
        while goes_on
            && window.room() > 0
            && let Some(first) = queue.first(lane)
        {
            let bytes = u32::from(first.bytes) + headers;
            if !filling.add(bytes) {
                break;
            }
            if let Some(packet) = queue.take(lane) {
                window.begin(packet, bytes);
            }
            if let Some(most) = terms.amsdu_bytes {
                let headers = (self.cell.mac_header_bytes, self.cell.llc_bytes);
                filling.widen(bytes, headers, most, lane, queue, window);
            }
        }
        let (count, psdu) = (filling.count, filling.psdu);
        let several = count > 1;
        window.go(count);
        let burst = way.burst(receiver(sender.node, lane), psdu, several, opens);
        sender.sending = Sending::Data(lane);
        sender.last = (lane, burst.data_air);
        burst
    }
}
