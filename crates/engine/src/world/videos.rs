//! Calls whose video adapts, during a simulation. The packets of the video are the datagrams of the
//! flow. Feedback packets travel in the opposite direction, like replies to pings.

use super::application::Application;
use super::flow::{Endpoints, FlowState};
use super::network::Network;
use super::step::Wants;
use crate::app::adaptive_call::AdaptiveVideo;
use crate::app::writes::Write;
use crate::kernel::time::Time;
use crate::packet::{Packet, PacketKind};

impl FlowState {
    /// Returns the adaptive video of the flow.
    fn video(&mut self) -> Option<&mut AdaptiveVideo> {
        match self.application.as_deref_mut() {
            Some(Application::Video(video)) => Some(video),
            _ => None,
        }
    }

    /// Returns the time of the next action of the flow's adaptive video; `None` for other flows.
    pub(super) fn video_deadline(&mut self) -> Option<Time> {
        self.video().map(|video| video.deadline())
    }

    /// Returns the packet that an application on UDP sends.
    pub(super) fn write_datagram(&mut self, now: Time, index: u32, write: Write) -> Wants {
        if let Write::Feedback { number, bytes } = write {
            self.counters.acks_sent += 1;
            return Wants::Packet(Packet {
                number,
                ..Packet::new(now, index, PacketKind::EchoReply, bytes)
            });
        }
        let Endpoints::Udp(udp) = &mut self.endpoints else {
            return Wants::Nothing;
        };
        match write {
            Write::Nothing => Wants::Nothing,
            Write::Datagram(bytes) => {
                let number = udp.0.count();
                let packet = self.datagram(now, index, number);
                Wants::Packet(Packet { bytes, ..packet })
            }
            _ => {
                let number = udp.0.send();
                Wants::Packet(self.datagram(now, index, number))
            }
        }
    }

    /// Processes a packet of an adaptive video. Returns false if the flow has no adaptive video.
    pub(super) fn take_video(&mut self, now: Time, packet: &Packet) -> bool {
        let full = self.data_bytes;
        let Some(video) = self.video() else {
            return false;
        };
        if packet.is_data() {
            // `delivered` counts full datagrams: padding, repetitions and short packets have less
            let header = u32::from(full) - crate::app::adaptive_call::PAYLOAD_BYTES;
            let new = video.arrive(now, packet.number);
            self.counters.short_bytes += u64::from(u32::from(full) - header - new);
            self.count_datagram(now, packet);
        } else {
            video.take_feedback(now, packet.number);
            self.counters.acks_arrived += 1;
        }
        true
    }
}

impl Network {
    /// Updates the time of the next action of flow `number`'s application, which was `before`.
    pub(super) fn reschedule(&mut self, number: u32, before: Time) {
        let Some(after) = self.flows.states[number as usize].video_deadline() else {
            return;
        };
        if before != after {
            self.flows.actions.remove(&(before, number));
            self.flows.actions.insert((after, number));
            self.arm_actions();
        }
    }
}

#[cfg(test)]
mod tests;
