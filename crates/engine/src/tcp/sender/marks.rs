//! The state of explicit congestion notification (ECN) at a sender.

use crate::packet::{Ecn, EcnEcho};
use crate::tcp::{Feedback, TcpSettings};

/// The state of ECN at a sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    /// Form in which the receiver reports marks.
    pub(super) feedback: Feedback,
    /// Whether the next new segment carries CWR.
    pub(super) cwr: bool,
    /// ECN codepoint of new segments.
    pub(super) ecn: Ecn,
    /// Value of `snd_max` when the window was last reduced. Marks on segments with lower numbers do
    /// not reduce the window again.
    pub(super) recover: u32,
    /// Number of reductions by marks so far.
    pub(super) reductions: u32,
    /// Number of marked segments in the receiver's last report, modulo [`EcnEcho::MODULUS`].
    count: u8,
}

impl Marks {
    pub(super) fn new(settings: &TcpSettings) -> Marks {
        let feedback = settings.feedback();
        Marks {
            feedback,
            cwr: false,
            ecn: settings.ect(),
            recover: 0,
            reductions: 0,
            count: 0,
        }
    }

    #[inline(always)]
    pub(super) fn enabled(&self) -> bool {
        self.feedback != Feedback::None
    }

    /// Returns the number of marked segments that this echo reports for the first time. The ACK
    /// covers `acked` new segments.
    pub(super) fn newly_marked(&mut self, echo: EcnEcho, acked: u32) -> u32 {
        match echo.counted() {
            Some(count) => {
                let more = EcnEcho::MODULUS + count - u32::from(self.count);
                self.count = count as u8; // less than the modulus
                more % EcnEcho::MODULUS
            }
            None if echo.is_set() => acked,
            None => 0,
        }
    }
}
