//! Types that values of a file become.

use serde_json::json;

use super::key::{Json, Setting};
use super::value::Value;
use crate::kernel::time::Span;

/// Types whose values look the same in JSON as here.
macro_rules! as_they_are {
    ($( $type:ty: $( $variant:ident )|+; )+) => { $(
        impl Setting for $type {
            fn of(value: &Value) -> Option<$type> {
                match value {
                    $( Value::$variant(value) )|+ => Some(value.clone()),
                    _ => None,
                }
            }

            fn json(&self) -> Json {
                json!(self)
            }
        }
    )+ };
}

as_they_are! {
    bool: Flag;
    u64: Count | Rate | Size;
    f64: Number;
    String: Text;
    Vec<String>: Names;
    Vec<(f64, f64)>: Points;
}

impl Setting for u8 {
    fn of(value: &Value) -> Option<u8> {
        u64::of(value)?.try_into().ok()
    }

    fn json(&self) -> Json {
        json!(self)
    }
}

impl Setting for u32 {
    fn of(value: &Value) -> Option<u32> {
        u64::of(value)?.try_into().ok()
    }

    fn json(&self) -> Json {
        json!(self)
    }
}

impl Setting for Span {
    const UNIT: &'static str = "_s";

    fn of(value: &Value) -> Option<Span> {
        match value {
            Value::Duration(span) => Some(*span),
            _ => None,
        }
    }

    fn json(&self) -> Json {
        json!(self.seconds())
    }
}

/// A length. [mm]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Millimetres(pub u64);

impl Setting for Millimetres {
    const UNIT: &'static str = "_m";

    fn of(value: &Value) -> Option<Millimetres> {
        match value {
            Value::Length(mm) => Some(Millimetres(*mm)),
            _ => None,
        }
    }

    fn json(&self) -> Json {
        json!(self.metres())
    }
}

impl Millimetres {
    /// [m]
    pub fn metres(self) -> f64 {
        self.0 as f64 / 1e3
    }
}

/// A word in its place, and a key that is absent, mean `None`.
impl<T: Setting> Setting for Option<T> {
    const UNIT: &'static str = T::UNIT;

    fn of(value: &Value) -> Option<Option<T>> {
        match (T::of(value), value) {
            (Some(known), _) => Some(Some(known)),
            (None, Value::Word(_)) => Some(None),
            (None, _) => None,
        }
    }

    fn unsaid() -> Option<Option<T>> {
        Some(None)
    }

    fn json(&self) -> Json {
        self.as_ref().map_or(Json::Null, T::json)
    }
}
