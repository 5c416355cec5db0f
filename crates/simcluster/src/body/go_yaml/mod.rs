//! What Go's YAML parser says of a text that is no YAML.
//!
//! It is a port of libyaml, so its words are those of libyaml's scanner and parser. A text is gone
//! through as they go through it, for the sake of what they find first; nothing is kept of it.

mod parse;
mod scan;

/// The first document of a text; or the first thing that is wrong with it, with the line where the
/// parser names one.
pub(super) fn first(text: &str) -> Result<&str, String> {
    match parse::Parser::new(text).document() {
        Ok(None) => Ok(text),
        Ok(Some(line)) => {
            let length = text.split_inclusive('\n').take(line).map(str::len).sum();
            Ok(&text[..length])
        }
        Err(wrong) => Err(match wrong.line() {
            0 => wrong.words,
            line => format!("line {line}: {}", wrong.words),
        }),
    }
}

/// What is wrong, and where.
#[derive(Debug)]
struct Wrong {
    words: String,
    /// Lines counted from 0: of the thing itself, and of what it belongs to.
    at: usize,
    within: usize,
    /// Found by the scanner, which stands before the line that it counts.
    scanned: bool,
}

impl Wrong {
    /// The line as it is told; 0 where none is.
    fn line(&self) -> usize {
        match (self.at, self.scanned) {
            (0, _) => self.within,
            (at, true) => at + 1,
            (at, false) => at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::first;

    #[test]
    fn what_is_wrong_is_said_in_the_words_of_libyaml() {
        fn check(text: &str, expect: &str) {
            assert_eq!(first(text), Err(expect.to_owned()), "{text:?}");
        }
        check("a: [", "line 1: did not find expected node content");
        check("{", "line 1: did not find expected node content");
        check("\tmetadata: {}", "found character that cannot start any token");
        check("metadata:\n  name: b\n data: {}", "line 2: did not find expected key");
        check("a: &x 1\nb: *y", "unknown anchor 'y' referenced");
        check("a: b: c", "mapping values are not allowed in this context");
        check("a: 1\nb", "line 3: could not find expected ':'");
        check("a: 'x", "found unexpected end of stream");
        check("a: \"\\q\"", "found unknown escape character");
        check("a: [1, 2", "line 1: did not find expected ',' or ']'");
        check("a: {b: 1", "line 1: did not find expected ',' or '}'");
        check("- a\nb: 1", "line 1: did not find expected '-' indicator");
        check("a: @x", "found character that cannot start any token");
        check("a: - b", "block sequence entries are not allowed in this context");
        check("a: |\n\tb", "line 2: found a tab character where an indentation space is expected");
    }

    #[test]
    fn nothing_is_said_of_yaml() {
        for text in [
            "",
            "a",
            "a: b",
            "a:\n- 1\n- 2\n",
            "{a: [1, {b: c}], d: 'x''y'}",
            "a: |\n  b\n   c\nd: >-\n  e",
            "? a\n: b",
            "a: &x {k: 1}\nb: *x\n",
            "---\na: 1\n...\n",
            "%YAML 1.1\n---\na: !!str 1",
            "a: # why\n  b: \"\\u0041\"\n",
            "[a: b, ? c, d]",
            "a: b\n  c",
            "{\"apiVersion\":\"v1\",\"data\":{\"a:b\":\"c, d\"}}",
        ] {
            assert!(first(text).is_ok_and(|first| text.starts_with(first)), "{text:?}");
        }
    }

    #[test]
    fn only_the_first_document_is_read() {
        assert_eq!(first("a: 1\n---\nb: ["), Ok("a: 1\n"));
        assert_eq!(first("---\na: 1\n...\n]"), Ok("---\na: 1\n"));
    }
}
