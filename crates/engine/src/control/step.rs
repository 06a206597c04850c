//! What an estimator of the capacity did with what it saw.

/// What was done with C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// No answer, or one that says nothing: C stays as it is.
    Hold,
    /// No queue: C grows by a factor.
    SpeedUp,
    /// A short queue: C grows slowly.
    Increase,
    /// A longer one: C falls slowly.
    Decrease,
    /// A long one, by the rule of paper 002: C falls by a factor.
    BackOff,
    /// A long one, by agreement: C is set by what was measured.
    Measure,
    /// C returns to where it was.
    Return,
}

impl Step {
    /// Its name in status and logs.
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
