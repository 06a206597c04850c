//! Forms of text that are not lasthop's own: addresses, interface names, paths.

use super::problem::one_line;

/// A form of text.
pub struct Form {
    /// The values it accepts, as a noun phrase that follows the word `expected`.
    pub expected: &'static str,
    /// Returns the fault of a text, as a phrase that follows it.
    pub fault: fn(&str) -> Option<String>,
    /// Regular expression of the form, as far as possible, for the schema.
    pub pattern: &'static str,
}

/// Returns the words of a list that are separated by blanks or commas.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    let separates = |c: char| c == ',' || c.is_whitespace();
    text.split(separates).filter(|word| !word.is_empty())
}

/// Returns the first fault of a list of words. An empty list is a fault.
pub fn fault_of_each(text: &str, fault: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut empty = true;
    for word in words(text) {
        empty = false;
        if let Some(fault) = fault(word) {
            return Some(if word == text {
                fault
            } else {
                format!("has `{}`, which {fault}", one_line(word, 40))
            });
        }
    }
    empty.then(|| "is empty".to_owned())
}
