//! Text formats that other standards define, such as addresses, interface names and file paths.

use super::problem::one_line;

/// A text format.
pub struct Form {
    /// Accepted texts, as a noun phrase that follows the word `expected` in messages.
    pub expected: &'static str,
    /// Function that returns the fault of a text, as a phrase that follows the text in a message;
    /// `None` for an accepted text.
    pub fault: fn(&str) -> Option<String>,
    /// Regular expression of the JSON Schema. The expression may accept some texts that `fault`
    /// refuses.
    pub pattern: &'static str,
}

/// Returns the words of a list that are separated by blanks or commas.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    let separates = |c: char| c == ',' || c.is_whitespace();
    text.split(separates).filter(|word| !word.is_empty())
}

/// Returns the first fault of a list of words, with `fault` as the check of each word. An empty
/// list has a fault too.
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
