//! Columns of text: as wide as their widest cell, counted in characters and not in bytes.

use super::fold::fold;
use super::paint::{Paint, Tone};

/// A piece of text with its tone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), tone: Tone::Plain }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, tone: Tone::Plain }
    }
}

/// A cell with a tone.
pub(crate) fn toned(tone: Tone, text: impl Into<String>) -> Cell {
    Cell { text: text.into(), tone }
}

/// Lines of columns with a heading; no trailing blanks.
pub(crate) fn columns(paint: Paint, heading: &[&str], rows: &[Vec<Cell>]) -> String {
    let heading: Vec<Cell> = heading.iter().map(|text| toned(Tone::Strong, *text)).collect();
    let rows: Vec<&Vec<Cell>> = std::iter::once(&heading).chain(rows).collect();
    let width = |index: usize| {
        let cells = rows.iter().filter_map(|row| row.get(index));
        cells.map(|cell| cell.text.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let filled = row.iter().rposition(|cell| !cell.text.is_empty()).map_or(0, |last| last + 1);
        for (index, cell) in row.iter().take(filled).enumerate() {
            text.push_str(&paint.text(cell.tone, &cell.text));
            if index + 1 < filled {
                let blanks = widths.get(index).copied().unwrap_or(0) + 2;
                text.extend(std::iter::repeat_n(' ', blanks - cell.text.chars().count()));
            }
        }
        text.push('\n');
    }
    text
}

/// Lines of `Key:  value`, all values at one column and folded to a terminal of `room` characters;
/// entries without a value are left out.
pub(crate) fn pairs(paint: Paint, room: usize, pairs: &[(&str, Cell)]) -> String {
    let shown = || pairs.iter().filter(|(_, value)| !value.text.is_empty());
    let width = shown().map(|(key, _)| key.chars().count()).max().unwrap_or(0) + 3;
    let mut text = String::new();
    for (key, value) in shown() {
        text.push_str(&paint.text(Tone::Strong, &format!("{key}:")));
        text.extend(std::iter::repeat_n(' ', width - key.chars().count() - 1));
        // On a terminal too narrow for two columns the terminal breaks the lines.
        let room = if room >= 2 * width { room - width } else { usize::MAX };
        for (index, line) in fold(&value.text, room).iter().enumerate() {
            if index > 0 {
                text.extend(std::iter::repeat_n(' ', width));
            }
            text.push_str(&paint.text(value.tone, line));
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_by_characters_and_colours_take_no_room() {
        let rows =
            [vec![toned(Tone::Good, "✔ a"), "x".into()], vec!["long name".into(), "".into()]];
        let plain = columns(Paint { on: false }, &["NAME", "STATE"], &rows);
        assert_eq!(plain, "NAME       STATE\n✔ a        x\nlong name\n");
        let painted = columns(Paint { on: true }, &["NAME", "STATE"], &rows);
        assert!(painted.contains("\x1b[32m✔ a\x1b[0m        x\n"), "{painted:?}");
    }

    #[test]
    fn a_long_value_goes_on_at_its_own_column() {
        let lines = [("Name", "a".into()), ("Why", "one two three".into())];
        let text = |room| pairs(Paint { on: false }, room, &lines);
        assert_eq!(text(usize::MAX), "Name:  a\nWhy:   one two three\n");
        assert_eq!(text(14), "Name:  a\nWhy:   one two\n       three\n");
        assert_eq!(text(10), text(usize::MAX));
    }
}
