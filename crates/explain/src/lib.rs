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
mod answer;
mod calls;
mod delays;
mod edits;
mod facts;
#[cfg(test)]
mod growth;
mod index;
mod json;
mod limits;
mod rules;
mod scenario;
mod text;

use std::fmt;

use serde_json::{Value, json};

use crate::answer::Answer;
pub use crate::calls::{CALL_DELAY_P99_S, CALL_LOSS};
use crate::facts::Facts;
use crate::json::{Json, Read};
pub use crate::limits::FULL;
use crate::scenario::Scenario;

/// An input that is not a JSON document of the expected form.
#[derive(Debug)]
pub struct NotJson {
    /// Name of the input: `scenario` or `answer`.
    pub input: &'static str,
    /// Message of the parser.
    pub message: String,
}

impl fmt::Display for NotJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: not JSON: {}", self.input, self.message)
    }
}

impl std::error::Error for NotJson {}

/// Explains a result.
///
/// `scenario` is the JSON of a normalised scenario, and `answer` is that of the result object of
/// `--json`. The value is an object with the keys `calls`, `delays`, `limits`, `air` and `causes`.
/// If the result lacks the facts that a key needs, `air` is null, and any other key has an empty
/// list.
///
/// `proceed` is called often. If it returns an error, the explanation stops.
///
/// # Errors
///
/// [`NotJson`], or the error of `proceed`.
pub fn explain<E: From<NotJson>>(
    scenario: &str,
    answer: &str,
    proceed: &mut dyn FnMut() -> Result<(), E>,
) -> Result<Value, E> {
    let scenario: Scenario<'_> = read("scenario", scenario)?;
    proceed()?;
    let answer: Answer<'_> = read("answer", answer)?;
    proceed()?;
    let facts = Facts::read(&scenario, &answer);
    proceed()?;
    Ok(json!({
        "calls": calls::calls(&facts),
        "delays": delays::delays(&facts),
        "limits": limits::limits(&facts),
        "air": air::air(&facts),
        "causes": rules::causes(&facts, proceed)?,
    }))
}

fn read<'a, T: Read<'a>>(input: &'static str, text: &'a str) -> Result<T, NotJson> {
    match serde_json::from_str(text) {
        Ok(json @ Json::Table(_)) => Ok(T::read(json)),
        Ok(_) => Err(NotJson {
            input,
            message: "expected an object".to_owned(),
        }),
        Err(error) => Err(NotJson {
            input,
            message: error.to_string(),
        }),
    }
}

/// Returns the table of causes. Each cause has an identifier, title, condition, edit, sentence and
/// objectives.
pub fn rules() -> Value {
    rules::table()
}
