//! The specification of a key: its kind, its range, its default, its words.

use std::ops::RangeInclusive;

use super::file_table::FileTable;
use super::forms::Form;
use super::key::{KeyOf, Setting, Words};
use super::layers::Layers;
use super::problem::Refused;
use super::table::{ByNetwork, Curve, Default, Key, Kind, Listed, Part, Table};

/// What a key is, all but its name and documentation.
pub struct Spec<T> {
    kind: Kind,
    word: Option<&'static str>,
    told: Option<&'static str>,
    default: Default,
    fallback: Option<T>,
    meant: Option<fn(&str) -> Option<String>>,
}

impl<T> Spec<T> {
    fn new(kind: Kind) -> Spec<T> {
        Spec {
            kind,
            word: None,
            told: None,
            default: Default::Absent("none"),
            fallback: None,
            meant: None,
        }
    }

    /// The key must be given.
    pub fn required(self) -> Spec<T> {
        let default = Default::Required;
        Spec { default, ..self }
    }

    /// The table must have the key. If it is missing, a later check refuses the table, with a message of
    /// its own.
    pub fn checked(self) -> Spec<T> {
        let default = Default::Checked;
        Spec { default, ..self }
    }

    /// What holds if the key is absent.
    pub fn default(self, value: impl Into<Default>) -> Spec<T> {
        let default = value.into();
        Spec { default, ..self }
    }

    /// Sets the default of modern networks, which the phrase `networks` describes. The default that is set
    /// already remains the default of older networks.
    pub fn modern(self, value: impl Into<Default>, networks: &'static str) -> Spec<T> {
        // a table is made once
        let each = Box::leak(Box::new(ByNetwork {
            older: self.default,
            modern: value.into(),
            networks,
        }));
        let default = Default::ByNetwork(each);
        Spec { default, ..self }
    }

    /// What holds if no table gives the key, not even an outer one.
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
    pub fn or(self, it: &'static str) -> Spec<T> {
        let word = Some(it);
        Spec { word, ..self }
    }

    /// Replaces the range in messages by `it`, a noun phrase that follows the word `expected`.
    pub fn but(self, it: &'static str) -> Spec<T> {
        let told = Some(it);
        Spec { told, ..self }
    }

    /// What to say to somebody who gave this word, which is none of those that are allowed.
    pub fn hinting(self, meant: fn(&str) -> Option<String>) -> Spec<T> {
        let meant = Some(meant);
        Spec { meant, ..self }
    }

    /// As a key of a table.
    pub fn key(self, key: KeyOf<T>, doc: &'static str) -> Key {
        Key {
            name: key.name(),
            kind: self.kind,
            word: self.word,
            told: self.told,
            default: self.default,
            doc: doc.trim_ascii_start(),
            meant: self.meant,
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

    /// The same specification; it only ties its type to that of the key.
    pub fn name(self, _: KeyOf<T>) -> Spec<T> {
        self
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

/// A command of the shell, or a list of them.
pub fn commands<T>() -> Spec<T> {
    Spec::new(Kind::Commands)
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
    Spec::new(Kind::Count(range))
}

/// A number from 0 to below 1.
pub fn probability<T>() -> Spec<T> {
    Spec::new(Kind::Probability)
}

/// A number.
pub fn number<T>(range: RangeInclusive<f64>) -> Spec<T> {
    Spec::new(Kind::Number(range))
}

/// A level. [dB]
pub fn level<T>(range: RangeInclusive<f64>) -> Spec<T> {
    Spec::new(Kind::Level(range))
}

/// A duration, its range in nanoseconds.
pub fn duration<T>(range: RangeInclusive<u64>) -> Spec<T> {
    Spec::new(Kind::Duration(range))
}

/// A positive rate.
pub fn rate<T>() -> Spec<T> {
    Spec::new(Kind::Rate)
}

/// A rate that the file's preset lists.
pub fn listed<T>(listed: &'static Listed) -> Spec<T> {
    Spec::new(Kind::Listed(listed))
}

/// A number of bytes.
pub fn size<T>(range: RangeInclusive<u64>) -> Spec<T> {
    Spec::new(Kind::Size(range))
}

/// A length, its range in millimetres.
pub fn length<T>(range: RangeInclusive<u64>) -> Spec<T> {
    Spec::new(Kind::Length(range))
}

/// Times in order, in milliseconds.
pub fn times<T>() -> Spec<T> {
    Spec::new(Kind::Times)
}

/// A file of such times.
pub fn times_file<T>() -> Spec<T> {
    Spec::new(Kind::TimesFile)
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
    Spec::new(Kind::Shorthand(T::table, main.name()))
}

/// The same where the table is that of `W`, another way to write a `T`.
pub fn shorthand_as<T, W: FileTable, M>(main: KeyOf<M>) -> Spec<T> {
    Spec::new(Kind::Shorthand(W::table, main.name()))
}

/// Tables with free names.
pub fn tables<T: FileTable>() -> Spec<T> {
    Spec::new(Kind::Named(T::table))
}

/// Tables by place, or bare values that stand for their key `main`.
pub fn by_place<T: FileTable, M>(main: KeyOf<M>) -> Spec<T> {
    Spec::new(Kind::ByPlace(T::table, main.name()))
}

/// Parts of a table, as [`table!`](crate::table) puts them together.
#[derive(Default)]
pub struct Parts(Vec<Part>);

impl Parts {
    /// Adds a key of the table's own.
    pub fn own(&mut self, key: Key) {
        self.push(key, None);
    }

    /// Adds the keys of another table; absent ones are looked up in what `inherits` names, if it
    /// names something.
    pub fn all_of(&mut self, other: &Table, inherits: Option<&'static str>) {
        for (key, outer) in other.keys() {
            self.push(key.clone(), inherits.or(outer));
        }
    }

    fn push(&mut self, key: Key, inherits: Option<&'static str>) {
        match self.0.last_mut() {
            Some(part) if part.inherits == inherits => part.keys.to_mut().push(key),
            _ => self.0.push(Part {
                keys: vec![key].into(),
                inherits,
            }),
        }
    }

    /// The table of these parts.
    pub fn table(self, name: &'static str, doc: &'static str) -> Table {
        Table {
            name,
            doc: doc.trim_ascii_start(),
            parts: self.0.into(),
            elsewhere: &[],
        }
    }
}
