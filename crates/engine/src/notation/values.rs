//! Rust types into which checked values of a file are converted.

use serde_json::json;

use super::key::{Json, Setting};
use super::value::Value;
use crate::kernel::time::Span;

/// Implements [`Setting`] for types whose JSON form is the plain value.
macro_rules! as_they_are {
    ($( $type:ty: |$value:ident| $setting:expr; )+) => { $(
        impl Setting for $type {
            fn of($value: &Value) -> Option<$type> {
                $setting
            }

            fn json(&self) -> Json {
                json!(self)
            }
        }
    )+ };
}

/// Returns the content of a value, if the value has one of the given kinds.
macro_rules! content {
    ($value:ident: $( $variant:ident )|+) => {
        if let $( Value::$variant(content) )|+ = $value {
            Some(content.clone())
        } else {
            None
        }
    };
}

as_they_are! {
    bool: |value| content!(value: Flag);
    u64: |value| content!(value: Count | Rate | Size);
    u32: |value| u64::of(value)?.try_into().ok();
    u8: |value| u64::of(value)?.try_into().ok();
    f64: |value| content!(value: Number);
    String: |value| content!(value: Text);
    Vec<String>: |value| content!(value: Names);
    Vec<u64>: |value| content!(value: Rates);
    Vec<(f64, f64)>: |value| content!(value: Points);
}

impl Setting for Span {
    const UNIT: &'static str = "_s";

    fn of(value: &Value) -> Option<Span> {
        content!(value: Duration)
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
        content!(value: Length).map(Millimetres)
    }

    fn json(&self) -> Json {
        json!(self.metres())
    }
}

impl Millimetres {
    /// Returns the length in metres. [m]
    pub fn metres(self) -> f64 {
        self.0 as f64 / 1e3
    }
}

/// A setting that may have no value. `None` means that the key is absent, or that the file gives a
/// word in place of the value.
impl<T: Setting> Setting for Option<T> {
    const UNIT: &'static str = T::UNIT;

    fn of(value: &Value) -> Option<Option<T>> {
        let setting = T::of(value).map(Some);
        setting.or(matches!(value, Value::Word(_)).then_some(None))
    }

    fn unsaid() -> Option<Option<T>> {
        Some(None)
    }

    fn json(&self) -> Json {
        self.as_ref().map_or(Json::Null, T::json)
    }
}
