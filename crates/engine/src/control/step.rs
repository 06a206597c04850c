//! The step of C that an estimator took.

/// A step of C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// No reply, or one that does not count: C does not change.
    Hold,
    /// No queue: C increases by a factor.
    SpeedUp,
    /// A short queue: C increases slowly.
    Increase,
    /// A longer queue: C decreases slowly.
    Decrease,
    /// A long queue, in the algorithm of paper 002: C decreases by a factor.
    BackOff,
    /// A long queue, in the median algorithm: C is set by measurement.
    Measure,
    /// C returns to an earlier value.
    Return,
}

impl Step {
    /// Returns its name in status and logs.
    pub fn name(self) -> &'static str {
        match self {
            Step::Hold => "hold",
            Step::SpeedUp => "speed up",
            Step::Increase => "increase",
            Step::Decrease => "decrease",
            Step::BackOff => "back off",
            Step::Measure => "measure",
            Step::Return => "return",
        }
    }
}
