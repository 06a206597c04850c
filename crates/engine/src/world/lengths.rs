//! The lengths of the segments of a flow: the last segment of a message or chunk may be shorter than
//! the others.

use super::application::Application;
use super::flow::FlowState;
use crate::scenario::WriteSettings;

impl FlowState {
    /// Returns the application, if it has its own times.
    pub(crate) fn application(&self) -> Option<&Application> {
        self.application.as_deref()
    }

    /// Sets the lengths of segments for an application that writes chunks, or a limited amount of
    /// data.
    pub(super) fn write_as(&mut self, settings: &WriteSettings) {
        if let Some(segments) = settings.segments() {
            // no overflow: the check of the scenario limits the number of segments
            self.last = (segments - 1) as u32;
            self.last_bytes = self.data_bytes - settings.missing_bytes() as u16;
        }
    }

    /// Returns the length of segment `number`, which is not before the last segment of the message
    /// or of the first chunk.
    #[cold]
    #[inline(never)]
    pub(super) fn bytes_of(&self, number: u32) -> u16 {
        match self.application.as_deref() {
            Some(Application::Writes(writes)) if !writes.is_last(number) => self.data_bytes,
            _ => self.last_bytes,
        }
    }
}
