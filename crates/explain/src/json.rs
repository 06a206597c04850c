//! A JSON document as a tree, from which the structs of this crate are read.
//!
//! Only the tree is parsed by serde, so that the parser is compiled once and not for every struct.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::text::Text;

/// A JSON value. Its texts are borrowed from the document where possible.
pub enum Json<'a> {
    /// Null, a truth value or a number.
    Scalar(Value),
    Text(Text<'a>),
    List(Vec<Json<'a>>),
    /// Keys and values in the order of the document.
    Table(Vec<(Text<'a>, Json<'a>)>),
}

impl<'a> Json<'a> {
    /// Returns the keys and values of a table. Other values have none.
    pub fn entries(self) -> Vec<(Text<'a>, Json<'a>)> {
        match self {
            Json::Table(entries) => entries,
            _ => Vec::new(),
        }
    }
}

/// A type that is read from a JSON value. A value of another kind is read as the default.
pub trait Read<'a>: Default {
    /// Returns the value.
    fn read(json: Json<'a>) -> Self;
}

impl<'a> Read<'a> for Text<'a> {
    fn read(json: Json<'a>) -> Text<'a> {
        match json {
            Json::Text(text) => text,
            _ => Text::default(),
        }
    }
}

impl<'a, T: Read<'a>> Read<'a> for Option<T> {
    fn read(json: Json<'a>) -> Option<T> {
        match json {
            Json::Scalar(Value::Null) => None,
            json => Some(T::read(json)),
        }
    }
}

impl<'a, T: Read<'a>> Read<'a> for Vec<T> {
    fn read(json: Json<'a>) -> Vec<T> {
        match json {
            Json::List(items) => items.into_iter().map(T::read).collect(),
            _ => Vec::new(),
        }
    }
}

impl<'a> Read<'a> for Value {
    fn read(json: Json<'a>) -> Value {
        match json {
            Json::Scalar(value) => value,
            Json::Text(text) => Value::from(&*text),
            Json::List(items) => Value::Array(Read::read(Json::List(items))),
            Json::Table(entries) => {
                let entries = entries.into_iter();
                let entries = entries.map(|(key, json)| (key.to_string(), Value::read(json)));
                Value::Object(entries.collect::<Map<_, _>>())
            }
        }
    }
}

/// Defines a struct that is read from a JSON table. Each field has the name of its key. An absent
/// key has the default of its type.
macro_rules! table {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(<$life:lifetime>)? {
            $( $(#[$field_meta:meta])* pub $field:ident: $ty:ty, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Default)]
        pub struct $name $(<$life>)? {
            $( $(#[$field_meta])* pub $field: $ty, )+
        }

        impl<'a> $crate::json::Read<'a> for $name $(<$life>)? {
            fn read(json: $crate::json::Json<'a>) -> Self {
                let mut table = Self::default();
                for (key, json) in json.entries() {
                    match &*key {
                        $( stringify!($field) => table.$field = $crate::json::Read::read(json), )+
                        _ => {}
                    }
                }
                table
            }
        }
    };
}
pub(crate) use table;

impl<'de: 'a, 'a> Deserialize<'de> for Json<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json<'a>, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::Text(Text::from(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json<'de>, E> {
        Ok(Json::Text(Text::from(Cow::Owned(text.to_owned()))))
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Scalar(Value::Null))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Json<'de>, E> {
        Ok(Json::Scalar(Value::from(flag)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json<'de>, E> {
        Ok(Json::Scalar(Value::from(number)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json<'de>, E> {
        Ok(Json::Scalar(Value::from(number)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json<'de>, E> {
        Ok(Json::Scalar(Value::from(number)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json<'de>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json<'de>, A::Error> {
        let mut table = Vec::new();
        while let Some(Json::Text(key)) = entries.next_key()? {
            table.push((key, entries.next_value()?));
        }
        Ok(Json::Table(table))
    }
}
