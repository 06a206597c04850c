//! Congestion control: determines how many segments may be in flight, and when the next segment may
//! be sent.
//!
//! | file | contents |
//! |---|---|
//! | `algorithm.rs` | the names of the controls in scenario files |
//! | `control.rs` | the trait [`CongestionControl`], which the sender uses, and its events |
//! | `window_algorithm.rs` | the trait `WindowAlgorithm`, and Reno's recovery for such controls |
//! | `window.rs`, `undo.rs` | cwnd and ssthresh, and their values before a reduction |
//! | `state.rs` | the congestion state of a sender |
//! | `tracked.rs` | the state that a control attaches to each transmission |
//! | `max_filter.rs` | the maximum over the last rounds |
//! | `delivery_rate.rs` | samples of the delivery rate, from this state |
//! | `pacing.rs`, `pacer.rs` | pacing at a multiple of cwnd/SRTT, and departure times at any rate |
//! | `abe.rs` | a smaller reduction of the window after ECN marks |
//! | `dispatch.rs` | the list of controls as an enum |
//! | `extras.rs`, `hystart.rs` | growth that does not depend on the control |
//! | `external.rs` | controls from other crates |
//! | `rounds.rs`, `marked_fraction.rs`, `hybrid.rs` | components that several controls share |
//! | all other files | one control per file |
//!
//! Differs from RFC 5681 and Linux in:
//! - The window grows per ACK: by 1 packet in slow start and by 1/cwnd in congestion avoidance, for
//!   any number of segments that the ACK covers. With delayed ACKs the window grows by half a
//!   packet per RTT, as in Padhye's model with b = 2. Linux counts the segments that an ACK covers,
//!   and `byte_counting` does the same (`extras.rs`).
//! - cwnd never exceeds the receive window, except while it is inflated in fast recovery. Even
//!   then, nothing is sent beyond the receive window. ns-2 has the same limit; Linux validates cwnd
//!   (RFC 7661).
//! - ssthresh after a loss is max(FlightSize/2, 2), as in RFC 5681; ns-2 halves cwnd.
//! - ssthresh starts at the receive window. The RFC requires an "arbitrarily high" value. An
//!   ssthresh equal to the receive window has no effect.
//! - A congestion control with a decrease factor of its own multiplies FlightSize, and not cwnd, by
//!   this factor.

mod abe;
mod africa;
mod algorithm;
mod bbr;
mod bbr3;
mod compound;
mod control;
mod cubic;
mod cubic_linux;
mod dctcp;
mod delivery_rate;
mod dispatch;
mod external;
mod extras;
mod hybrid;
mod hystart;
mod illinois;
#[cfg(test)]
mod linux;
mod marked_fraction;
mod max_filter;
mod newreno;
mod pacer;
mod pacing;
mod prague;
mod reno;
mod rounds;
pub(super) mod state;
mod tahoe;
#[cfg(test)]
mod tests;
mod tracked;
mod undo;
mod westwood;
mod window;
pub(super) mod window_algorithm;

pub(super) use abe::Abe;
pub use algorithm::CongestionAlgorithm;
pub use bbr::BbrSettings;
pub use bbr3::Bbr3Settings;
#[cfg(feature = "bbr3-trace")]
pub use bbr3::take_trace as take_bbr3_trace;
pub use compound::CompoundSettings;
pub use control::{
    Arrival, CongestionControl, CongestionSign, Lost, MarkReport, NewAck, Processed, RecoveryAck,
    RecoveryPhase, Sent,
};
pub use cubic_linux::CubicLinuxSettings;
pub use dctcp::DctcpSettings;
pub(crate) use external::ControlPlugin;
pub use external::{ConfiguredControl, ExternalControl, ExternalName};
pub use prague::PragueSettings;
pub(super) use undo::PriorWindow;
pub use window::Window;

use super::recovery::RecoveryMode;
use super::sack::Blocks;
use super::settings::TcpSettings;
use crate::kernel::time::Time;
use africa::Africa;
use bbr::Bbr;
use bbr3::Bbr3;
use compound::Compound;
use cubic::Cubic;
use cubic_linux::CubicLinux;
use dctcp::Dctcp;
use dispatch::controls;
use external::ExternalAlgorithm;
use illinois::Illinois;
use newreno::NewReno;
use pacing::Paced;
use prague::Prague;
use reno::Reno;
use tahoe::Tahoe;
use tracked::Tracked;
use westwood::Westwood;

controls! {
    algorithms {
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
    tracked {
        Paced(Paced<Control>),
        Bbr(Bbr),
        Bbr3(Bbr3),
    }
    on_ack(window, ack): (window: &mut Window, ack: NewAck) -> ();
    on_recovery_ack(window, ack): (window: &mut Window, ack: RecoveryAck) -> ();
    on_loss(window, flight, sign): (window: &mut Window, flight: u32, sign: CongestionSign) -> ();
    on_timeout(window, flight, first): (window: &mut Window, flight: u32, first: bool) -> ();
    on_out_of_data(now): (now: Time) -> ();
    on_write(now, is_idle): (now: Time, is_idle: bool) -> ();
    on_marks(report): (report: &MarkReport) -> ();
    decrease_by_marks(window, report, flight):
        (window: &mut Window, report: &MarkReport, flight: u32) -> bool;
}

impl Control {
    fn new(settings: &TcpSettings) -> Control {
        let control = Control::named(settings);
        match settings.pacing && !control.is_tracked() {
            true => {
                let paced = Paced::new(control, settings);
                Control::Paced(Tracked::new(paced, settings.window_packets).into())
            }
            false => control,
        }
    }
}
