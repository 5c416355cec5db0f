//! Long sentences as lines of a terminal, broken between words.

/// The lines of a sentence, each at most `width` characters; a word that is longer is broken. At
/// least one line.
pub(crate) fn fold(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let blank = usize::from(used > 0);
        let length = word.chars().count();
        if used > 0 && used + blank + length > width {
            lines.push(String::new());
            used = 0;
        } else if used > 0 {
            lines.last_mut().expect("never empty").push(' ');
            used += 1;
        }
        for c in word.chars() {
            if used == width {
                lines.push(String::new());
                used = 0;
            }
            lines.last_mut().expect("never empty").push(c);
            used += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_broken_between_words_and_a_long_word_within() {
        fn check(text: &str, width: usize, expect: &[&str]) {
            assert_eq!(fold(text, width), expect, "{text:?}");
        }
        check("", 5, &[""]);
        check("a bc", 5, &["a bc"]);
        check("ab cd ef", 5, &["ab cd", "ef"]);
        check("ab cdefghij k", 5, &["ab", "cdefg", "hij k"]);
        check("□□ ■■", 4, &["□□", "■■"]);
        check("a b", 0, &["a", "b"]);
    }
}
