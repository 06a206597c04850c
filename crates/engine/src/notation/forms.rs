//! Forms of text that others define: addresses, interface names, paths.

/// A form of text.
pub struct Form {
    /// What may stand there, as a text that follows the word `allowed`.
    pub allowed: &'static str,
    /// What is wrong with a text, as a phrase that follows it.
    pub fault: fn(&str) -> Option<String>,
    /// What of the form a regular expression can say, for the schema.
    pub pattern: &'static str,
}
