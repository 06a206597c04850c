//! Access categories of EDCA.

use crate::notation::setting::{Json, Setting, Words};
use crate::notation::value::Value;

/// Access category (802.11 EDCA), lowest priority first. The higher category wins internal
/// collisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Background (AC_BK).
    Background,
    /// Best effort (AC_BE), which is also the category of the DCF.
    BestEffort,
    /// Video (AC_VI).
    Video,
    /// Voice (AC_VO).
    Voice,
}

impl Category {
    /// All categories, lowest priority first.
    pub const ALL: [Category; 4] = [
        Category::Background,
        Category::BestEffort,
        Category::Video,
        Category::Voice,
    ];

    /// Returns the name of the category in scenario files and results.
    pub const fn name(self) -> &'static str {
        match self {
            Category::Background => "background",
            Category::BestEffort => "best-effort",
            Category::Video => "video",
            Category::Voice => "voice",
        }
    }
}

/// Names of the categories in a scenario file, the default first.
impl Words for Category {
    const WORDS: &'static [&'static str] = &[
        Category::BestEffort.name(),
        Category::Background.name(),
        Category::Video.name(),
        Category::Voice.name(),
    ];
}

impl Setting for Category {
    fn of(value: &Value) -> Option<Category> {
        let Value::Word(word) = value else {
            return None;
        };
        let mut categories = Category::ALL.into_iter();
        categories.find(|category| category.name() == *word)
    }

    fn json(&self) -> Json {
        Json::from(self.name())
    }
}

impl From<Category> for crate::notation::table::Default {
    fn from(category: Category) -> Self {
        Self::Text(category.name())
    }
}
