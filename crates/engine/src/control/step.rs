//! The step of C that an estimator took.

use crate::words;

words! {
    /// A step of C.
    pub enum Step {
        /// C does not change, because there is no reply, or because the reply is ignored.
        Hold = "hold",
        /// No queue: C increases by a factor.
        SpeedUp = "speed up",
        /// A short queue: C increases slowly.
        Increase = "increase",
        /// A longer queue: C decreases slowly.
        Decrease = "decrease",
        /// The queue is long, and the algorithm of paper 002 decreases C by a factor.
        BackOff = "back off",
        /// The queue is long, and the median algorithm sets C to a measured value.
        Measure = "measure",
        /// C returns to an earlier value.
        Return = "return",
    }
}
