//! The macros [`words!`](crate::words) and [`table!`](crate::table). The macros generate the struct
//! or enum of a setting, its keys in the grammar, and its JSON from one declaration.

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

        #[allow(dead_code, reason = "every such enum has these")]
        impl $name {
            /// All variants, in the order of the documentation.
            pub const ALL: [$name; [$( $word ),+].len()] = [$( $name::$variant ),+];

            /// Returns the word of the variant in files and results.
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

        impl From<$name> for $crate::notation::table::Default {
            fn from(word: $name) -> Self {
                Self::Text(word.name())
            }
        }

        impl $crate::notation::setting::Setting for $name {
            fn of(value: &$crate::notation::value::Value) -> Option<Self> {
                $( if let $crate::notation::value::Value::Added(word) = value {
                    return <$of>::of(word).map($name::$outside);
                } )?
                let $crate::notation::value::Value::Word(word) = value else {
                    return None;
                };
                Self::ALL.into_iter().find(|known| known.name() == *word)
            }

            fn json(&self) -> $crate::notation::setting::Json {
                $crate::notation::setting::Json::from(self.name())
            }
        }
    };
}

/// Declares a table of the file once: a struct, its keys with their kinds, ranges, defaults and
/// documentation, and its JSON.
///
/// The documentation of a field is that of its key. A field may have
///
/// - `as`: the name of the key, if the name of the field contains a unit;
/// - `fallback`: the value if no table has the key;
/// - `=>`: the value if no table has the key, computed from the fields above;
/// - `by`: a function that reads the field from the layers (the tables in which keys are looked
///   up), if the field depends on several keys;
/// - `json`: the name in the normalised scenario, if it is not the name of the field with the unit of its
///   type.
///
/// Other entries are
///
/// - `within` before a field: an inner table, with its own struct.
/// - `keyless` before a field: it has no key, and is set after the struct has been read. `hidden`:
///   it is also absent from JSON. `made`: a function that is given the layers computes it.
/// - `without` before the keys: keys that the table does not have, each with a hint.
/// - `key`: a key without a field, such as a table that is read elsewhere.
/// - `all_of`: the keys of another table. `inherits` names the table in which absent keys are looked up.
///   `flat` before a field: the keys of another table, with a field for its struct.
///
/// ```
/// use lasthop_engine::notation::setting::{count, number};
/// lasthop_engine::table! {
///     /// Parameters of Blue.
///     pub struct Blue: Copy in "blue" {
///         /// Increment of the drop probability when the queue overflows.
///         increment: f64 = number(0.0..=1.0).default(0.02);
///         /// Largest number of packets.
///         limit_packets as "limit": u32 = count(1..=1_000).depends("1000") => 1_000;
///     }
/// }
/// ```
#[macro_export]
macro_rules! table {
    (
        $(#[doc = $doc:literal])+
        $vis:vis struct $name:ident $(: $derive:ident)? in $table:literal $(without $beyond:path)? {
            $($body:tt)*
        }
    ) => {
        $crate::table! { @entry
            { [$($doc)+] $vis $name [$($derive)?] $table [$($beyond)?] } { [] [] [] [] }
            $($body)*
        }
    };

    // adds one entry to the lists of fields, keys, readers and JSON, and continues with the
    // remaining entries
    (@add $head:tt { [$($fields:tt)*] [$($keys:tt)*] [$($reads:tt)*] [$($jsons:tt)*] }
        { $($field:tt)* } { $($key:tt)* } { $($read:tt)* } { $($json:tt)* } $($rest:tt)*
    ) => {
        $crate::table! { @entry $head {
            [$($fields)* $($field)*] [$($keys)* $($key)*] [$($reads)* $($read)*] [$($jsons)* $($json)*]
        } $($rest)* }
    };

    // `made`: a field that is computed by a function, which is given the layers
    (@entry $head:tt $lists:tt
        $(#[doc = $doc:literal])+ made $field:ident : $ty:ty = $by:path ; $($rest:tt)*
    ) => {
        $crate::table! { @add $head $lists
            { $(#[doc = $doc])+ pub $field: $ty, } {} { ($field made $by) } {} $($rest)* }
    };
    // `flat`: a field with the keys of another table
    (@entry $head:tt $lists:tt
        $(#[doc = $doc:literal])+ flat $field:ident : $ty:ty ; $($rest:tt)*
    ) => {
        $crate::table! { @add $head $lists { $(#[doc = $doc])+ pub $field: $ty, }
            { (all_of $ty, []) } { ($field flat $ty) } { ($field flat $ty) } $($rest)* }
    };
    // `keyless`: a field without a key
    (@entry $head:tt $lists:tt
        $(#[doc = $doc:literal])+ keyless $field:ident : $ty:ty $(, json $json:literal)? = $value:expr ; $($rest:tt)*
    ) => {
        $crate::table! { @add $head $lists { $(#[doc = $doc])+ pub $field: $ty, } {}
            { ($field: $ty = $value) } { ($field: $ty, [$($json)?]) } $($rest)* }
    };
    // `hidden`: a field without a key that is also absent from JSON
    (@entry $head:tt $lists:tt
        $(#[doc = $doc:literal])+ hidden $field:ident : $ty:ty = $value:expr ; $($rest:tt)*
    ) => {
        $crate::table! { @add $head $lists
            { $(#[doc = $doc])+ pub $field: $ty, } {} { ($field: $ty = $value) } {} $($rest)* }
    };
    // `within`: an inner table
    (@entry $head:tt $lists:tt
        $(#[doc = $doc:literal])+ within $field:ident : $ty:ty = $spec:expr ; $($rest:tt)*
    ) => {
        $crate::table! { @add $head $lists { $(#[doc = $doc])+ pub $field: $ty, }
            { (own ($($doc)+) $field, stringify!($field), $ty, $spec) }
            { ($field within $ty) } { ($field within $ty) } $($rest)* }
    };
    // `key`: a key without a field
    (@entry $head:tt $lists:tt
        $(#[doc = $doc:literal])+ key $field:ident $(as $key:literal)? : $ty:ty = $spec:expr ; $($rest:tt)*
    ) => {
        $crate::table! { @add $head $lists
            {} { (own ($($doc)+) $field, $crate::key_name!($field $($key)?), $ty, $spec) } {} {} $($rest)* }
    };
    // `all_of`: the keys of another table
    (@entry $head:tt $lists:tt all_of $other:ty $(, inherits $from:literal)? ; $($rest:tt)*) => {
        $crate::table! { @add $head $lists {} { (all_of $other, [$($from)?]) } {} {} $($rest)* }
    };
    // `by`: a field with a key, which is read by a function that is given the layers
    (@entry $head:tt $lists:tt
        $(#[doc = $doc:literal])+ $field:ident $(as $key:literal)? : $ty:ty = $spec:expr , by $by:path ; $($rest:tt)*
    ) => {
        $crate::table! { @add $head $lists { $(#[doc = $doc])+ pub $field: $ty, }
            { (own ($($doc)+) $field, $crate::key_name!($field $($key)?), $ty, $spec) }
            { ($field made $by) } { ($field: $ty, []) } $($rest)* }
    };
    // `fallback`: a field with its key, and the value if no table has the key
    (@entry $head:tt $lists:tt
        $(#[doc = $doc:literal])+ $field:ident $(as $key:literal)? : $ty:ty $(, json $json:literal)? = $spec:expr , fallback $value:expr ; $($rest:tt)*
    ) => {
        $crate::table! { @add $head $lists { $(#[doc = $doc])+ pub $field: $ty, }
            { (own ($($doc)+) $field, $crate::key_name!($field $($key)?), $ty, $spec.fallback(&$value)) }
            { ($field: $ty, [$value]) } { ($field: $ty, [$($json)?]) } $($rest)* }
    };
    // a field with its key
    (@entry $head:tt $lists:tt
        $(#[doc = $doc:literal])+ $field:ident $(as $key:literal)? : $ty:ty $(, json $json:literal)? = $spec:expr $(=> $unsaid:expr)? ; $($rest:tt)*
    ) => {
        $crate::table! { @add $head $lists { $(#[doc = $doc])+ pub $field: $ty, }
            { (own ($($doc)+) $field, $crate::key_name!($field $($key)?), $ty, $spec) }
            { ($field: $ty, [$($unsaid)?]) } { ($field: $ty, [$($json)?]) } $($rest)* }
    };

    // no entries are left: defines the struct and its implementations
    (@entry
        { [$($doc:literal)+] $vis:vis $name:ident [$($derive:ident)?] $table:literal [$($beyond:path)?] }
        { [$($fields:tt)*] [$($keys:tt)*] [$($reads:tt)*] [$($jsons:tt)*] }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq $(, $derive)?)]
        $vis struct $name {
            $($fields)*
        }

        #[allow(non_upper_case_globals, dead_code, reason = "keys are named as their fields")]
        impl $name {
            $( $crate::table! { @const $keys } )*
        }

        impl $crate::notation::setting::FileTable for $name {
            fn table() -> &'static $crate::notation::table::Table {
                static TABLE: std::sync::LazyLock<$crate::notation::table::Table> =
                    std::sync::LazyLock::new(|| {
                        #[allow(unused_mut, reason = "a table may have no keys yet")]
                        let mut parts = $crate::notation::setting::Parts::default();
                        $( $crate::table! { @part parts, $name, $keys } )*
                        #[allow(unused_mut, reason = "most tables have no list of other keys")]
                        let mut table = parts.table($table, $crate::documentation!($($doc),+));
                        $( table.elsewhere = $beyond; )?
                        table
                    });
                &TABLE
            }

            #[allow(unused_variables, reason = "fields without a key are not read")]
            fn read(
                layers: &$crate::notation::layers::Layers,
            ) -> Result<Self, $crate::notation::problem::Refused> {
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

    (@const (all_of $($other:tt)*)) => {};
    (@const (own ($($doc:literal)+) $field:ident, $key:expr, $ty:ty, $spec:expr)) => {
        #[doc = concat!("Key `", stringify!($field), "`.")]
        pub const $field: $crate::notation::setting::KeyOf<$ty> =
            $crate::notation::setting::KeyOf::new($key);
    };

    (@part $into:ident, $name:ident, (own ($($doc:literal)+) $field:ident, $key:expr, $ty:ty, $spec:expr)) => {
        $into.own($spec.name($name::$field).key($name::$field, $crate::documentation!($($doc),+)));
    };
    (@part $into:ident, $name:ident, (all_of $other:ty, [$($from:literal)?])) => {
        $into.all_of(
            <$other as $crate::notation::setting::FileTable>::table(),
            [$($from)?].first().copied(),
        );
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
    (@read $name:ident, $layers:ident, [$($done:ident)*] ($field:ident: $ty:ty, [$($unsaid:expr)?]) $($rest:tt)*) => {{
        let $field = match $layers.setting($name::$field)? {
            Some(value) => value,
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
        $crate::notation::setting::put(
            &mut $into,
            &[$json],
            $crate::notation::setting::Setting::json(&$self.$field),
        );
    };
    (@json $self:ident, $into:ident, ($field:ident: $ty:ty, [])) => {
        $crate::notation::setting::put(
            &mut $into,
            &[stringify!($field), <$ty as $crate::notation::setting::Setting>::UNIT],
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
        $crate::notation::setting::put(
            &mut $into,
            &[stringify!($field)],
            $crate::notation::setting::FileTable::json(&$self.$field),
        );
    };
}

/// Generates an array with the names of the given keys, as written in a file. Each list of keys
/// follows the name of its table.
macro_rules! keys {
    ($( $table:ident: $( $key:ident ),+ );+) => {
        [$( $( $table::$key.name() ),+ ),+]
    };
}
pub(crate) use keys;

/// Returns the documentation of a key or table. An engine without the feature `docs` has only its
/// first phrase, which hints contain.
#[doc(hidden)]
#[macro_export]
macro_rules! documentation {
    ($($doc:literal),+) => {{
        const DOC: &str = concat!($($doc),+);
        const LENGTH: usize = $crate::notation::table::kept_length(DOC);
        const BYTES: [u8; LENGTH] = $crate::notation::table::first_bytes(DOC);
        match str::from_utf8(&BYTES) {
            Ok(doc) => doc,
            Err(_) => "",
        }
    }};
}

/// Returns the name of a key: the given name, or else the name of the field.
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
