//! A view that is redrawn in place on a terminal.

use std::io;

use crate::out::{Out, size};

/// What is on the terminal now.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    lines: usize,
}

impl Screen {
    /// Draws over what it drew before; what does not fit on the terminal is cut off.
    pub(crate) fn draw(&mut self, out: &mut Out, text: &str) -> io::Result<()> {
        let (width, height) = size();
        let mut frame = match self.lines {
            0 => String::new(),
            lines => format!("\x1b[{lines}F\x1b[J"),
        };
        let all: Vec<&str> = text.lines().collect();
        // The last line is the cursor's own.
        let room = height.saturating_sub(2).max(4);
        let shown = if all.len() > room { room - 1 } else { all.len() };
        for line in &all[..shown] {
            frame.push_str(&cut(line, width));
            frame.push('\n');
        }
        self.lines = shown;
        if shown < all.len() {
            frame.push_str(&format!("… {} more lines\n", all.len() - shown));
            self.lines += 1;
        }
        out.text(&frame)
    }
}

/// At most `width` characters of a line, the last one `…` where more were; colours take no room.
fn cut(line: &str, width: usize) -> String {
    let mut cut = String::with_capacity(line.len());
    let mut left = seen(line);
    let (mut room, mut colour) = (width, false);
    for c in line.chars() {
        if c == '\x1b' {
            colour = true;
        }
        if colour {
            colour = c != 'm';
        } else if room == 0 {
            continue;
        } else {
            room -= 1;
            left -= 1;
            if room == 0 && left > 0 {
                cut.push('…');
                continue;
            }
        }
        cut.push(c);
    }
    cut
}

/// How many characters of a line are seen.
fn seen(line: &str) -> usize {
    let mut colour = false;
    let seen = line.chars().filter(|c| {
        colour |= *c == '\x1b';
        let shown = !colour;
        colour &= *c != 'm';
        shown
    });
    seen.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_by_what_is_seen_and_colours_are_closed() {
        fn check(line: &str, width: usize, expect: &str) {
            assert_eq!(cut(line, width), expect, "{line:?}");
        }
        check("abc", 5, "abc");
        check("abcdef", 3, "ab…");
        check("abc", 3, "abc");
        check("\x1b[32mabcdef\x1b[0m", 3, "\x1b[32mab…\x1b[0m");
        check("\x1b[32mabc\x1b[0m", 3, "\x1b[32mabc\x1b[0m");
        check("■■■■", 2, "■…");
    }
}
