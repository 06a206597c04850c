//! All unsafe code: the functions that a page calls, and a run that owns its scenario.
//!
//! Texts and numbers are exchanged in WebAssembly's memory. The page requests memory with [`lasthop_room`], writes to
//! it, and calls a function. The text that a function stores is at [`lasthop_answer`] until the next call. A function
//! that fails returns 0 (or NaN instead of a time) and stores the reason.
#![allow(unsafe_code, reason = "the one place for it")]

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::ops::ControlFlow;

use lasthop_engine::kernel::time::Time;
use lasthop_engine::scenario::{Format, Scenario};
use lasthop_engine::{Detail, EngineError, Replication, Running};

use crate::{Bench, Written};

/// A replication in progress, together with the scenario that it reads.
pub struct Owned {
    /// Replication that reads `scenario`, and is dropped before the scenario.
    running: ManuallyDrop<Running<'static>>,
    /// Scenario as a pointer from a box. No other code changes or frees the scenario.
    scenario: *mut Scenario,
}

impl Owned {
    /// Creates replication number `replication` before its first event.
    ///
    /// # Errors
    /// The errors of [`Running::new`].
    pub fn new(scenario: Scenario, replication: u32, detail: Detail) -> Result<Owned, EngineError> {
        let scenario = Box::into_raw(Box::new(scenario));
        // SAFETY: the scenario is freed only after the end of `running`, and no mutable reference
        // to the scenario exists
        let read: &'static Scenario = unsafe { &*scenario };
        match Running::new(read, replication, detail) {
            Ok(running) => Ok(Owned {
                running: ManuallyDrop::new(running),
                scenario,
            }),
            Err(error) => {
                // SAFETY: the pointer is from the box above, and no other code reads the scenario any more
                drop(unsafe { Box::from_raw(scenario) });
                Err(error)
            }
        }
    }

    /// Advances the replication as [`Running::advance`] does.
    ///
    /// # Errors
    /// The errors of [`Running::advance`].
    pub fn advance(
        &mut self,
        look: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        self.running.advance(look)
    }

    /// Returns the simulated time of the replication.
    pub fn now(&self) -> Time {
        self.running.now()
    }

    /// Returns the scenario and the finished replication.
    ///
    /// # Errors
    /// The errors of [`Running::finish`].
    pub fn finish(self) -> Result<(Scenario, Replication), EngineError> {
        let mut own = ManuallyDrop::new(self);
        // SAFETY: `running` is taken only once, because `own` is never dropped
        let running = unsafe { ManuallyDrop::take(&mut own.running) };
        let yielded = running.finish();
        // SAFETY: the pointer is from the box of `new`, and its only reader has ended
        let scenario = unsafe { Box::from_raw(own.scenario) };
        Ok((*scenario, yielded?))
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: `running` is dropped only once, because `finish`, which also takes it, forgets
        // `self`. After this, no code reads the box of `new`.
        unsafe {
            ManuallyDrop::drop(&mut self.running);
            drop(Box::from_raw(self.scenario));
        }
    }
}

/// Memory through which the page and the worker exchange data.
#[derive(Default)]
struct Desk {
    bench: Bench,
    /// Input buffer: bytes that the page has written for the next call.
    room: Vec<u8>,
    answer: Vec<u8>,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

/// Calls `job` with the exchange memory.
fn at_desk<T>(job: impl FnOnce(&mut Desk) -> T) -> T {
    DESK.with_borrow_mut(job)
}

impl Desk {
    /// Stores the text that a function returns, or the text of its error.
    fn say<T>(
        &mut self,
        answered: Result<T, String>,
        failed: T,
        text: impl FnOnce(&T) -> Vec<u8>,
    ) -> T {
        match answered {
            Ok(value) => {
                self.answer = text(&value);
                value
            }
            Err(message) => {
                self.answer = message.into_bytes();
                failed
            }
        }
    }

    /// Stores the text of a result or of an error. Returns whether there was no error.
    fn store_answer(&mut self, answered: Result<String, String>) -> u32 {
        let (text, went_well) = match answered {
            Ok(text) => (text, 1),
            Err(message) => (message, 0),
        };
        self.answer = text.into_bytes();
        went_well
    }
}

/// Returns the scenario in the input buffer. The first `text_bytes` bytes are its text in TOML or, if `json` is 1,
/// JSON. The overrides follow.
fn written(room: &[u8], json: u32, text_bytes: usize) -> Written<'_> {
    let (text, settings) = room.split_at(text_bytes.min(room.len()));
    let format = match json {
        0 => Format::Toml,
        _ => Format::Json,
    };
    Written {
        text,
        format,
        settings,
    }
}

/// Returns the bytes in the input buffer as 8-byte numbers.
fn numbers(room: &[u8]) -> Vec<f64> {
    let (numbers, _) = room.as_chunks();
    let each = numbers.iter();
    each.map(|&number| f64::from_le_bytes(number)).collect()
}

/// Reserves `bytes` in the input buffer and returns their address. The page writes the bytes before the next call.
#[unsafe(no_mangle)]
pub extern "C" fn lasthop_room(bytes: usize) -> *mut u8 {
    at_desk(|desk| {
        desk.room.clear();
        desk.room.resize(bytes, 0);
        desk.room.as_mut_ptr()
    })
}

/// Returns the address of the last text or data that a function stored.
#[unsafe(no_mangle)]
pub extern "C" fn lasthop_answer() -> *const u8 {
    at_desk(|desk| desk.answer.as_ptr())
}

/// Returns the length of the last text or data that a function stored. [bytes]
#[unsafe(no_mangle)]
pub extern "C" fn lasthop_answer_bytes() -> usize {
    at_desk(|desk| desk.answer.len())
}

/// Checks the scenario in the input buffer. The first `text_bytes` bytes are its text in TOML or, if `json` is 1, JSON.
/// The overrides follow, one `key.path=value` per line. Stores the normalised scenario, or its problems.
#[unsafe(no_mangle)]
pub extern "C" fn lasthop_check(json: u32, text_bytes: usize) -> u32 {
    at_desk(|desk| {
        let checked = Bench::check(written(&desk.room, json, text_bytes));
        desk.store_answer(checked)
    })
}

/// Begins a replication of the scenario in the input buffer. The buffer has the format of [`lasthop_check`]. If
/// `with_tails` is 1, quantities that averages hide are measured too. Returns the number of the run.
#[unsafe(no_mangle)]
pub extern "C" fn lasthop_begin(
    json: u32,
    text_bytes: usize,
    replication: u32,
    with_tails: u32,
) -> u32 {
    at_desk(|desk| {
        let written = written(&desk.room, json, text_bytes);
        let detail = match with_tails {
            0 => Detail::Means,
            _ => Detail::Tails,
        };
        let begun = desk.bench.begin(written, replication, detail);
        desk.say(begun, 0, |_| Vec::new())
    })
}

/// Advances a run by some ten thousand events. Returns the simulated time. [s]
#[unsafe(no_mangle)]
pub extern "C" fn lasthop_advance(run: u32) -> f64 {
    at_desk(|desk| {
        let advanced = desk.bench.advance(run);
        desk.say(advanced, f64::NAN, |_| Vec::new())
    })
}

/// Returns whether a run has finished.
#[unsafe(no_mangle)]
pub extern "C" fn lasthop_is_over(run: u32) -> u32 {
    at_desk(|desk| desk.bench.is_over(run).into())
}

/// Stores the measurements of a finished run as 8-byte numbers.
#[unsafe(no_mangle)]
pub extern "C" fn lasthop_values(run: u32) -> u32 {
    at_desk(|desk| {
        let values = desk.bench.values(run).map(|values| {
            desk.answer = values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect();
        });
        match values {
            Ok(()) => 1,
            Err(message) => desk.store_answer(Err(message)),
        }
    })
}

/// Combines the values in the input buffer, which are the measurements of all replications in order. Stores the result
/// object of `--json`.
#[unsafe(no_mangle)]
pub extern "C" fn lasthop_combine(run: u32) -> u32 {
    at_desk(|desk| {
        let values = numbers(&desk.room);
        let combined = desk.bench.combine(run, &values);
        desk.store_answer(combined)
    })
}

/// Stores the explanation of the result of [`lasthop_combine`], for the values in the input buffer.
#[unsafe(no_mangle)]
pub extern "C" fn lasthop_explain(run: u32) -> u32 {
    at_desk(|desk| {
        let values = numbers(&desk.room);
        let explained = desk.bench.explain(run, &values);
        desk.store_answer(explained)
    })
}

/// Stores the time series of a finished run.
#[unsafe(no_mangle)]
pub extern "C" fn lasthop_series(run: u32) -> u32 {
    at_desk(|desk| {
        let series = desk.bench.series(run);
        desk.store_answer(series)
    })
}

/// Stores the distributions of a finished run.
#[unsafe(no_mangle)]
pub extern "C" fn lasthop_distributions(run: u32) -> u32 {
    at_desk(|desk| {
        let distributions = desk.bench.distributions(run);
        desk.store_answer(distributions)
    })
}

/// Stores the frames that begin at or after `from_s` and before `to_s`. [s]
#[unsafe(no_mangle)]
pub extern "C" fn lasthop_frames(run: u32, from_s: f64, to_s: f64) -> u32 {
    at_desk(|desk| {
        let frames = desk.bench.frames(run, from_s, to_s);
        desk.store_answer(frames)
    })
}

/// Ends a run and frees its memory.
#[unsafe(no_mangle)]
pub extern "C" fn lasthop_end(run: u32) {
    at_desk(|desk| desk.bench.end(run));
}
