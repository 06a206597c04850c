//! What values of a file become, and the specification of a key: its kind, its default, its words.

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use serde_json::json;

use super::decode;
use super::forms::Form;
use super::layers::Layers;
use super::problem::Refused;
use super::table::{Curve, Default, Key, Kind, Listed, Part, Table};
use super::value::Value;
use crate::kernel::time::Span;

/// A value of the normalised scenario.
pub use serde_json::Value as Json;

/// An object of the normalised scenario, its keys in order.
pub type JsonObject = serde_json::Map<String, Json>;

/// A microsecond. [ns]
pub const US: u64 = 1_000;
/// A millisecond. [ns]
pub const MS: u64 = 1_000_000;
/// A second. [ns]
pub const S: u64 = 1_000_000_000;

/// A type that a value of a file becomes.
pub trait Setting: Sized {
    /// What stands behind the name of such a setting in JSON: the unit that the type implies.
    const UNIT: &'static str = "";

    /// The meaning of a checked value; `None` if it is of another kind.
    fn of(value: &Value) -> Option<Self>;

    /// What it is if no table says it and it has no default.
    fn unsaid() -> Option<Self> {
        None
    }

    /// The setting in the normalised scenario.
    fn json(&self) -> Json;
}

/// An enum whose variants are words of the file; [`words!`](crate::words) makes them.
pub trait Words: Copy + 'static {
    /// The words, in the order of the documentation.
    const WORDS: &'static [&'static str];
}

/// A struct whose fields are settings of a table of the file; [`table!`](crate::table) makes them.
pub trait FileTable: Sized {
    /// The table's keys, kinds, defaults and documentation.
    fn table() -> &'static Table;

    /// The settings as the layers have them, each from the nearest that gives it.
    ///
    /// # Errors
    /// A value that is needed has been refused.
    fn read(layers: &Layers) -> Result<Self, Refused>;

    /// The settings in the normalised scenario, each with its unit in its name.
    fn json(&self) -> Json;

    /// The settings of a table that says nothing.
    ///
    /// # Errors
    /// A key of the table must be given.
    fn usual() -> Result<Self, Refused> {
        Self::read(&Layers(&[&decode::nothing(Self::table())]))
    }
}

/// The name of a key, and the type of what it says.
pub struct KeyOf<T> {
    name: &'static str,
    of: PhantomData<fn() -> T>,
}

impl<T> KeyOf<T> {
    /// The key of this name.
    pub const fn new(name: &'static str) -> KeyOf<T> {
        let of = PhantomData;
        KeyOf { name, of }
    }

    /// As the file has it.
    pub const fn name(self) -> &'static str {
        self.name
    }
}

impl<T> Clone for KeyOf<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for KeyOf<T> {}

/// What a key is, all but its name and documentation.
pub struct Spec<T> {
    kind: Kind,
    default: Default,
    fallback: Option<T>,
}

impl<T> Spec<T> {
    fn new(kind: Kind) -> Spec<T> {
        Spec {
            kind,
            default: Default::Absent("none"),
            fallback: None,
        }
    }

    /// The key must be given.
    pub fn required(self) -> Spec<T> {
        let default = Default::Required;
        Spec { default, ..self }
    }

    /// What holds if the key is absent.
    pub fn default(self, value: impl Into<Plain>) -> Spec<T> {
        let default = match (value.into(), &self.kind) {
            (Plain::Text(text), _) => Default::Text(text),
            (Plain::Count(count), _) => Default::Count(count),
            (Plain::Number(number), kind) if kind.is_probability() => Default::Probability(number),
            (Plain::Number(number), _) => Default::Number(number),
            (Plain::Flag(flag), _) => Default::Flag(flag),
        };
        Spec { default, ..self }
    }

    /// What holds if no table gives the key, an outer one neither.
    pub fn fallback(self, value: T) -> Spec<T>
    where
        T: Setting,
    {
        // a table is made once
        let shown: &'static str = Box::leak(value.json().to_string().into_boxed_str());
        let shown = shown.strip_suffix(".0").unwrap_or(shown);
        Spec {
            default: Default::Depends(shown),
            fallback: Some(value),
            ..self
        }
    }

    /// If the key is absent, something that depends on others holds, described here.
    pub fn depends(self, what: &'static str) -> Spec<T> {
        let default = Default::Depends(what);
        Spec { default, ..self }
    }

    /// If the key is absent, a value for each preset holds, told by this function.
    pub fn by_preset(self, told: fn() -> String) -> Spec<T> {
        let default = Default::Told(told);
        Spec { default, ..self }
    }

    /// If the key is absent, so is the thing, described here.
    pub fn absent(self, what: &'static str) -> Spec<T> {
        let default = Default::Absent(what);
        Spec { default, ..self }
    }

    /// This word may stand in the place of a value.
    pub fn or(mut self, it: &'static str) -> Spec<T> {
        match &mut self.kind {
            Kind::Number { word, .. }
            | Kind::Duration { word, .. }
            | Kind::Rate { word }
            | Kind::Size { word, .. } => *word = Some(it),
            Kind::Title
            | Kind::Name
            | Kind::Formed(_)
            | Kind::Flag
            | Kind::Count { .. }
            | Kind::Probability
            | Kind::Level { .. }
            | Kind::Listed(_)
            | Kind::Length { .. }
            | Kind::Names
            | Kind::Points(_)
            | Kind::Choice(_)
            | Kind::Table(_)
            | Kind::Shorthand { .. }
            | Kind::Named(_) => unreachable!("no word stands in the place of this kind: {it}"),
        }
        self
    }

    /// What is allowed in the place of the range of a count, to follow that word.
    pub fn but(mut self, it: &'static str) -> Spec<T> {
        if let Kind::Count { told, .. } = &mut self.kind {
            *told = Some(it);
        }
        self
    }

    /// As a key of a table.
    pub fn key(self, key: KeyOf<T>, doc: &'static str) -> Key {
        Key {
            name: key.name,
            kind: self.kind,
            default: self.default,
            doc: doc.trim_ascii_start(),
        }
    }

    /// What the layers say, or the fallback.
    ///
    /// # Errors
    /// The value has been refused.
    pub fn read(self, layers: &Layers, key: KeyOf<T>) -> Result<Option<T>, Refused>
    where
        T: Setting,
    {
        Ok(layers.value(key)?.or(self.fallback).or_else(T::unsaid))
    }

    /// The type of the key, without effect: a specification follows it.
    pub fn name(self, _: KeyOf<T>) -> Spec<T> {
        self
    }
}

/// A default as a table's author writes it.
pub enum Plain {
    /// Text: a word, or a value with its unit.
    Text(&'static str),
    /// A whole number.
    Count(u64),
    /// A number.
    Number(f64),
    /// A truth value.
    Flag(bool),
}

impl From<&'static str> for Plain {
    fn from(text: &'static str) -> Plain {
        Plain::Text(text)
    }
}

impl From<i32> for Plain {
    fn from(count: i32) -> Plain {
        Plain::Count(count.unsigned_abs().into())
    }
}

impl From<f64> for Plain {
    fn from(number: f64) -> Plain {
        Plain::Number(number)
    }
}

impl From<bool> for Plain {
    fn from(flag: bool) -> Plain {
        Plain::Flag(flag)
    }
}

/// One line of text.
pub fn title<T>() -> Spec<T> {
    Spec::new(Kind::Title)
}

/// A plain name.
pub fn name<T>() -> Spec<T> {
    Spec::new(Kind::Name)
}

/// A list of names.
pub fn names<T>() -> Spec<T> {
    Spec::new(Kind::Names)
}

/// Text of a form that others define.
pub fn formed<T>(form: &'static Form) -> Spec<T> {
    Spec::new(Kind::Formed(form))
}

/// true or false.
pub fn flag<T>() -> Spec<T> {
    Spec::new(Kind::Flag)
}

/// A whole number.
pub fn count<T>(range: RangeInclusive<u64>) -> Spec<T> {
    let (least, most) = range.into_inner();
    let told = None;
    Spec::new(Kind::Count { least, most, told })
}

/// A number from 0 to below 1.
pub fn probability<T>() -> Spec<T> {
    Spec::new(Kind::Probability)
}

/// A number.
pub fn number<T>(range: RangeInclusive<f64>) -> Spec<T> {
    let (least, most) = range.into_inner();
    let word = None;
    Spec::new(Kind::Number { least, most, word })
}

/// A level. [dB]
pub fn level<T>(range: RangeInclusive<f64>) -> Spec<T> {
    let (least, most) = range.into_inner();
    Spec::new(Kind::Level { least, most })
}

/// A duration, its range in nanoseconds.
pub fn duration<T>(range: RangeInclusive<u64>) -> Spec<T> {
    let (least, most) = range.into_inner();
    let word = None;
    Spec::new(Kind::Duration { least, most, word })
}

/// A positive rate.
pub fn rate<T>() -> Spec<T> {
    Spec::new(Kind::Rate { word: None })
}

/// A rate that the file's preset lists.
pub fn listed<T>(listed: &'static Listed) -> Spec<T> {
    Spec::new(Kind::Listed(listed))
}

/// A number of bytes.
pub fn size<T>(range: RangeInclusive<u64>) -> Spec<T> {
    let (least, most) = range.into_inner();
    let word = None;
    Spec::new(Kind::Size { least, most, word })
}

/// A length, its range in millimetres.
pub fn length<T>(range: RangeInclusive<u64>) -> Spec<T> {
    let (least, most) = range.into_inner();
    Spec::new(Kind::Length { least, most })
}

/// Points of a curve.
pub fn points<T>(curve: &'static Curve) -> Spec<T> {
    Spec::new(Kind::Points(curve))
}

/// One of the words of an enum.
pub fn word<T: Words>() -> Spec<T> {
    Spec::new(Kind::Choice(T::WORDS))
}

/// One of the words of an enum, or nothing.
pub fn word_or_none<T: Words>() -> Spec<Option<T>> {
    Spec::new(Kind::Choice(T::WORDS))
}

/// A table.
pub fn inner<T: FileTable>() -> Spec<T> {
    Spec::new(Kind::Table(T::table))
}

/// A table, or a bare value that stands for its key `main`.
pub fn shorthand<T: FileTable, M>(main: KeyOf<M>) -> Spec<T> {
    let (table, main) = (T::table as fn() -> &'static Table, main.name);
    Spec::new(Kind::Shorthand { table, main })
}

/// Tables with free names.
pub fn tables<T: FileTable>() -> Spec<T> {
    Spec::new(Kind::Named(T::table))
}

/// Parts of a table, as [`table!`](crate::table) puts them together.
#[derive(Default)]
pub struct Parts(Vec<Part>);

impl Parts {
    /// Adds a key of the table's own.
    pub fn own(&mut self, key: Key) {
        match self.0.last_mut() {
            Some(part) if part.inherits.is_none() => part.keys.to_mut().push(key),
            _ => self.0.push(Part {
                keys: vec![key].into(),
                inherits: None,
            }),
        }
    }

    /// Adds the keys of another table; absent ones are looked up in what `inherits` names, if it
    /// names something.
    pub fn all_of(&mut self, other: &Table, inherits: Option<&'static str>) {
        for (key, outer) in other.keys() {
            let inherits = inherits.or(outer);
            match self.0.last_mut() {
                Some(part) if part.inherits == inherits => part.keys.to_mut().push(key.clone()),
                _ => self.0.push(Part {
                    keys: vec![key.clone()].into(),
                    inherits,
                }),
            }
        }
    }

    /// The table of these parts.
    pub fn table(self, name: &'static str, doc: &'static str) -> Table {
        Table {
            name,
            doc: doc.trim_ascii_start(),
            parts: self.0.into(),
        }
    }
}

impl Setting for bool {
    fn of(value: &Value) -> Option<bool> {
        match value {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    fn json(&self) -> Json {
        json!(self)
    }
}

impl Setting for u64 {
    fn of(value: &Value) -> Option<u64> {
        match value {
            Value::Count(number) | Value::Rate(number) | Value::Size(number) => Some(*number),
            _ => None,
        }
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

impl Setting for f64 {
    fn of(value: &Value) -> Option<f64> {
        match value {
            Value::Probability(number) | Value::Number(number) => Some(*number),
            _ => None,
        }
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

impl Setting for String {
    fn of(value: &Value) -> Option<String> {
        match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    fn json(&self) -> Json {
        json!(self)
    }
}

impl Setting for Vec<String> {
    fn of(value: &Value) -> Option<Vec<String>> {
        match value {
            Value::Names(names) => Some(names.clone()),
            _ => None,
        }
    }

    fn json(&self) -> Json {
        json!(self)
    }
}

impl Setting for Vec<(f64, f64)> {
    fn of(value: &Value) -> Option<Vec<(f64, f64)>> {
        match value {
            Value::Points(points) => Some(points.clone()),
            _ => None,
        }
    }

    fn json(&self) -> Json {
        json!(self)
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

/// An enum whose variants are words of the file.
///
/// ```
/// lasthop_engine::words! {
///     /// When a backoff counter falls.
///     pub enum Countdown {
///         /// At the end of each idle slot.
///         Dcf = "dcf",
///         /// At the beginning of each slot.
///         Edca = "edca",
///     }
/// }
/// ```
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $word:literal, )+
            $( ; $(#[$outside_meta:meta])* $outside:ident($of:ty) )?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $vis enum $name {
            $( $(#[$variant_meta])* $variant, )+
            $( $(#[$outside_meta])* $outside($of), )?
        }

        #[allow(dead_code, reason = "what every such enum has")]
        impl $name {
            /// All of them, in the order of the documentation.
            pub const ALL: [$name; [$( $word ),+].len()] = [$( $name::$variant ),+];

            /// The word for it in files and results.
            pub const fn name(self) -> &'static str {
                match self {
                    $( $name::$variant => $word, )+
                    $( $name::$outside(part) => part.name(), )?
                }
            }
        }

        impl $crate::notation::setting::Words for $name {
            const WORDS: &'static [&'static str] = &[$( $word ),+];
        }

        impl From<$name> for $crate::notation::setting::Plain {
            fn from(word: $name) -> Self {
                Self::Text(word.name())
            }
        }

        impl $crate::notation::setting::Setting for $name {
            fn of(value: &$crate::notation::value::Value) -> Option<Self> {
                match value {
                    $( $crate::notation::value::Value::Word($word) => Some($name::$variant), )+
                    $( $crate::notation::value::Value::Added(word) => {
                        <$of>::of(word).map($name::$outside)
                    } )?
                    _ => None,
                }
            }

            fn json(&self) -> $crate::notation::setting::Json {
                $crate::notation::setting::Json::from(self.name())
            }
        }
    };
}

/// A table of the file: a struct, its keys, their kinds, ranges, defaults and documentation, and its
/// JSON, said once.
///
/// The documentation of a field is that of its key. `as` gives the key's name where the field has a
/// unit in its; `=>` what holds if nobody says it, from the fields above; `by` a function of the layers
/// that reads it where one key does not say all; `json` the name in the
/// normalised scenario where it is not that of the field with the unit of its type.
///
/// - `within` before a field: a table inside, with a struct of its own.
/// - `beside` before a field: no key; whoever makes the struct fills it in. `apart`: nor is it in JSON;
///   `made`: by a function of the layers.
/// - `key`: a key without a field, such as a table that is read elsewhere.
/// - `all_of`: the keys of another table, `inherits` from where; `flat` before a field: with a field.
///
/// ```
/// use lasthop_engine::notation::setting::{count, number};
/// lasthop_engine::table! {
///     /// Parameters of Blue.
///     pub struct Blue: Copy in "blue" {
///         /// What the drop probability grows by when the queue overflows.
///         increment: f64 = number(0.0..=1.0).default(0.02);
///         /// Most packets.
///         limit_packets as "limit": u32 = count(1..=1_000).depends("1000") => 1_000;
///     }
/// }
/// ```
#[macro_export]
macro_rules! table {
    (
        $(#[doc = $doc:literal])+
        $vis:vis struct $name:ident $(: $derive:ident)? in $table:literal {
            $($body:tt)*
        }
    ) => {
        $crate::table! { @entry
            { [$($doc)+] $vis $name [$($derive)?] $table } [] [] [] [] []
            $($body)*
        }
    };

    // a field that is made of the layers otherwise
    (@entry $head:tt [$($fields:tt)*] [$($consts:tt)*] [$($parts:tt)*] [$($reads:tt)*] [$($jsons:tt)*]
        $(#[doc = $doc:literal])+ made $field:ident : $ty:ty = $by:path ; $($rest:tt)*
    ) => {
        $crate::table! { @entry $head
            [$($fields)* $(#[doc = $doc])+ pub $field: $ty,]
            [$($consts)*]
            [$($parts)*]
            [$($reads)* ($field made $by)]
            [$($jsons)*]
            $($rest)*
        }
    };
    // a field that has the keys of another table
    (@entry $head:tt [$($fields:tt)*] [$($consts:tt)*] [$($parts:tt)*] [$($reads:tt)*] [$($jsons:tt)*]
        $(#[doc = $doc:literal])+ flat $field:ident : $ty:ty ; $($rest:tt)*
    ) => {
        $crate::table! { @entry $head
            [$($fields)* $(#[doc = $doc])+ pub $field: $ty,]
            [$($consts)*]
            [$($parts)* (all_of $ty, [])]
            [$($reads)* ($field flat $ty)]
            [$($jsons)* ($field flat $ty)]
            $($rest)*
        }
    };
    // a field that is no key
    (@entry $head:tt [$($fields:tt)*] [$($consts:tt)*] [$($parts:tt)*] [$($reads:tt)*] [$($jsons:tt)*]
        $(#[doc = $doc:literal])+ beside $field:ident : $ty:ty $(, json $json:literal)? = $value:expr ; $($rest:tt)*
    ) => {
        $crate::table! { @entry $head
            [$($fields)* $(#[doc = $doc])+ pub $field: $ty,]
            [$($consts)*]
            [$($parts)*]
            [$($reads)* ($field: $ty = $value)]
            [$($jsons)* ($field: $ty, [$($json)?])]
            $($rest)*
        }
    };
    // a field that is no key and does not show
    (@entry $head:tt [$($fields:tt)*] [$($consts:tt)*] [$($parts:tt)*] [$($reads:tt)*] [$($jsons:tt)*]
        $(#[doc = $doc:literal])+ apart $field:ident : $ty:ty = $value:expr ; $($rest:tt)*
    ) => {
        $crate::table! { @entry $head
            [$($fields)* $(#[doc = $doc])+ pub $field: $ty,]
            [$($consts)*]
            [$($parts)*]
            [$($reads)* ($field: $ty = $value)]
            [$($jsons)*]
            $($rest)*
        }
    };
    // a table inside
    (@entry $head:tt [$($fields:tt)*] [$($consts:tt)*] [$($parts:tt)*] [$($reads:tt)*] [$($jsons:tt)*]
        $(#[doc = $doc:literal])+ within $field:ident : $ty:ty = $spec:expr ; $($rest:tt)*
    ) => {
        $crate::table! { @entry $head
            [$($fields)* $(#[doc = $doc])+ pub $field: $ty,]
            [$($consts)* (($($doc)+) $field, stringify!($field), $ty)]
            [$($parts)* (own ($($doc)+) $field, $spec)]
            [$($reads)* ($field within $ty)]
            [$($jsons)* ($field within $ty)]
            $($rest)*
        }
    };
    // a key without a field
    (@entry $head:tt [$($fields:tt)*] [$($consts:tt)*] [$($parts:tt)*] [$($reads:tt)*] [$($jsons:tt)*]
        $(#[doc = $doc:literal])+ key $field:ident $(as $key:literal)? : $ty:ty = $spec:expr ; $($rest:tt)*
    ) => {
        $crate::table! { @entry $head
            [$($fields)*]
            [$($consts)* (($($doc)+) $field, $crate::key_name!($field $($key)?), $ty)]
            [$($parts)* (own ($($doc)+) $field, $spec)]
            [$($reads)*]
            [$($jsons)*]
            $($rest)*
        }
    };
    // the keys of another table
    (@entry $head:tt [$($fields:tt)*] [$($consts:tt)*] [$($parts:tt)*] [$($reads:tt)*] [$($jsons:tt)*]
        all_of $other:ty $(, inherits $from:literal)? ; $($rest:tt)*
    ) => {
        $crate::table! { @entry $head
            [$($fields)*]
            [$($consts)*]
            [$($parts)* (all_of $other, [$($from)?])]
            [$($reads)*]
            [$($jsons)*]
            $($rest)*
        }
    };
    // a field with its key, read in a way of its own
    (@entry $head:tt [$($fields:tt)*] [$($consts:tt)*] [$($parts:tt)*] [$($reads:tt)*] [$($jsons:tt)*]
        $(#[doc = $doc:literal])+ $field:ident $(as $key:literal)? : $ty:ty = $spec:expr , by $by:path ; $($rest:tt)*
    ) => {
        $crate::table! { @entry $head
            [$($fields)* $(#[doc = $doc])+ pub $field: $ty,]
            [$($consts)* (($($doc)+) $field, $crate::key_name!($field $($key)?), $ty)]
            [$($parts)* (own ($($doc)+) $field, $spec)]
            [$($reads)* ($field made $by)]
            [$($jsons)* ($field: $ty, [])]
            $($rest)*
        }
    };
    // a field with its key
    (@entry $head:tt [$($fields:tt)*] [$($consts:tt)*] [$($parts:tt)*] [$($reads:tt)*] [$($jsons:tt)*]
        $(#[doc = $doc:literal])+ $field:ident $(as $key:literal)? : $ty:ty $(, json $json:literal)? = $spec:expr $(=> $unsaid:expr)? ; $($rest:tt)*
    ) => {
        $crate::table! { @entry $head
            [$($fields)* $(#[doc = $doc])+ pub $field: $ty,]
            [$($consts)* (($($doc)+) $field, $crate::key_name!($field $($key)?), $ty)]
            [$($parts)* (own ($($doc)+) $field, $spec)]
            [$($reads)* ($field: $ty, $spec, [$($unsaid)?])]
            [$($jsons)* ($field: $ty, [$($json)?])]
            $($rest)*
        }
    };

    // all entries are sorted: the struct and what it can do
    (@entry { [$($doc:literal)+] $vis:vis $name:ident [$($derive:ident)?] $table:literal }
        [$($fields:tt)*] [$($consts:tt)*] [$($parts:tt)*] [$($reads:tt)*] [$($jsons:tt)*]
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq $(, $derive)?)]
        $vis struct $name {
            $($fields)*
        }

        #[allow(non_upper_case_globals, dead_code, reason = "keys are named as their fields")]
        impl $name {
            $( $crate::table! { @const $consts } )*
        }

        impl $crate::notation::setting::FileTable for $name {
            fn table() -> &'static $crate::notation::table::Table {
                static TABLE: std::sync::LazyLock<$crate::notation::table::Table> =
                    std::sync::LazyLock::new(|| {
                        #[allow(unused_mut, reason = "a table may have no keys yet")]
                        let mut parts = $crate::notation::setting::Parts::default();
                        $( $crate::table! { @part parts, $name, $parts } )*
                        parts.table($table, concat!($($doc),+))
                    });
                &TABLE
            }

            #[allow(unused_variables, reason = "fields beside the file are read from nothing")]
            fn read(
                layers: &$crate::notation::layers::Layers,
            ) -> Result<Self, $crate::notation::problem::Refused> {
                // before the fields, whose names may be those of what specifies them
                $crate::table! { @specs $name, [] [] $($reads)* }
                $crate::table! { @read $name, layers, [] $($reads)* }
            }

            fn json(&self) -> $crate::notation::setting::Json {
                #[allow(unused_mut, reason = "a table may have no fields")]
                let mut json = $crate::notation::setting::JsonObject::new();
                $( $crate::table! { @json self, json, $jsons } )*
                $crate::notation::setting::Json::Object(json)
            }
        }
    };

    (@const (($($doc:literal)+) $field:ident, $key:expr, $ty:ty)) => {
        #[doc = concat!("Key `", stringify!($field), "`.")]
        pub const $field: $crate::notation::setting::KeyOf<$ty> =
            $crate::notation::setting::KeyOf::new($key);
    };

    (@part $into:ident, $name:ident, (own ($($doc:literal)+) $field:ident, $spec:expr)) => {
        $into.own($spec.name($name::$field).key($name::$field, concat!($($doc),+)));
    };
    (@part $into:ident, $name:ident, (all_of $other:ty, [$($from:literal)?])) => {
        $into.all_of(
            <$other as $crate::notation::setting::FileTable>::table(),
            [$($from)?].first().copied(),
        );
    };

    (@specs $name:ident, [$($field:ident)*] [$($spec:expr,)*]) => {
        let ($($field,)*) = ($($spec.name($name::$field),)*);
    };
    (@specs $name:ident, [$($fields:tt)*] [$($specs:tt)*] ($field:ident: $ty:ty, $spec:expr, $unsaid:tt) $($rest:tt)*) => {
        $crate::table! { @specs $name, [$($fields)* $field] [$($specs)* $spec,] $($rest)* }
    };
    (@specs $name:ident, $fields:tt $specs:tt $other:tt $($rest:tt)*) => {
        $crate::table! { @specs $name, $fields $specs $($rest)* }
    };

    (@read $name:ident, $layers:ident, [$($done:ident)*]) => {
        Ok($name { $($done),* })
    };
    (@read $name:ident, $layers:ident, [$($done:ident)*] ($field:ident: $ty:ty = $value:expr) $($rest:tt)*) => {{
        let $field: $ty = $value;
        $crate::table! { @read $name, $layers, [$($done)* $field] $($rest)* }
    }};
    (@read $name:ident, $layers:ident, [$($done:ident)*] ($field:ident within $ty:ty) $($rest:tt)*) => {{
        let $field = <$ty as $crate::notation::setting::FileTable>::read(
            &$layers.inside($name::$field).layers(),
        )?;
        $crate::table! { @read $name, $layers, [$($done)* $field] $($rest)* }
    }};
    (@read $name:ident, $layers:ident, [$($done:ident)*] ($field:ident: $ty:ty, $spec:expr, [$($unsaid:expr)?]) $($rest:tt)*) => {{
        let $field = match $field.read($layers, $name::$field)? {
            Some(said) => said,
            None => $crate::table! { @unsaid $layers, $name::$field, $($unsaid)? },
        };
        $crate::table! { @read $name, $layers, [$($done)* $field] $($rest)* }
    }};

    (@read $name:ident, $layers:ident, [$($done:ident)*] ($field:ident made $by:path) $($rest:tt)*) => {{
        let $field = $by($layers)?;
        $crate::table! { @read $name, $layers, [$($done)* $field] $($rest)* }
    }};
    (@read $name:ident, $layers:ident, [$($done:ident)*] ($field:ident flat $ty:ty) $($rest:tt)*) => {{
        let $field = <$ty as $crate::notation::setting::FileTable>::read($layers)?;
        $crate::table! { @read $name, $layers, [$($done)* $field] $($rest)* }
    }};

    (@unsaid $layers:ident, $key:expr, $unsaid:expr) => { $unsaid };
    (@unsaid $layers:ident, $key:expr,) => { return Err($layers.lack($key)) };

    (@json $self:ident, $into:ident, ($field:ident: $ty:ty, [$json:literal])) => {
        $into.insert($json.to_owned(), $crate::notation::setting::Setting::json(&$self.$field));
    };
    (@json $self:ident, $into:ident, ($field:ident: $ty:ty, [])) => {
        $into.insert(
            [stringify!($field), <$ty as $crate::notation::setting::Setting>::UNIT].concat(),
            $crate::notation::setting::Setting::json(&$self.$field),
        );
    };
    (@json $self:ident, $into:ident, ($field:ident flat $ty:ty)) => {
        if let $crate::notation::setting::Json::Object(json) =
            $crate::notation::setting::FileTable::json(&$self.$field)
        {
            $into.extend(json);
        }
    };
    (@json $self:ident, $into:ident, ($field:ident within $ty:ty)) => {
        $into.insert(
            stringify!($field).to_owned(),
            $crate::notation::setting::FileTable::json(&$self.$field),
        );
    };
}

/// The name of a key: the one given, else that of the field.
#[doc(hidden)]
#[macro_export]
macro_rules! key_name {
    ($field:ident $key:literal) => {
        $key
    };
    ($field:ident) => {
        stringify!($field)
    };
}
