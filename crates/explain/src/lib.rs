//! Explains a finished run: where packets wait, what limits each flow, and what to change.
//!
//! ```text
//! normalised scenario --+
//!                       +--> Facts --> calls, delays, limits, air
//! result of the run ----+          \-> the table of causes, with their edits and remedies
//! ```
//!
//! The crate reads JSON and returns JSON. It simulates nothing and depends on no other crate of
//! lasthop, so that the command line, Python and the page give the same explanation.

mod air;
mod calls;
mod delays;
mod edits;
mod facts;
mod limits;
mod rules;

use serde_json::{Value, json};

pub use crate::calls::{CALL_DELAY_P99_S, CALL_LOSS};
use crate::facts::Facts;
pub use crate::limits::FULL;

/// Explains a result.
///
/// `scenario` is the normalised scenario, and `answer` is the result object of `--json`. The value
/// is an object with the keys `calls`, `delays`, `limits`, `air` and `causes`. If the result lacks
/// the facts that a key needs, `air` is null, and any other key has an empty list.
pub fn explain(scenario: &Value, answer: &Value) -> Value {
    let facts = Facts::read(scenario, answer);
    json!({
        "calls": calls::calls(&facts),
        "delays": delays::delays(&facts),
        "limits": limits::limits(&facts),
        "air": air::air(&facts),
        "causes": rules::causes(&facts),
    })
}

/// Returns the table of causes. Each cause has an identifier, title, condition, edit, sentence and
/// objectives.
pub fn rules() -> Value {
    rules::table()
}
