//! The step of C that an estimator took.

use crate::words;

words! {
    /// A step of C.
    pub enum Step {
        /// No reply, or one that does not count: C does not change.
        Hold = "hold",
        /// No queue: C increases by a factor.
        SpeedUp = "speed up",
        /// A short queue: C increases slowly.
        Increase = "increase",
        /// A longer queue: C decreases slowly.
        Decrease = "decrease",
        /// A long queue, in the algorithm of paper 002: C decreases by a factor.
        BackOff = "back off",
        /// A long queue, in the median algorithm: C is set by measurement.
        Measure = "measure",
        /// C returns to an earlier value.
        Return = "return",
    }
}
