//! Finds the bracket or quotation mark that is not closed in an invalid TOML text.
//!
//! The TOML parser itself reports errors in all lines from the unclosed bracket to the position
//! where it stops.

/// Returns the offset and the character of the opening bracket or quotation mark that is never
/// closed.
pub(crate) fn opener(text: &str) -> Option<(usize, char)> {
    let mut open: Vec<(usize, char)> = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        match c {
            '#' => at = text[at..].find('\n').map_or(text.len(), |end| at + end),
            '"' | '\'' => {
                let Some(end) = after_string(text, at, c) else {
                    return Some((at, c));
                };
                at = end;
                continue;
            }
            '{' | '[' => open.push((at, c)),
            '}' | ']' => {
                let (opened, partner) = open.pop()?;
                if (partner, c) != ('{', '}') && (partner, c) != ('[', ']') {
                    return Some((opened, partner));
                }
            }
            _ => {}
        }
        at += text[at..].chars().next().map_or(0, char::len_utf8);
    }
    open.first().copied()
}

/// Returns the offset after the string that begins at `start` with `quote`; `None` if the string is
/// not closed.
fn after_string(text: &str, start: usize, quote: char) -> Option<usize> {
    let long: String = [quote; 3].iter().collect();
    let is_long = text[start..].starts_with(&long);
    let end = if is_long { long } else { quote.to_string() };
    let mut at = start + end.len();
    while !text[at..].starts_with(&end) {
        let c = text[at..].chars().next()?;
        if c == '\n' && !is_long {
            return None;
        }
        at += c.len_utf8();
        if c == '\\' && quote == '"' {
            at += text[at..].chars().next()?.len_utf8();
        }
    }
    Some(at + end.len())
}
