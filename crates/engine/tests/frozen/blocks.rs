//! The files of this folder: blocks of lines under a head `=== NAME WORDS`.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

/// A block of a file.
pub struct Block {
    /// First word of its head.
    pub name: String,
    /// The other words: "json", "gateway".
    pub words: String,
    /// Lines `--- ORDER REST` before its text, by order.
    pub orders: Vec<(String, String)>,
    /// All other lines.
    pub text: String,
}

impl Block {
    /// Pairs of key path and value, as `--set` has them.
    pub fn settings(&self) -> Vec<(String, String)> {
        let given = self.orders.iter().filter(|(order, _)| order == "set");
        given
            .map(|(_, setting)| {
                let (path, value) = setting.split_once('=').expect("a setting KEY=VALUE");
                (path.to_owned(), value.to_owned())
            })
            .collect()
    }

    /// The text of the block that `self` is made of, with the changes that `self` orders.
    fn edited(&self, whole: &HashMap<&str, &Block>) -> String {
        let mut lines: Vec<String> = Vec::new();
        let mut last = 0;
        for (order, rest) in &self.orders {
            match order.as_str() {
                "set" => {}
                "of" => {
                    lines = whole[rest.as_str()]
                        .text
                        .lines()
                        .map(str::to_owned)
                        .collect()
                }
                "+" => {
                    lines[last].push('\n');
                    lines[last].push_str(rest);
                }
                number => {
                    last = number.parse::<usize>().expect("number of a line") - 1;
                    lines[last].clone_from(rest);
                }
            }
        }
        lines.join("\n") + "\n"
    }
}

/// Path of a file of this folder.
pub fn path(file: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/frozen");
    folder.join(file)
}

/// The text of a file of this folder; empty if there is none.
pub fn text(file: &str) -> String {
    fs::read_to_string(path(file)).unwrap_or_default()
}

/// The blocks of a file.
pub fn read(file: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for line in text(file).lines() {
        if let Some(head) = line.strip_prefix("=== ") {
            let (name, words) = head.split_once(' ').unwrap_or((head, ""));
            blocks.push(Block {
                name: name.to_owned(),
                words: words.to_owned(),
                orders: Vec::new(),
                text: String::new(),
            });
        } else if let Some(block) = blocks.last_mut() {
            if let Some(order) = line.strip_prefix("--- ") {
                let (order, rest) = order.split_once(' ').unwrap_or((order, ""));
                block.orders.push((order.to_owned(), rest.to_owned()));
            } else {
                block.text.push_str(line);
                block.text.push('\n');
            }
        }
    }
    blocks
}

/// The wrong files, each with its whole text.
pub fn wrong(scenarios: &[Block]) -> Vec<Block> {
    let whole = scenarios
        .iter()
        .map(|block| (block.name.as_str(), block))
        .collect();
    let mut blocks = read("wrong.txt");
    for block in &mut blocks {
        if block.text.is_empty() {
            block.text = block.edited(&whole);
        }
    }
    blocks
}
