//! Congestion control: how large the window is. One algorithm a file.
//!
//! An algorithm is told what the ACKs mean ([`super::recovery`] finds that out) and changes a
//! [`Window`]. It says itself how losses are repaired ([`Law::repair`]), so that
//! a new law of growth can share the recovery of an old one.
//!
//! Differs from RFC 5681 and Linux in:
//! - Growth is counted per ACK: 1 in slow start, 1/cwnd in congestion avoidance, whatever the
//!   ACK covers. With delayed ACKs the window grows by half a packet per RTT, as Padhye's
//!   b = 2 assumes. Linux counts what an ACK covers; so does `byte_counting` (`extras.rs`).
//! - cwnd never exceeds the receive window except while it is inflated in fast recovery (ns-2
//!   caps it alike; Linux validates it, RFC 7661). Nothing is sent beyond the receive window
//!   even then.
//! - ssthresh after a loss is max(FlightSize/2, 2) as RFC 5681 says; ns-2 halves cwnd.
//! - ssthresh starts at the receive window, where it has no effect ("arbitrarily high").
//! - A law with its own decrease applies it to FlightSize as well, not to cwnd.

mod africa;
mod compound;
mod cubic;
mod cubic_linux;
mod dctcp;
mod extras;
mod hybrid;
mod hystart;
mod illinois;
#[cfg(test)]
mod linux;
mod marked_part;
mod newreno;
mod outside;
mod prague;
mod reno;
mod rounds;
mod tahoe;
mod westwood;

use super::feedback::Feedback;
use super::recovery::Repair;
use super::rtt::RttEstimator;
use super::settings::TcpSettings;
use crate::kernel::time::{Span, Time};
use crate::words;
use africa::Africa;
use compound::Compound;
pub use compound::CompoundSettings;
use cubic::Cubic;
use cubic_linux::CubicLinux;
pub use cubic_linux::CubicLinuxSettings;
use dctcp::Dctcp;
pub use dctcp::DctcpSettings;
use extras::{Count, Extras, grow_by_segments};
use illinois::Illinois;
use newreno::NewReno;
pub(crate) use outside::ControlPart;
use outside::OutsideLaw;
pub use outside::{ConfiguredControl, Control, OutsideControl};
use prague::Prague;
pub use prague::PragueSettings;
use reno::Reno;
use tahoe::Tahoe;
use westwood::Westwood;

words! {
    /// Congestion control of a TCP sender.
    pub enum CongestionControl {
        /// Slow start after every loss.
        Tahoe = "tahoe",
        /// Fast recovery, left on the first new ACK (RFC 2581).
        Reno = "reno",
        /// Fast recovery with partial ACKs (RFC 6582).
        NewReno = "newreno",
        /// Reno's window plus a window that follows the queueing delay (Tan et al. 2006).
        Compound = "compound",
        /// The window as a cubic function of the time since the last loss (RFC 9438).
        Cubic = "cubic",
        /// CUBIC in whole packets and with HyStart, as in Linux (Ha et al. 2008).
        CubicLinux = "cubic_linux",
        /// Reno with an increase and a decrease that depend on the queueing delay (Liu et al. 2008).
        Illinois = "illinois",
        /// HighSpeed TCP while the queue is short, Reno otherwise (King et al. 2005).
        Africa = "africa",
        /// Reno that reduces its window to the amount that the path has carried (Grieco, Mascolo 2004).
        Westwood = "westwood",
        /// Reno that reduces its window by half of the marked part, for private networks (RFC 8257).
        Dctcp = "dctcp",
        /// DCTCP for the Internet, with ECT(1) for L4S (draft-briscoe-iccrg-prague-congestion-control).
        Prague = "prague",
        ;
        /// Congestion control of another crate.
        Outside(OutsideControl)
    }
}

impl CongestionControl {
    /// What to say of a control that is not here.
    pub(super) fn meant(name: &str) -> Option<String> {
        name.starts_with("bbr").then(|| {
            "BBR needs pacing and rate samples in every sender, a change of their own that is not built"
                .to_owned()
        })
    }

    /// How it hears of marks, where its connection has ECN.
    pub(super) fn feedback(self) -> Feedback {
        match self {
            CongestionControl::Dctcp => Feedback::Each,
            CongestionControl::Prague => Feedback::Count,
            CongestionControl::Reno
            | CongestionControl::Tahoe
            | CongestionControl::NewReno
            | CongestionControl::Cubic
            | CongestionControl::CubicLinux
            | CongestionControl::Compound
            | CongestionControl::Illinois
            | CongestionControl::Africa
            | CongestionControl::Westwood
            | CongestionControl::Outside(_) => Feedback::Flag,
        }
    }

    /// Whether it answers to how many segments are marked, and so cannot do without marks.
    pub(super) fn needs_ecn(self) -> bool {
        self.feedback() != Feedback::Flag
    }
}

/// A window that may be restored. [packets]
#[derive(Clone, Copy, Debug)]
pub(super) struct Prior {
    cwnd: f64,
    ssthresh: f64,
}

/// An ACK of new data, as far as a law of growth needs to know it.
#[derive(Clone, Copy)]
pub struct NewAck<'a> {
    /// When it arrives.
    pub now: Time,
    /// Segments it acknowledges.
    pub acked: u32,
    /// Segments that it is the first to tell of: less than `acked` where some of those were SACKed before, and more
    /// where it SACKs others. Without SACK, after a loss, two at most.
    pub delivered: u32,
    /// First segment not acknowledged, after this ACK.
    pub snd_una: u32,
    /// Next segment to send.
    pub snd_nxt: u32,
    /// The estimator, which has taken the sample of this ACK.
    pub rtt: &'a RttEstimator,
}

/// What an ACK says of marks, to a law that answers to how many there are.
#[derive(Clone, Copy, Debug)]
pub struct Marked {
    /// When it arrives.
    pub now: Time,
    /// Segments it acknowledges.
    pub acked: u32,
    /// Segments that it is the first to tell the marks of; may be more than `acked` where others have arrived behind a
    /// gap.
    pub marked: u32,
    /// First segment not acknowledged, after this ACK.
    pub snd_una: u32,
    /// Next segment to send.
    pub snd_nxt: u32,
    /// Smoothed round-trip time before this ACK.
    pub srtt: Option<Span>,
}

impl NewAck<'_> {
    /// As many ACKs of one segment each as it is the first to tell of.
    fn one_by_one(self) -> impl Iterator<Item = Self> {
        let last = self.acked.saturating_sub(1);
        (0..self.delivered).rev().map(move |later| NewAck {
            acked: 1,
            delivered: 1,
            snd_una: self.snd_una - later.min(last),
            ..self
        })
    }
}

/// The congestion control of one sender: its window and the algorithm that governs it.
#[derive(Clone, Debug)]
pub(super) struct Congestion {
    window: Window,
    algorithm: Algorithm,
    /// What growth is beside the algorithm's, if it is anything.
    extras: Option<Box<Extras>>,
}

/// The algorithms: variant, state, how it begins; and the events, each of which is passed on to the one in
/// use.
macro_rules! algorithms {
    ( $laws:tt $( $event:ident $told:tt: $params:tt -> $answer:ty; )+ ) => {
        algorithms! { @laws $laws }

        impl Algorithm {
            $( algorithms! { @event $laws $event $told $params -> $answer } )+
        }
    };
    ( @laws { $( $variant:ident($state:ty) = |$settings:pat_param| $new:expr; )+ } ) => {
        /// States of more than a word are boxed, so that a NewReno sender stays small.
        #[derive(Clone, Debug)]
        enum Algorithm {
            $( $variant($state), )+
            Outside(OutsideLaw),
        }

        impl Algorithm {
            fn new(settings: &TcpSettings) -> Algorithm {
                match settings.congestion {
                    $( CongestionControl::$variant => {
                        let $settings = settings;
                        Algorithm::$variant($new)
                    } )+
                    CongestionControl::Outside(_) => match &settings.outside {
                        Some(outside) => Algorithm::Outside(outside.law()),
                        None => unreachable!("settings of TCP are read whole"),
                    },
                }
            }

            fn repair(&self) -> Repair {
                match self {
                    $( Algorithm::$variant(law) => law.repair(), )+
                    Algorithm::Outside(law) => law.repair(),
                }
            }
        }
    };
    (
        @event { $( $variant:ident $state:tt = |$settings:pat_param| $new:expr; )+ }
        $event:ident $told:tt ($( $params:tt )+) -> $answer:ty
    ) => {
        #[inline(always)]
        fn $event(&mut self, $( $params )+) -> $answer {
            match self {
                $( Algorithm::$variant(law) => law.$event $told, )+
                Algorithm::Outside(law) => law.$event $told,
            }
        }
    };
}

algorithms! {
    {
        Tahoe(Tahoe) = |_| Tahoe;
        Reno(Reno) = |_| Reno;
        NewReno(NewReno) = |_| NewReno;
        Compound(Box<Compound>) = |settings| Compound::new(settings.compound).into();
        Cubic(Box<Cubic>) = |_| Box::default();
        CubicLinux(Box<CubicLinux>) = |settings| CubicLinux::new(settings.cubic_linux).into();
        Illinois(Box<Illinois>) = |_| Illinois::new().into();
        Africa(Box<Africa>) = |_| Africa::new().into();
        Westwood(Box<Westwood>) = |_| Westwood::new().into();
        Dctcp(Box<Dctcp>) = |_| Dctcp::new().into();
        Prague(Box<Prague>) = |settings| Prague::new(settings.prague).into();
    }
    on_ack(window, ack): (window: &mut Window, ack: NewAck) -> ();
    decrease(window, flight): (window: &Window, flight: u32) -> f64;
    on_loss(window, flight): (window: &mut Window, flight: u32) -> ();
    on_marked(told): (told: &Marked) -> ();
    decrease_by_marks(window, told, flight): (window: &Window, told: &Marked, flight: u32) -> Option<f64>;
    on_dup_ack(window): (window: &mut Window) -> ();
    on_partial_ack(window, acked): (window: &mut Window, acked: u32) -> ();
    on_recovered(window): (window: &mut Window) -> ();
    on_rto(window, flight, first): (window: &mut Window, flight: u32, first: bool) -> ();
}

impl Congestion {
    pub(super) fn new(settings: &TcpSettings) -> Congestion {
        let receive = f64::from(settings.window_packets);
        Congestion {
            window: Window {
                cwnd: f64::from(settings.initial_cwnd_packets).min(receive),
                ssthresh: receive,
                receive,
                slow_start_gain: 1.0,
            },
            algorithm: Algorithm::new(settings),
            extras: Extras::new(settings),
        }
    }

    /// The window before a reduction that may be undone.
    pub(super) fn prior(&self) -> Prior {
        let Window { cwnd, ssthresh, .. } = self.window;
        Prior { cwnd, ssthresh }
    }

    /// A reduction was needless: the window is no less than before it (RFC 4015, section 3.5).
    pub(super) fn restore(&mut self, prior: Prior) {
        self.window.cwnd = self.window.cwnd.max(prior.cwnd);
        self.window.ssthresh = self.window.ssthresh.max(prior.ssthresh);
    }

    /// The connection begins with a window of one packet: a SYN was lost (RFC 5681, section 3.1).
    pub(super) fn begin_with_one(&mut self) {
        self.window.cwnd = 1.0;
    }

    pub(super) fn cwnd(&self) -> f64 {
        self.window.cwnd
    }

    pub(super) fn ssthresh(&self) -> f64 {
        self.window.ssthresh
    }

    /// Whole segments that may be outstanding: min(cwnd, receive window).
    #[inline]
    pub(super) fn usable(&self) -> u32 {
        let Window { cwnd, receive, .. } = self.window;
        (if cwnd < receive { cwnd } else { receive }) as i32 as u32 // neither is negative or 2^31
    }

    /// Whether [`usable`](Congestion::usable) is the receive window.
    #[inline(always)]
    pub(super) fn fills_receive_window(&self) -> bool {
        self.window.cwnd >= self.window.receive
    }

    pub(super) fn repair(&self) -> Repair {
        self.algorithm.repair()
    }

    #[inline(always)]
    pub(super) fn on_ack(&mut self, ack: NewAck) {
        if self.extras.is_some() {
            self.on_ack_with_extras(ack);
        } else {
            self.algorithm.on_ack(&mut self.window, ack);
        }
    }

    #[cold]
    fn on_ack_with_extras(&mut self, ack: NewAck) {
        let Some(extras) = &mut self.extras else {
            return;
        };
        let ends = extras.ends_slow_start(&mut self.window, &ack);
        match extras.count() {
            Count::Ack => self.algorithm.on_ack(&mut self.window, ack),
            Count::Acks => {
                for one in ack.one_by_one() {
                    self.algorithm.on_ack(&mut self.window, one);
                }
            }
            Count::Segments(counted) => grow_by_segments(&mut self.window, counted, ack.delivered),
        }
        if ends {
            self.leave_first_slow_start();
        }
    }

    fn leave_first_slow_start(&mut self) {
        self.extras = self.extras.take().and_then(|extras| extras.begin_anew());
        self.window.slow_start_gain = 1.0;
    }

    pub(super) fn on_loss(&mut self, flight: u32) {
        self.leave_first_slow_start();
        self.algorithm.on_loss(&mut self.window, flight);
    }

    /// A loss was found by scoreboard, whose pipe needs no inflated window (RFC 6675, step 4.2), or
    /// a mark was echoed: decrease alone (RFC 3168, section 6.1.2).
    pub(super) fn decrease(&mut self, flight: u32) {
        self.leave_first_slow_start();
        self.window.ssthresh = self.algorithm.decrease(&self.window, flight);
        self.window.deflate();
    }

    /// An ACK tells how many segments were marked; to be called on each ACK of a connection that hears of that.
    pub(super) fn on_marked(&mut self, told: &Marked) {
        self.algorithm.on_marked(told);
    }

    /// Segments have been marked: decrease by what the law takes for that; false if it takes nothing now.
    pub(super) fn decrease_by_marks(&mut self, told: &Marked, flight: u32) -> bool {
        let window = &self.window;
        let Some(ssthresh) = self.algorithm.decrease_by_marks(window, told, flight) else {
            return false;
        };
        self.leave_first_slow_start();
        self.window.ssthresh = ssthresh;
        self.window.deflate();
        true
    }

    /// A loss was found by duplicate ACKs in a window whose mark has been answered: ssthresh stays.
    pub(super) fn on_loss_after_mark(&mut self) {
        match self.repair() {
            Repair::GoBackN => self.window.collapse(),
            Repair::FirstHole | Repair::EachHole => self.window.inflate(),
        }
    }

    /// Receive window. [packets]
    pub(super) fn receive_window(&self) -> u32 {
        self.window.receive as u32
    }

    pub(super) fn on_dup_ack(&mut self) {
        self.algorithm.on_dup_ack(&mut self.window);
    }

    pub(super) fn on_partial_ack(&mut self, acked: u32) {
        self.algorithm.on_partial_ack(&mut self.window, acked);
    }

    pub(super) fn on_recovered(&mut self) {
        self.algorithm.on_recovered(&mut self.window);
    }

    /// The retransmission timer expired; ssthresh may keep at most the part `kept` of what it was.
    ///
    /// A timeout in fast recovery comes from the loss that ssthresh was reduced for: it may come down
    /// further, but must not go up by the segments sent since, which pile up behind the hole. So `kept` is 1
    /// there, a half as in ns-2, and infinite otherwise.
    pub(super) fn on_rto(&mut self, flight: u32, first: bool, kept: f64) {
        let most = (kept * self.window.ssthresh).max(LEAST_SSTHRESH);
        self.leave_first_slow_start();
        self.algorithm.on_rto(&mut self.window, flight, first);
        self.window.ssthresh = self.window.ssthresh.min(most);
    }
}

/// One algorithm. `flight` counts the segments outstanding when the event happened.
///
/// The defaults are NewReno's window, see `newreno.rs`: a law of growth need only say how it grows
/// and what it leaves of the window after a loss.
pub trait Law {
    /// How losses found by duplicate ACKs are repaired.
    fn repair(&self) -> Repair {
        Repair::EachHole
    }

    /// New data was acknowledged outside fast recovery.
    #[inline]
    fn on_ack(&mut self, window: &mut Window, _ack: NewAck) {
        window.grow();
    }

    /// What a loss among `flight` segments leaves of the window: the new ssthresh, at least 2.
    fn decrease(&mut self, _window: &Window, flight: u32) -> f64 {
        half(flight)
    }

    /// An ACK tells how many segments were marked; before anything else that it means.
    fn on_marked(&mut self, _told: &Marked) {}

    /// What is left of the window by the marks of an ACK among `flight` segments, the first since it was reduced;
    /// `None`: all of it for now.
    fn decrease_by_marks(&mut self, window: &Window, _told: &Marked, flight: u32) -> Option<f64> {
        Some(self.decrease(window, flight))
    }

    /// A loss was found by duplicate ACKs (RFC 5681, section 3.2, steps 2 and 3).
    fn on_loss(&mut self, window: &mut Window, flight: u32) {
        window.ssthresh = self.decrease(window, flight);
        window.inflate();
    }

    /// Fast recovery: another duplicate ACK (RFC 5681, section 3.2, step 4).
    fn on_dup_ack(&mut self, window: &mut Window) {
        window.cwnd += 1.0;
    }

    /// Fast recovery goes on after an ACK of `acked` new segments: deflate by what was
    /// acknowledged, then add one segment for the retransmission (RFC 6582, section 3.2, step 3).
    fn on_partial_ack(&mut self, window: &mut Window, acked: u32) {
        window.cwnd = (window.cwnd - f64::from(acked)).max(0.0) + 1.0;
    }

    /// Fast recovery is over (RFC 5681, section 3.2, step 6; RFC 6582, option 2).
    fn on_recovered(&mut self, window: &mut Window) {
        window.deflate();
    }

    /// The retransmission timer expired; `first` unless it did so before for the same segment,
    /// in which case ssthresh stays (RFC 5681, section 3.1).
    fn on_rto(&mut self, window: &mut Window, flight: u32, first: bool) {
        window.on_rto(flight, first);
    }
}

/// Slow-start threshold after a loss (RFC 5681, equation 4).
fn half(flight: u32) -> f64 {
    (f64::from(flight) / 2.0).max(LEAST_SSTHRESH)
}

/// Least slow-start threshold (RFC 5681, equation 4). [packets]
const LEAST_SSTHRESH: f64 = 2.0;

/// The numbers that an algorithm governs. [packets]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window; in fast recovery with its inflation.
    pub cwnd: f64,
    /// Slow start below, congestion avoidance from here on.
    pub ssthresh: f64,
    /// Receive window.
    receive: f64,
    /// Growth per ACK in slow start: 1 unless HyStart++ slows it.
    slow_start_gain: f64,
}

impl Window {
    /// Growth on an ACK of new data: slow start or congestion avoidance
    /// (RFC 5681, section 3.1, equations 2 and 3).
    #[inline]
    pub fn grow(&mut self) {
        if self.cwnd < self.receive && !self.slow_start() {
            self.add(1.0 / self.cwnd);
        }
    }

    /// Grows in slow start; false, and nothing done, in congestion avoidance.
    #[inline]
    pub fn slow_start(&mut self) -> bool {
        let below = self.cwnd < self.ssthresh;
        if below {
            self.add(self.slow_start_gain);
        }
        below
    }

    /// Whether the window is in slow start.
    pub fn is_below_ssthresh(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Grows by `increase`, up to the receive window.
    #[inline]
    pub fn add(&mut self, increase: f64) {
        if self.cwnd < self.receive {
            self.cwnd = (self.cwnd + increase).min(self.receive);
        }
    }

    /// Enters fast recovery: the segments that caused the three duplicate ACKs have left the
    /// network (RFC 5681, section 3.2, step 3).
    pub fn inflate(&mut self) {
        self.cwnd = self.ssthresh + 3.0;
    }

    /// What a loss takes its part of where it leaves more than half: of `flight` segments those that the window
    /// holds. FlightSize also counts what was acknowledged selectively, or sent while the window was inflated;
    /// 7/8 of that may be more than the window. [packets]
    pub fn held(&self, flight: u32) -> f64 {
        f64::from(flight).min(self.cwnd)
    }

    /// Takes the inflation back at the end of fast recovery (step 6); never beyond the receive
    /// window, which may be smaller than the least ssthresh.
    pub fn deflate(&mut self) {
        self.cwnd = self.ssthresh.min(self.receive);
    }

    /// Loss window of one segment (RFC 5681, section 3.1).
    pub fn collapse(&mut self) {
        self.cwnd = 1.0;
    }

    /// Reno's answer to a timeout; see [`Law::on_rto`].
    pub fn on_rto(&mut self, flight: u32, first: bool) {
        if first {
            self.ssthresh = half(flight);
        }
        self.collapse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::time::Span;
    use crate::tcp::pipe::settings;

    pub(super) use crate::tcp::pipe::MS;

    /// Drives one law in congestion avoidance over a path without loss, a round trip at a time.
    pub(super) struct Driver<L> {
        pub(super) law: L,
        pub(super) window: Window,
        pub(super) now: Time,
        rtt: RttEstimator,
        acked: u32,
    }

    impl<L: Law> Driver<L> {
        pub(super) fn new(law: L, cwnd: f64) -> Driver<L> {
            Driver {
                law,
                window: Window {
                    cwnd,
                    ssthresh: 2.0,
                    receive: 65_535.0,
                    slow_start_gain: 1.0,
                },
                now: Time(1_000 * MS),
                rtt: RttEstimator::new(Span(1_000 * MS), Span(1)),
                acked: 0,
            }
        }

        /// One ACK for each segment of the window, spread over `rtt` nanoseconds.
        pub(super) fn round(&mut self, rtt: u64) {
            let flight = self.window.cwnd as u32;
            let end = self.acked + flight;
            for k in 1..=flight {
                self.now += Span(rtt / u64::from(flight));
                self.rtt.on_sample(Span(rtt), flight);
                self.acked += 1;
                // segments leave as ACKs arrive: a window is always out
                let snd_nxt = end + k - 1;
                let ack = NewAck {
                    now: self.now,
                    acked: 1,
                    delivered: 1,
                    snd_una: self.acked,
                    snd_nxt,
                    rtt: &self.rtt,
                };
                self.law.on_ack(&mut self.window, ack);
            }
        }

        /// One ACK of `segments` after a pause of `later` nanoseconds, which is its round-trip time too.
        pub(super) fn acked(&mut self, later: u64, segments: u32) {
            self.now += Span(later);
            self.rtt.on_sample(Span(later), segments);
            self.acked += segments;
            let ack = NewAck {
                now: self.now,
                acked: segments,
                delivered: segments,
                snd_una: self.acked,
                snd_nxt: self.acked + self.window.cwnd as u32,
                rtt: &self.rtt,
            };
            self.law.on_ack(&mut self.window, ack);
        }
    }

    impl Congestion {
        /// An ACK of so many segments, of no round-trip time in particular.
        fn acked(&mut self, segments: u32) {
            let rtt = RttEstimator::new(Span(1), Span(1));
            self.on_ack(NewAck {
                now: Time::ZERO,
                acked: segments,
                delivered: segments,
                snd_una: segments,
                snd_nxt: segments,
                rtt: &rtt,
            });
        }
    }

    fn congestion(choice: CongestionControl) -> Congestion {
        Congestion::new(&settings(choice))
    }

    /// (cwnd, ssthresh), [packets]
    fn numbers(congestion: &Congestion) -> (f64, f64) {
        (congestion.cwnd(), congestion.ssthresh())
    }

    #[test]
    fn window_starts_at_the_initial_window_in_slow_start() {
        let mut c = congestion(CongestionControl::NewReno);
        assert_eq!(numbers(&c), (2.0, 42.0));
        c.acked(1);
        assert_eq!(numbers(&c), (3.0, 42.0));
    }

    #[test]
    fn initial_window_is_cut_to_the_receive_window() {
        let narrow = TcpSettings {
            window_packets: 1,
            ..settings(CongestionControl::Reno)
        };
        assert_eq!(Congestion::new(&narrow).usable(), 1);
    }

    #[test]
    fn a_timeout_in_recovery_leaves_a_part_of_what_recovery_left() {
        for (kept, ssthresh) in [(f64::INFINITY, 15.0), (1.0, 10.0), (0.5, 5.0), (0.1, 2.0)] {
            let mut c = congestion(CongestionControl::NewReno);
            c.on_loss(20);
            c.on_rto(30, true, kept);
            assert_eq!(numbers(&c), (1.0, ssthresh));
        }
    }

    #[test]
    fn congestion_avoidance_adds_one_packet_per_window_of_acks() {
        for choice in [
            CongestionControl::Tahoe,
            CongestionControl::Reno,
            CongestionControl::NewReno,
        ] {
            let mut c = congestion(choice);
            c.on_rto(20, true, f64::INFINITY);
            for _ in 0..9 {
                c.acked(1); // slow start, 1 to 10
            }
            assert_eq!(numbers(&c), (10.0, 10.0));
            for _ in 0..10 {
                c.acked(1);
            }
            // 10 + 1/10 + 1/10.1 + ...: less than 11, since the window grows meanwhile
            assert!((10.95..11.0).contains(&c.cwnd()), "{}", c.cwnd());
        }
    }

    /// ACKs of two segments, from two packets: in slow start 1 or 2 an ACK. From ten, half a packet in a window of
    /// ACKs, or a whole one once ten segments are acknowledged, none before that; a part of the next window counts.
    #[test]
    fn an_ack_counts_once_or_by_the_segments_that_it_covers() {
        let begun = |choice, byte_counting| {
            let mut c = Congestion::new(&TcpSettings {
                byte_counting,
                ..settings(choice)
            });
            c.window.ssthresh = 10.0;
            c
        };
        let after = |choice, byte_counting, covered: &[u32]| {
            let mut c = begun(choice, byte_counting);
            for &segments in covered {
                c.acked(segments);
            }
            c.cwnd()
        };
        for choice in [CongestionControl::Tahoe, CongestionControl::NewReno] {
            assert_eq!(after(choice, false, &[2; 4]), 6.0);
            assert!((10.45..10.5).contains(&after(choice, false, &[2; 8 + 5])));
            for (covered, cwnd) in [
                (&[2; 4][..], 10.0),
                (&[3; 3], 10.0), // one more than slow start takes
                (&[3, 3, 3, 8], 10.0),
                (&[3, 3, 3, 9], 11.0),
                (&[2; 4 + 4], 10.0),
                (&[2; 4 + 5], 11.0),
                (&[2; 4 + 10], 11.0), // ten of eleven
                (&[2; 4 + 11], 12.0), // one more than eleven
                (&[8, 33], 13.0),     // three windows of ten
            ] {
                assert_eq!(after(choice, true, covered), cwnd, "{covered:?}");
            }
            let mut c = begun(choice, true);
            (0..8).for_each(|_| c.acked(2));
            c.decrease(20); // what was counted before a loss counts no more
            (0..4).for_each(|_| c.acked(2));
            assert_eq!(c.cwnd(), 10.0);
        }
        let compound = CongestionControl::Compound;
        assert_eq!(
            after(compound, true, &[2; 9]),
            after(compound, false, &[1; 18])
        );
        let linux = |byte_counting| after(CongestionControl::CubicLinux, byte_counting, &[2; 9]);
        assert_eq!(linux(true), linux(false));
    }

    #[test]
    fn window_never_grows_beyond_the_receive_window() {
        let mut c = congestion(CongestionControl::NewReno);
        for _ in 0..100 {
            c.acked(1);
        }
        assert_eq!((c.cwnd(), c.usable()), (42.0, 42));
    }

    #[test]
    fn responses_to_a_loss_among_twenty_segments() {
        for (choice, at_loss, inflated, recovered) in [
            (CongestionControl::Reno, 13.0, 14.0, 10.0),
            (CongestionControl::NewReno, 13.0, 14.0, 10.0),
        ] {
            let mut c = congestion(choice);
            c.on_loss(20);
            assert_eq!(numbers(&c), (at_loss, 10.0), "{choice:?}");
            c.on_dup_ack();
            assert_eq!(numbers(&c), (inflated, 10.0), "{choice:?}");
            c.on_recovered();
            assert_eq!(numbers(&c), (recovered, 10.0), "{choice:?}");
        }
    }

    #[test]
    fn tahoe_collapses_on_any_loss() {
        let mut c = congestion(CongestionControl::Tahoe);
        c.on_loss(20);
        assert_eq!(numbers(&c), (1.0, 10.0));
    }

    #[test]
    fn partial_ack_deflates_by_what_it_acknowledges_but_one() {
        let mut c = congestion(CongestionControl::NewReno);
        c.on_loss(20); // cwnd 13
        c.on_partial_ack(4);
        assert_eq!(c.cwnd(), 10.0);
        c.on_partial_ack(30);
        assert_eq!(c.cwnd(), 1.0);
    }

    #[test]
    fn repeated_timeout_keeps_ssthresh_and_the_least_ssthresh_is_two() {
        for choice in [
            CongestionControl::Tahoe,
            CongestionControl::Reno,
            CongestionControl::NewReno,
        ] {
            let mut c = congestion(choice);
            c.on_rto(21, true, f64::INFINITY);
            assert_eq!(numbers(&c), (1.0, 10.5));
            c.on_rto(1, false, f64::INFINITY);
            assert_eq!(numbers(&c), (1.0, 10.5));
            c.on_rto(1, true, f64::INFINITY);
            assert_eq!(numbers(&c), (1.0, 2.0));
        }
    }

    #[test]
    fn a_timeout_in_fast_recovery_does_not_raise_ssthresh() {
        for choice in CongestionControl::ALL {
            let mut c = congestion(choice);
            c.window.cwnd = 40.0;
            c.on_loss(40);
            let reduced = c.ssthresh();
            c.on_rto(200, true, 1.0); // segments sent in recovery piled up behind the hole
            assert_eq!(c.ssthresh(), reduced, "{choice:?}");
            c.on_rto(3, true, 1.0);
            assert!(c.ssthresh() < reduced, "{choice:?}");
        }
    }

    #[test]
    fn inflation_does_not_open_the_receive_window() {
        let mut c = congestion(CongestionControl::Reno);
        c.on_loss(42);
        for _ in 0..38 {
            c.on_dup_ack();
        }
        assert_eq!((c.cwnd(), c.usable()), (62.0, 42));
    }
}
