//! Checks the times of changes during a run. Each change has its own named table in the file.

use super::decode::Section;
use super::key::KeyOf;
use super::problem::Problems;
use super::units::{self, TIME};
use crate::kernel::time::Span;

/// The times of those changes during a run that have been checked so far.
pub(crate) struct Instants<'a> {
    duration: Option<Span>,
    seen: Vec<(Span, &'a str)>,
}

impl<'a> Instants<'a> {
    /// Returns an empty list of change times, for a run of this `duration` (`None` if the duration
    /// is unknown).
    pub(crate) fn within(duration: Option<Span>) -> Instants<'a> {
        let seen = Vec::new();
        Instants { duration, seen }
    }

    /// Checks that the time `at` of `change` is before the end of the run, and differs from the
    /// times of all other changes.
    pub(crate) fn check(&mut self, change: &'a Section, at: KeyOf<Span>, problems: &mut Problems) {
        let Some(at) = change.located(at) else {
            return;
        };
        if let Some(duration) = self.duration.filter(|&duration| at.value >= duration) {
            let duration = units::show(duration.0, TIME);
            let fault =
                format!("is not before the end; expected less than the duration of {duration}");
            at.refuse_value(fault, problems);
        }
        if let Some((_, other)) = self.seen.iter().find(|(other, _)| *other == at.value) {
            let fault = format!("is also the time of `{other}`; expected different times");
            at.refuse_value(fault, problems);
        }
        self.seen.push((at.value, &change.path));
    }
}
