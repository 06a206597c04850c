//! [`words!`](crate::words) and [`table!`](crate::table): settings declared once.

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

        impl From<$name> for $crate::notation::table::Default {
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

/// A table of the file, declared once: a struct, its keys with their kinds, ranges, defaults and
/// documentation, and its JSON.
///
/// The documentation of a field is that of its key. With a field may stand
///
/// - `as`: the key's name, where the field's name has a unit in it;
/// - `=>`: what holds if no table gives the key, from the fields above;
/// - `by`: a function of the layers that reads the field, where one key does not decide it alone;
/// - `json`: the name in the normalised scenario, where it is not the field's name with the unit of its
///   type.
///
/// Other entries are
///
/// - `within` before a field: a table inside, with a struct of its own.
/// - `beside` before a field: it has no key; whoever makes the struct fills it in. `apart`: it is not in
///   JSON either. `made`: a function of the layers makes it.
/// - `without` before the keys: names that one would look for, and what to say of each.
/// - `key`: a key without a field, such as a table that is read elsewhere.
/// - `all_of`: the keys of another table; `inherits` says where absent ones are looked up. `flat` before a
///   field: the keys of another table, with a field for its struct.
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
        $vis:vis struct $name:ident $(: $derive:ident)? in $table:literal $(without $beyond:path)? {
            $($body:tt)*
        }
    ) => {
        $crate::table! { @entry
            { [$($doc)+] $vis $name [$($derive)?] $table [$($beyond)?] } [] [] [] []
            $($body)*
        }
    };

    // a field that a function of the layers makes
    (@entry $head:tt [$($fields:tt)*] [$($keys:tt)*] [$($reads:tt)*] [$($jsons:tt)*]
        $(#[doc = $doc:literal])+ made $field:ident : $ty:ty = $by:path ; $($rest:tt)*
    ) => {
        $crate::table! { @entry $head
            [$($fields)* $(#[doc = $doc])+ pub $field: $ty,]
            [$($keys)*]
            [$($reads)* ($field made $by)]
            [$($jsons)*]
            $($rest)*
        }
    };
    // a field that has the keys of another table
    (@entry $head:tt [$($fields:tt)*] [$($keys:tt)*] [$($reads:tt)*] [$($jsons:tt)*]
        $(#[doc = $doc:literal])+ flat $field:ident : $ty:ty ; $($rest:tt)*
    ) => {
        $crate::table! { @entry $head
            [$($fields)* $(#[doc = $doc])+ pub $field: $ty,]
            [$($keys)* (all_of $ty, [])]
            [$($reads)* ($field flat $ty)]
            [$($jsons)* ($field flat $ty)]
            $($rest)*
        }
    };
    // a field that is no key
    (@entry $head:tt [$($fields:tt)*] [$($keys:tt)*] [$($reads:tt)*] [$($jsons:tt)*]
        $(#[doc = $doc:literal])+ beside $field:ident : $ty:ty $(, json $json:literal)? = $value:expr ; $($rest:tt)*
    ) => {
        $crate::table! { @entry $head
            [$($fields)* $(#[doc = $doc])+ pub $field: $ty,]
            [$($keys)*]
            [$($reads)* ($field: $ty = $value)]
            [$($jsons)* ($field: $ty, [$($json)?])]
            $($rest)*
        }
    };
    // a field that is no key and does not show
    (@entry $head:tt [$($fields:tt)*] [$($keys:tt)*] [$($reads:tt)*] [$($jsons:tt)*]
        $(#[doc = $doc:literal])+ apart $field:ident : $ty:ty = $value:expr ; $($rest:tt)*
    ) => {
        $crate::table! { @entry $head
            [$($fields)* $(#[doc = $doc])+ pub $field: $ty,]
            [$($keys)*]
            [$($reads)* ($field: $ty = $value)]
            [$($jsons)*]
            $($rest)*
        }
    };
    // a table inside
    (@entry $head:tt [$($fields:tt)*] [$($keys:tt)*] [$($reads:tt)*] [$($jsons:tt)*]
        $(#[doc = $doc:literal])+ within $field:ident : $ty:ty = $spec:expr ; $($rest:tt)*
    ) => {
        $crate::table! { @entry $head
            [$($fields)* $(#[doc = $doc])+ pub $field: $ty,]
            [$($keys)* (own ($($doc)+) $field, stringify!($field), $ty, $spec)]
            [$($reads)* ($field within $ty)]
            [$($jsons)* ($field within $ty)]
            $($rest)*
        }
    };
    // a key without a field
    (@entry $head:tt [$($fields:tt)*] [$($keys:tt)*] [$($reads:tt)*] [$($jsons:tt)*]
        $(#[doc = $doc:literal])+ key $field:ident $(as $key:literal)? : $ty:ty = $spec:expr ; $($rest:tt)*
    ) => {
        $crate::table! { @entry $head
            [$($fields)*]
            [$($keys)* (own ($($doc)+) $field, $crate::key_name!($field $($key)?), $ty, $spec)]
            [$($reads)*]
            [$($jsons)*]
            $($rest)*
        }
    };
    // the keys of another table
    (@entry $head:tt [$($fields:tt)*] [$($keys:tt)*] [$($reads:tt)*] [$($jsons:tt)*]
        all_of $other:ty $(, inherits $from:literal)? ; $($rest:tt)*
    ) => {
        $crate::table! { @entry $head
            [$($fields)*]
            [$($keys)* (all_of $other, [$($from)?])]
            [$($reads)*]
            [$($jsons)*]
            $($rest)*
        }
    };
    // a field with its key, read in a way of its own
    (@entry $head:tt [$($fields:tt)*] [$($keys:tt)*] [$($reads:tt)*] [$($jsons:tt)*]
        $(#[doc = $doc:literal])+ $field:ident $(as $key:literal)? : $ty:ty = $spec:expr , by $by:path ; $($rest:tt)*
    ) => {
        $crate::table! { @entry $head
            [$($fields)* $(#[doc = $doc])+ pub $field: $ty,]
            [$($keys)* (own ($($doc)+) $field, $crate::key_name!($field $($key)?), $ty, $spec)]
            [$($reads)* ($field made $by)]
            [$($jsons)* ($field: $ty, [])]
            $($rest)*
        }
    };
    // a field with its key
    (@entry $head:tt [$($fields:tt)*] [$($keys:tt)*] [$($reads:tt)*] [$($jsons:tt)*]
        $(#[doc = $doc:literal])+ $field:ident $(as $key:literal)? : $ty:ty $(, json $json:literal)? = $spec:expr $(=> $unsaid:expr)? ; $($rest:tt)*
    ) => {
        $crate::table! { @entry $head
            [$($fields)* $(#[doc = $doc])+ pub $field: $ty,]
            [$($keys)* (own ($($doc)+) $field, $crate::key_name!($field $($key)?), $ty, $spec)]
            [$($reads)* ($field: $ty, $spec, [$($unsaid)?])]
            [$($jsons)* ($field: $ty, [$($json)?])]
            $($rest)*
        }
    };

    // all entries are sorted: the struct and what it can do
    (@entry
        { [$($doc:literal)+] $vis:vis $name:ident [$($derive:ident)?] $table:literal [$($beyond:path)?] }
        [$($fields:tt)*] [$($keys:tt)*] [$($reads:tt)*] [$($jsons:tt)*]
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
                        #[allow(unused_mut, reason = "it may have all keys that one would look for")]
                        let mut table = parts.table($table, concat!($($doc),+));
                        $( table.elsewhere = $beyond; )?
                        table
                    });
                &TABLE
            }

            #[allow(unused_variables, reason = "fields without a key are read from nothing")]
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

    (@const (all_of $($other:tt)*)) => {};
    (@const (own ($($doc:literal)+) $field:ident, $key:expr, $ty:ty, $spec:expr)) => {
        #[doc = concat!("Key `", stringify!($field), "`.")]
        pub const $field: $crate::notation::setting::KeyOf<$ty> =
            $crate::notation::setting::KeyOf::new($key);
    };

    (@part $into:ident, $name:ident, (own ($($doc:literal)+) $field:ident, $key:expr, $ty:ty, $spec:expr)) => {
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

/// The names of keys of tables, as a file has them.
macro_rules! keys {
    ($( $table:ident: $( $key:ident ),+ );+) => {
        [$( $( $table::$key.name() ),+ ),+]
    };
}
pub(crate) use keys;

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
