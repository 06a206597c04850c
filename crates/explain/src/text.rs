//! Texts and estimates of a JSON document. Texts are borrowed from the document where possible, so
//! that a large document needs little memory.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// A text of a JSON document. A value that is not a text is read as an empty text.
#[derive(Clone, Default)]
pub struct Text<'a>(Cow<'a, str>);

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

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text<'a>, D::Error> {
        Ok(match Entry::deserialize(deserializer)? {
            Entry::Text(text) => text,
            _ => Text::default(),
        })
    }
}

/// Mean and half width of the 95 % interval of a quantity.
#[derive(Default)]
pub struct Estimate {
    pub mean: Option<f64>,
    pub ci95: Option<f64>,
}

/// A value of an item of a result.
pub enum Entry<'a> {
    Text(Text<'a>),
    Estimate(Estimate),
    Other,
}

impl<'de: 'a, 'a> Deserialize<'de> for Entry<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entry<'a>, D::Error> {
        deserializer.deserialize_any(EntryVisitor)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = Entry<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Entry<'de>, E> {
        Ok(Entry::Text(Text(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Entry<'de>, E> {
        Ok(Entry::Text(Text(Cow::Owned(text.to_owned()))))
    }

    fn visit_unit<E>(self) -> Result<Entry<'de>, E> {
        Ok(Entry::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Entry<'de>, E> {
        Ok(Entry::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Entry<'de>, E> {
        Ok(Entry::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Entry<'de>, E> {
        Ok(Entry::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Entry<'de>, E> {
        Ok(Entry::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Entry<'de>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Entry::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Entry<'de>, A::Error> {
        let mut estimate = Estimate::default();
        while let Some(key) = entries.next_key::<Text<'de>>()? {
            match &*key {
                "mean" => estimate.mean = entries.next_value::<Value>()?.as_f64(),
                "ci95" => estimate.ci95 = entries.next_value::<Value>()?.as_f64(),
                _ => drop(entries.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Entry::Estimate(estimate))
    }
}
