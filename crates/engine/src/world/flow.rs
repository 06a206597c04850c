//! A flow during a run: its endpoints, the queues that its packets use, and its counters.

use super::application::Application;
use super::flow_counters::FlowCounters;
use super::web::Web;
use crate::app::ping::Pinger;
use crate::app::udp::UdpSource;
use crate::app::web::WebSource;
use crate::control::multi_connection::Falls;
use crate::histogram::Histogram;
use crate::kernel::streams::Streams;
use crate::kernel::time::{Span, Time};
use crate::packet::{Ecn, Packet, PacketKind};
use crate::scenario::{Flow, TcpSettings, Transport};
use crate::tcp::{Ack, Limit, Receiver, Sender};

/// The source and the sink of a flow.
pub(crate) enum Endpoints {
    /// TCP connection: sender and receiver.
    Tcp(Box<(Sender, Receiver)>),
    /// UDP source, and the one-way delays of its datagrams that have arrived since the end of the
    /// warm-up.
    Udp(Box<(UdpSource, Histogram)>),
    /// Pings with which the bottleneck measures the round-trip time to a station.
    Ping,
    /// Pings of a flow of the scenario.
    Pinger(Box<Pinger>),
    /// Web source with this number. Its connections use other flows.
    Web(u32),
    /// External hosts, whose packets are created outside the simulation ([`super::hosts`]).
    Hosts,
}

/// The state of one flow during a run. The fields that every packet needs are in two cache lines,
/// with the first counters.
#[repr(C, align(64))]
pub(crate) struct FlowState {
    pub(super) endpoints: Endpoints,
    /// Congestion window since the time `cwnd_since`.
    pub(super) cwnd: f64,
    pub(super) cwnd_since: Time,
    /// Largest congestion window since the end of the warm-up.
    pub(super) cwnd_max: f64,
    /// Deadline that the agenda contains for the sender's timer. The sender may have moved its
    /// timer to a later time without changing this value.
    pub(super) timer: Time,
    /// Number of the last segment of the request, response or first chunk; `u32::MAX` in a flow
    /// without messages.
    pub(super) last: u32,
    pub(super) data_bytes: u16,
    pub(super) ack_bytes: u16,
    /// Whether ACKs of the flow are deferred because an earlier event must be processed first
    /// ([`super::lookahead`]).
    pub(super) has_deferred: bool,
    /// Whether the receiver reports arrivals to `application`.
    pub(super) reporting: bool,
    /// Length of the last segment of a request, response or chunk.
    pub(super) last_bytes: u16,
    /// Whether `rtts` is `Some`.
    pub(super) timing: bool,
    /// Limit that stopped the sender: cwnd, receive window or application.
    pub(super) limit: Limit,
    pub(super) counters: FlowCounters,
    /// Number of segments that earlier connections or messages on this flow have delivered.
    pub(super) delivered_before: u64,
    /// Numbers of window reductions of earlier connections on this flow.
    pub(super) falls_before: Falls,
    /// Processing time between the arrival of a segment and the departure of its ACK.
    pub(super) ack_processing: Span,
    /// Application with its own times; `None` for bulk data, datagrams and web connections.
    pub(super) application: Option<Box<Application>>,
    /// Round-trip samples of a TCP flow since the end of the warm-up, if they are recorded.
    pub(super) rtts: Option<Box<Histogram>>,
    /// Start of the flow; [`Time::NEVER`] until the flow starts.
    pub(super) started_at: Time,
    /// Time at which all data of a TCP flow was acknowledged, or at which a UDP source stopped;
    /// [`Time::NEVER`] until then. For a connection with several messages, the end of the first
    /// message.
    pub(super) ended_at: Time,
    /// Time integral of cwnd from the start to the end of the flow. [packets ns]
    pub(super) cwnd_ns_at_end: f64,
}

/// State of a TCP receiver after the arrival of a segment.
pub(super) struct SegmentArrival {
    /// The ACK that the receiver sends now.
    pub(super) ack: Option<Ack>,
    /// Time at which the receiver sends its delayed ACK; [`Time::NEVER`] if no ACK is delayed.
    pub(super) deadline: Time,
    /// Whether all segments of the request or response have arrived.
    pub(super) is_complete: bool,
}

impl FlowState {
    pub(super) fn new(flow: &Flow, streams: &Streams, webs: &mut Vec<Web>) -> FlowState {
        let bare = match &flow.transport {
            // the connection of a stream is opened by its requests
            Transport::Tcp(tcp) if flow.stream.is_some() => {
                let tcp = TcpSettings {
                    handshake: false,
                    ..tcp.clone()
                };
                FlowState::connection(&tcp).seeded(streams, &flow.name)
            }
            Transport::Tcp(tcp) => FlowState::connection(tcp).seeded(streams, &flow.name),
            Transport::Udp(udp) => {
                let source = UdpSource::new(udp, streams.stream(&format!("{}/gaps", flow.name)));
                FlowState {
                    // no overflow: the check of the scenario limits the length
                    data_bytes: (udp.payload_bytes + udp.header_bytes) as u16,
                    endpoints: Endpoints::Udp(Box::new((source, Histogram::EMPTY))),
                    ..FlowState::bare()
                }
            }
            Transport::Web(web) => {
                let source = WebSource::new(web, &flow.name, streams);
                webs.push(Web::new(web, source));
                FlowState {
                    endpoints: Endpoints::Web(webs.len() as u32 - 1),
                    ..FlowState::bare()
                }
            }
            Transport::Ping(ping) => FlowState::pinger(ping, &flow.name, streams),
        };
        let application = Application::new(flow, streams);
        let mut state = FlowState {
            reporting: application.is_some(),
            ..bare
        };
        if let Some(Application::Writes(writes)) = application.as_deref() {
            state.write_as(writes.settings());
        }
        FlowState {
            application,
            ..state
        }
    }

    /// Returns a flow for the requests or the responses of web connections.
    pub(super) fn message(tcp: &TcpSettings) -> FlowState {
        FlowState {
            last: 0,
            ..FlowState::connection(tcp)
        }
    }

    /// Returns a flow for a TCP connection with unlimited data.
    pub(super) fn connection(tcp: &TcpSettings) -> FlowState {
        FlowState {
            // at most 65535: the check of the scenario limits the length
            data_bytes: (tcp.mss_bytes + tcp.header_bytes) as u16,
            ack_bytes: tcp.header_bytes as u16,
            ack_processing: tcp.ack_processing,
            endpoints: Endpoints::Tcp(Box::new((Sender::new(tcp), Receiver::new(tcp)))),
            ..FlowState::bare()
        }
    }

    /// Returns a flow without endpoints, which is not one of the scenario's flows.
    pub(super) fn bare() -> FlowState {
        FlowState {
            data_bytes: 0,
            ack_bytes: 0,
            last: u32::MAX,
            last_bytes: 0,
            delivered_before: 0,
            falls_before: Falls::default(),
            ack_processing: Span::ZERO,
            endpoints: Endpoints::Ping,
            reporting: false,
            application: None,
            timing: false,
            limit: Limit::None,
            rtts: None,
            counters: FlowCounters::default(),
            cwnd: 0.0,
            cwnd_max: 0.0,
            cwnd_since: Time::ZERO,
            started_at: Time::NEVER,
            ended_at: Time::NEVER,
            cwnd_ns_at_end: 0.0,
            timer: Time::NEVER,
            has_deferred: false,
        }
    }

    /// Returns the time from the start of a finite flow to the arrival of its last ACK; `None` if
    /// this ACK has not arrived.
    pub(crate) fn completion(&self) -> Option<Span> {
        let end = self.finished_at()?;
        Some(end.since(self.started_at))
    }

    /// Returns the time from the start of a finite flow to the arrival of its last ACK; `None` if
    /// this ACK has not arrived. [s]
    pub(crate) fn completion_s(&self) -> Option<f64> {
        self.completion().map(Span::seconds)
    }

    /// Returns whether the flow has started and has not ended at `now`.
    pub(crate) fn exists(&self, now: Time) -> bool {
        self.started_at <= now && now < self.ended_at
    }

    /// Returns the time between `from` and `to` for which the flow existed.
    pub(crate) fn life(&self, from: Time, to: Time) -> Span {
        to.min(self.ended_at).since(from.max(self.started_at))
    }

    /// Returns the time at which the last ACK of a finite flow arrived; `None` if this ACK has not
    /// arrived.
    pub(crate) fn finished_at(&self) -> Option<Time> {
        let completed = self.sender().is_some_and(Sender::completed);
        (completed && self.ended_at < Time::NEVER).then_some(self.ended_at)
    }

    /// Resets the endpoints for a new connection, after the previous connection on this flow has
    /// ended.
    pub(super) fn renew(&mut self, tcp: &TcpSettings) {
        self.falls_before = self.falls();
        self.delivered_before = self.counters.delivered;
        self.endpoints = Endpoints::Tcp(Box::new((Sender::new(tcp), Receiver::new(tcp))));
    }

    /// Returns whether all TCP data of the flow is acknowledged, and no packet of the flow is in
    /// flight.
    pub(super) fn is_done(&self) -> bool {
        let Endpoints::Tcp(tcp) = &self.endpoints else {
            return false;
        };
        let c = &self.counters;
        tcp.0.finished()
            && c.sent == c.arrived + c.lost
            && c.acks_sent == c.acks_arrived + c.acks_lost
    }

    /// Returns the numbers of window reductions of all connections on this flow.
    pub(super) fn falls(&self) -> Falls {
        let before = self.falls_before;
        self.sender().map_or(before, |sender| Falls {
            by_losses: before.by_losses + sender.timeouts() + sender.fast_retransmits(),
            by_marks: before.by_marks + sender.reductions_by_marks(),
        })
    }

    /// Returns the counters at `now`.
    pub(crate) fn counters(&self, now: Time) -> FlowCounters {
        let cwnd_ns = match self.ended_at {
            Time::NEVER => self.cwnd_ns(now),
            _ => self.cwnd_ns_at_end,
        };
        let mut limited_ns = self.counters.limited_ns;
        if let Some(current) = limited_ns.get_mut(self.limit as usize) {
            *current = current.wrapping_add(now.0);
        }
        FlowCounters {
            cwnd_ns,
            limited_ns,
            ..self.counters
        }
    }

    /// Records which limit (cwnd, receive window, application) stops the sender from `now` on, if
    /// the limit has changed.
    #[cold]
    #[inline(never)]
    pub(super) fn note_limit(&mut self, now: Time) {
        let Some(to) = self.sender().map(Sender::limit_met) else {
            return;
        };
        let from = std::mem::replace(&mut self.limit, to);
        let limited_ns = &mut self.counters.limited_ns;
        if let Some(ended) = limited_ns.get_mut(from as usize) {
            *ended = ended.wrapping_add(now.0);
        }
        if let Some(begun) = limited_ns.get_mut(to as usize) {
            *begun = begun.wrapping_sub(now.0);
        }
    }

    /// Returns the time integral of cwnd up to `now`. [packets ns]
    #[inline(always)]
    fn cwnd_ns(&self, now: Time) -> f64 {
        self.counters.cwnd_ns + self.cwnd * now.since(self.cwnd_since).nanoseconds()
    }

    /// Records the end of the flow, if the flow has ended. After the end, cwnd is not recorded.
    #[cold]
    #[inline(never)]
    pub(super) fn note_end(&mut self, now: Time) {
        if self.sender().is_some_and(Sender::finished) && self.ended_at == Time::NEVER {
            self.ended_at = now;
            self.cwnd_ns_at_end = self.cwnd_ns(now);
        }
    }

    /// Returns the largest congestion window since the end of the warm-up.
    pub(crate) fn cwnd_max(&self) -> f64 {
        self.cwnd_max
    }

    /// Returns the number of segments of the current connection or message that have been delivered
    /// in order.
    pub(crate) fn delivered_of_present(&self) -> u64 {
        self.counters.delivered - self.delivered_before
    }

    /// Returns the endpoints of the flow.
    pub(crate) fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    /// Returns the sender of a TCP flow.
    pub(crate) fn sender(&self) -> Option<&Sender> {
        let Endpoints::Tcp(tcp) = &self.endpoints else {
            return None;
        };
        Some(&tcp.0)
    }

    /// Returns the one-way delays of datagrams that have arrived since the end of the warm-up, if
    /// the flow is a UDP flow.
    pub(crate) fn delays(&self) -> Option<&Histogram> {
        let Endpoints::Udp(udp) = &self.endpoints else {
            return None;
        };
        Some(&udp.1)
    }

    /// Returns the round-trip samples of a TCP flow since the end of the warm-up, if they are recorded.
    pub(crate) fn rtts(&self) -> Option<&Histogram> {
        self.rtts.as_deref()
    }

    /// Starts recording the round-trip samples of a TCP flow.
    pub(super) fn record_rtts(&mut self) {
        if let Endpoints::Tcp(_) = self.endpoints {
            self.timing = true;
            self.rtts = Some(Box::new(Histogram::EMPTY));
        }
    }

    /// Starts the measurement at `now`, at the end of the warm-up.
    pub(super) fn begin_to_measure(&mut self, now: Time) {
        self.integrate_cwnd(now);
        self.cwnd_max = self.cwnd;
        if let Endpoints::Udp(udp) = &mut self.endpoints {
            udp.1 = Histogram::EMPTY;
        }
    }

    fn integrate_cwnd(&mut self, now: Time) {
        self.counters.cwnd_ns = self.cwnd_ns(now);
        self.cwnd_since = now;
    }

    /// Processes a segment at the receiver. If the receiver sends an ACK now, `packet` becomes the
    /// ACK, and the value is true.
    #[inline(always)]
    pub(super) fn answer_segment(&mut self, now: Time, packet: &mut Packet) -> bool {
        if is_marked(packet) {
            let arrival = self.take_marked_segment(now, packet);
            return self.answer(now, packet, arrival.ack);
        }
        let arrival = self.receive(now, packet);
        self.answer(now, packet, arrival.ack)
    }

    #[inline(always)]
    fn answer(&mut self, now: Time, packet: &mut Packet, ack: Option<Ack>) -> bool {
        if let Some(ack) = ack {
            *packet = self.ack(now, packet.flow, ack);
        }
        ack.is_some()
    }

    /// Processes, at the receiver, a segment with a CE mark or with ECN flags in its TCP header.
    #[cold]
    #[inline(never)]
    pub(super) fn take_marked_segment(&mut self, now: Time, packet: &Packet) -> SegmentArrival {
        let marked = packet.ecn == Ecn::Experienced;
        let early = self.tcp().1.on_marks(packet.echo.is_set(), marked);
        let arrival = self.receive(now, packet);
        SegmentArrival {
            ack: arrival.ack.or(early),
            ..arrival
        }
    }

    /// Processes a segment that is not marked ([`is_marked`]) at the receiver.
    #[inline(always)]
    pub(super) fn receive(&mut self, now: Time, packet: &Packet) -> SegmentArrival {
        let last = self.last;
        let receiver = &mut self.tcp().1;
        let received = receiver.on_segment(now, packet.number, packet.stamp);
        let arrival = SegmentArrival {
            ack: received.ack,
            deadline: receiver.deadline(),
            is_complete: receiver.expected() > last,
        };
        self.counters.arrived += 1;
        self.counters.delivered += u64::from(received.delivered);
        if self.reporting
            && let Some(application) = &mut self.application
        {
            application.arrive_in_order(now, received.delivered);
        }
        arrival
    }

    /// Returns a packet that contains the ACK `ack`.
    #[inline(always)]
    pub(super) fn ack(&mut self, now: Time, index: u32, ack: Ack) -> Packet {
        self.counters.acks_sent += 1;
        Packet {
            number: ack.next,
            stamp: ack.echo,
            echo: ack.ece,
            sack: ack.sack,
            ..Packet::new(now, index, PacketKind::Ack, self.ack_bytes)
        }
    }

    /// Processes an ACK at the sender.
    #[inline(always)]
    pub(super) fn take_ack(&mut self, now: Time, packet: &Packet) {
        let Endpoints::Tcp(tcp) = &mut self.endpoints else {
            unreachable!("an ACK is of a TCP flow")
        };
        let (sender, receiver) = &mut **tcp;
        self.counters.acks_arrived += 1;
        // only a new ACK gives a round-trip sample: a duplicate ACK echoes the timestamp of a
        // segment that was already acknowledged
        if u64::from(packet.number) > sender.acked() {
            let rtt = now.since(packet.stamp);
            self.counters.delay_ns += rtt.0;
            self.counters.delay_samples += 1;
            if self.timing {
                keep_rtt(&mut self.rtts, rtt);
            }
        } else if packet.kind == PacketKind::SynAck {
            return sender.on_syn_ack(now, packet.stamp);
        }
        // each call has its own `Ack`, so that the frequent call passes it in registers
        if sender.needs_blocks(&ack_of(packet)) {
            let blocks = receiver.blocks(packet.sack);
            sender.on_sack(now, ack_of(packet), &blocks);
        } else {
            sender.on_ack(now, ack_of(packet));
        }
        if sender.finished() {
            self.note_end(now);
        }
    }

    /// Returns the next segment that the sender may send; `None` if no segment may be sent.
    #[inline(always)]
    pub(super) fn next_packet(&mut self, now: Time, index: u32) -> Option<Packet> {
        let segment = self.tcp().0.next_segment(now)?;
        self.counters.sent += 1;
        if segment.retransmission {
            self.counters.retransmitted += 1;
        }
        let bytes = match segment.number >= self.last {
            true => self.bytes_of(segment.number),
            false => self.data_bytes,
        };
        Some(Packet {
            number: segment.number,
            ecn: segment.ecn,
            echo: segment.echo,
            ..Packet::new(now, index, PacketKind::Segment, bytes)
        })
    }

    /// Returns the SYN of the connection, if the sender must send it.
    #[cold]
    pub(super) fn syn(&mut self, now: Time, index: u32) -> Option<Packet> {
        let syn = self.tcp().0.next_opening(now)?;
        self.counters.sent += 1;
        self.counters.retransmitted += u64::from(syn.repeated);
        Some(Packet::new(now, index, PacketKind::Syn, self.ack_bytes))
    }

    /// Processes a SYN at the receiver. `packet` becomes the SYN-ACK.
    #[cold]
    pub(super) fn answer_syn(&mut self, now: Time, packet: &mut Packet) {
        self.counters.arrived += 1;
        self.counters.acks_sent += 1;
        *packet = Packet {
            stamp: packet.stamp,
            ..Packet::new(now, packet.flow, PacketKind::SynAck, self.ack_bytes)
        };
    }

    /// Updates cwnd and the limit, after the sender has sent all packets that it may send. Returns
    /// whether the timer of the sender expires before its deadline in the agenda.
    #[inline(always)]
    pub(super) fn has_sent(&mut self, now: Time) -> bool {
        let sender = &self.tcp().0;
        let (timer, cwnd, limit) = (sender.deadline(), sender.cwnd(), sender.limit_met());
        if cwnd != self.cwnd {
            self.integrate_cwnd(now);
            self.cwnd = cwnd;
            if cwnd > self.cwnd_max {
                self.cwnd_max = cwnd;
            }
        }
        if limit != self.limit {
            self.note_limit(now);
        }
        timer < self.timer
    }

    #[inline(always)]
    pub(super) fn tcp(&mut self) -> &mut (Sender, Receiver) {
        let Endpoints::Tcp(tcp) = &mut self.endpoints else {
            unreachable!("a segment or an ACK is of a TCP flow")
        };
        tcp
    }

    /// Processes a datagram at the sink.
    #[inline(never)]
    pub(super) fn take_datagram(&mut self, now: Time, packet: &Packet) {
        if self.take_video(now, packet) {
            return;
        }
        self.count_datagram(now, packet);
        if let Some(Application::Reports(reports)) = self.application.as_deref_mut() {
            reports.arrive(now, packet.number);
        }
    }

    /// Counts a datagram that has arrived.
    #[inline(always)]
    pub(super) fn count_datagram(&mut self, now: Time, packet: &Packet) {
        let delay = now.since(packet.stamp);
        self.counters.arrived += 1;
        self.counters.delivered += 1;
        self.counters.delay_ns += delay.0;
        self.counters.delay_samples += 1;
        if let Endpoints::Udp(udp) = &mut self.endpoints {
            udp.1.add(delay);
        }
    }

    pub(super) fn datagram(&mut self, now: Time, index: u32, number: u32) -> Packet {
        self.counters.sent += 1;
        Packet {
            number,
            ..Packet::new(now, index, PacketKind::Datagram, self.data_bytes)
        }
    }
}

/// Returns whether a segment has a CE mark or ECN flags in its TCP header.
#[inline(always)]
pub(super) fn is_marked(packet: &Packet) -> bool {
    packet.ecn == Ecn::Experienced || packet.echo.speaks()
}

/// Returns the ACK in a packet.
#[inline(always)]
fn ack_of(packet: &Packet) -> Ack {
    Ack {
        next: packet.number,
        echo: packet.stamp,
        sack: packet.sack,
        ece: packet.echo,
    }
}

#[cold]
#[inline(never)]
fn keep_rtt(rtts: &mut Option<Box<Histogram>>, rtt: Span) {
    if let Some(rtts) = rtts {
        rtts.add(rtt);
    }
}

#[cfg(test)]
mod tests;
