//! Texts of a JSON document. They are borrowed from the document where possible, so that a large
//! document needs little memory.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// A text of a JSON document. A value that is not a text is read as an empty text.
#[derive(Clone, Default)]
pub struct Text<'a>(Cow<'a, str>);

impl<'a> From<Cow<'a, str>> for Text<'a> {
    fn from(text: Cow<'a, str>) -> Text<'a> {
        Text(text)
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        #[cfg(test)]
        crate::growth::count();
        &self.0
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}
