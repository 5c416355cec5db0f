//! What Go's `encoding/json` says of a text that is no JSON, and how Go prints a value.

use crate::json::Value;

/// The first thing that is wrong with it.
pub(super) fn why(text: &[u8]) -> String {
    let mut scan = Scan { text, at: 0 };
    let found = scan.value().and_then(|()| scan.end());
    match found {
        Err(Wrong::End) | Ok(()) => "unexpected end of JSON input".to_owned(),
        Err(Wrong::At(byte, context)) => format!("invalid character {} {context}", quoted(byte)),
    }
}

enum Wrong {
    End,
    At(u8, String),
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

type Scanned = Result<(), Wrong>;

impl Scan<'_> {
    fn next(&mut self) -> Result<u8, Wrong> {
        let byte = self.text.get(self.at).copied().ok_or(Wrong::End)?;
        self.at += 1;
        Ok(byte)
    }

    /// The next byte that is no space.
    fn solid(&mut self) -> Result<u8, Wrong> {
        loop {
            match self.next()? {
                b' ' | b'\t' | b'\r' | b'\n' => {}
                byte => return Ok(byte),
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn end(&mut self) -> Scanned {
        match self.solid() {
            Err(_) => Ok(()),
            Ok(byte) => wrong(byte, "after top-level value"),
        }
    }

    fn value(&mut self) -> Scanned {
        let first = self.solid()?;
        self.value_from(first)
    }

    fn value_from(&mut self, first: u8) -> Scanned {
        match first {
            b'{' => self.object(),
            b'[' => self.array(),
            b'"' => self.string(),
            b'-' => match self.next()? {
                digit @ b'0'..=b'9' => self.number(digit),
                other => wrong(other, "in numeric literal"),
            },
            digit @ b'0'..=b'9' => self.number(digit),
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            other => wrong(other, "looking for beginning of value"),
        }
    }

    fn object(&mut self) -> Scanned {
        let mut next = self.solid()?;
        if next == b'}' {
            return Ok(());
        }
        loop {
            if next != b'"' {
                return wrong(next, "looking for beginning of object key string");
            }
            self.string()?;
            match self.solid()? {
                b':' => self.value()?,
                other => return wrong(other, "after object key"),
            }
            match self.solid()? {
                b'}' => return Ok(()),
                b',' => next = self.solid()?,
                other => return wrong(other, "after object key:value pair"),
            }
        }
    }

    fn array(&mut self) -> Scanned {
        let mut next = self.solid()?;
        if next == b']' {
            return Ok(());
        }
        loop {
            self.value_from(next)?;
            match self.solid()? {
                b']' => return Ok(()),
                b',' => next = self.solid()?,
                other => return wrong(other, "after array element"),
            }
        }
    }

    fn string(&mut self) -> Scanned {
        loop {
            match self.next()? {
                b'"' => return Ok(()),
                b'\\' => match self.next()? {
                    b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => {}
                    b'u' => {
                        for _ in 0..4 {
                            let digit = self.next()?;
                            if !digit.is_ascii_hexdigit() {
                                return wrong(digit, "in \\u hexadecimal character escape");
                            }
                        }
                    }
                    other => return wrong(other, "in string escape code"),
                },
                byte if byte < 0x20 => return wrong(byte, "in string literal"),
                _ => {}
            }
        }
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn digit(&mut self, context: &str) -> Scanned {
        match self.next()? {
            b'0'..=b'9' => Ok(()),
            other => wrong(other, context),
        }
    }

    fn number(&mut self, first: u8) -> Scanned {
        if first != b'0' {
            self.digits();
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digit("after decimal point in numeric literal")?;
            self.digits();
        }
        if self.peek().is_some_and(|byte| matches!(byte, b'e' | b'E')) {
            self.at += 1;
            if self.peek().is_some_and(|byte| matches!(byte, b'+' | b'-')) {
                self.at += 1;
            }
            self.digit("in exponent of numeric literal")?;
            self.digits();
        }
        Ok(())
    }

    fn literal(&mut self, word: &str) -> Scanned {
        for expected in word.bytes().skip(1) {
            let found = self.next()?;
            if found != expected {
                let expected = char::from(expected);
                return wrong(found, &format!("in literal {word} (expecting '{expected}')"));
            }
        }
        Ok(())
    }
}

fn wrong(byte: u8, context: &str) -> Scanned {
    Err(Wrong::At(byte, context.to_owned()))
}

/// A value as Go prints it.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let pairs: Vec<String> =
                map.iter().map(|(key, value)| format!("{key}:{}", shown(value))).collect();
            format!("map[{}]", pairs.join(" "))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", items.join(" "))
        }
        Value::String(text) => text.to_string(),
        Value::Null => "<nil>".to_owned(),
        other => other.to_string(),
    }
}

/// A byte as Go quotes it, each as the character of its number.
pub(crate) fn quoted(byte: u8) -> String {
    match byte {
        b'\'' => "'\\''".to_owned(),
        b'\\' => "'\\\\'".to_owned(),
        0x07 => "'\\a'".to_owned(),
        0x08 => "'\\b'".to_owned(),
        b'\t' => "'\\t'".to_owned(),
        b'\n' => "'\\n'".to_owned(),
        0x0b => "'\\v'".to_owned(),
        0x0c => "'\\f'".to_owned(),
        b'\r' => "'\\r'".to_owned(),
        0x00..=0x1f | 0x7f => format!("'\\x{byte:02x}'"),
        0x80..=0xa0 | 0xad => format!("'\\u{byte:04x}'"),
        _ => format!("'{}'", char::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said_in_the_words_of_go() {
        fn check(text: &str, expect: &str) {
            assert_eq!(why(text.as_bytes()), expect, "{text}");
        }
        check("", "unexpected end of JSON input");
        check("{", "unexpected end of JSON input");
        check("{\"a\":\"open", "unexpected end of JSON input");
        check("}", "invalid character '}' looking for beginning of value");
        check("nothing", "invalid character 'o' in literal null (expecting 'u')");
        check("{\"a\" 1}", "invalid character '1' after object key");
        check("{\"a\":1,}", "invalid character '}' looking for beginning of object key string");
        check("{\"a\":1]", "invalid character ']' after object key:value pair");
        check("[1 2]", "invalid character '2' after array element");
        check("[1,]", "invalid character ']' looking for beginning of value");
        check("{\"a\":01}", "invalid character '1' after object key:value pair");
        check("{\"a\":1.}", "invalid character '}' after decimal point in numeric literal");
        check("[-]", "invalid character ']' in numeric literal");
        check("[1e]", "invalid character ']' in exponent of numeric literal");
        check("{\"a\":\"\u{1}\"}", "invalid character '\\x01' in string literal");
        check("{\"a\":\"\\x\"}", "invalid character 'x' in string escape code");
        check("[\"\\u12x\"]", "invalid character 'x' in \\u hexadecimal character escape");
        check("{} {}", "invalid character '{' after top-level value");
    }
}
