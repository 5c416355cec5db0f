//! Texts: literal, folded, quoted and plain ones.

use super::{Mark, Scanned, Scanner, Token, is_blank, is_break, is_gap, wide};

impl Scanner {
    pub(super) fn block(&mut self) -> Scanned {
        self.forget_key()?;
        self.may_begin = true;
        let start = self.mark;
        self.advance();
        let mut more = 0;
        for _ in 0..2 {
            match self.at(0) {
                '+' | '-' => self.advance(),
                '0' => return self.wrong("found an indentation indicator equal to 0", start),
                digit @ '1'..='9' if more == 0 => {
                    more = digit.to_digit(10).and_then(|n| isize::try_from(n).ok()).unwrap_or(0);
                    self.advance();
                }
                _ => {}
            }
        }
        while is_blank(self.at(0)) {
            self.advance();
        }
        if self.at(0) == '#' {
            while !is_break(self.at(0)) && self.at(0) != '\0' {
                self.advance();
            }
        }
        if !is_break(self.at(0)) && self.at(0) != '\0' {
            return self.wrong("did not find expected comment or line break", start);
        }
        if is_break(self.at(0)) {
            self.next_line();
        }
        let mut indent = if more > 0 { self.indent.max(0) + more } else { 0 };
        self.empty_lines(&mut indent, start)?;
        while wide(self.mark.column) == indent && self.at(0) != '\0' {
            while !is_break(self.at(0)) && self.at(0) != '\0' {
                self.advance();
            }
            if is_break(self.at(0)) {
                self.next_line();
            }
            self.empty_lines(&mut indent, start)?;
        }
        self.push(Token::Scalar, start.line);
        Ok(())
    }

    /// The indentation of a block's lines, found out with the first that has something in it.
    fn empty_lines(&mut self, indent: &mut isize, start: Mark) -> Scanned {
        let mut widest = 0;
        loop {
            let before = |scanner: &Self| *indent == 0 || wide(scanner.mark.column) < *indent;
            while before(self) && self.at(0) == ' ' {
                self.advance();
            }
            widest = widest.max(wide(self.mark.column));
            if before(self) && self.at(0) == '\t' {
                let words = "found a tab character where an indentation space is expected";
                return self.wrong(words, start);
            }
            if !is_break(self.at(0)) {
                break;
            }
            self.next_line();
        }
        if *indent == 0 {
            *indent = widest.max(self.indent + 1).max(1);
        }
        Ok(())
    }

    pub(super) fn quoted(&mut self, quote: char) -> Scanned {
        self.begin_key()?;
        self.may_begin = false;
        let start = self.mark;
        self.advance();
        loop {
            if self.at_document('-') || self.at_document('.') {
                return self.wrong("found unexpected document indicator", start);
            }
            match self.at(0) {
                '\0' if self.mark.index >= self.text.len() => {
                    return self.wrong("found unexpected end of stream", start);
                }
                '\'' if quote == '\'' && self.at(1) == '\'' => (0..2).for_each(|_| self.advance()),
                c if c == quote => break,
                '\\' if quote == '"' => self.escape(start)?,
                c if is_break(c) => self.next_line(),
                _ => self.advance(),
            }
        }
        self.advance();
        self.push(Token::Scalar, start.line);
        Ok(())
    }

    fn escape(&mut self, start: Mark) -> Scanned {
        let digits = match self.at(1) {
            c if is_break(c) => {
                self.advance();
                self.next_line();
                return Ok(());
            }
            'x' => 2,
            'u' => 4,
            'U' => 8,
            c if "0abt\tnvfre \"'/\\N_LP".contains(c) => 0,
            _ => return self.wrong("found unknown escape character", start),
        };
        (0..2).for_each(|_| self.advance());
        let mut number = 0_u32;
        for ahead in 0..digits {
            let Some(digit) = self.at(ahead).to_digit(16) else {
                return self.wrong("did not find expected hexdecimal number", start);
            };
            number = number.wrapping_mul(16).wrapping_add(digit);
        }
        if char::from_u32(number).is_none() {
            return self.wrong("found invalid Unicode character escape code", start);
        }
        (0..digits).for_each(|_| self.advance());
        Ok(())
    }

    pub(super) fn plain(&mut self) -> Scanned {
        self.begin_key()?;
        self.may_begin = false;
        let (start, indent) = (self.mark, self.indent + 1);
        let mut broken = false;
        loop {
            if self.at_document('-') || self.at_document('.') || self.at(0) == '#' {
                break;
            }
            while !is_gap(self.at(0)) {
                let ends = self.at(0) == ':' && is_gap(self.at(1))
                    || self.in_flow() && ",?[]{}".contains(self.at(0));
                if ends {
                    break;
                }
                broken = false;
                self.advance();
            }
            if !is_blank(self.at(0)) && !is_break(self.at(0)) {
                break;
            }
            while is_blank(self.at(0)) || is_break(self.at(0)) {
                if is_break(self.at(0)) {
                    broken = true;
                    self.next_line();
                    continue;
                }
                if broken && wide(self.mark.column) < indent && self.at(0) == '\t' {
                    let words = "found a tab character that violates indentation";
                    return self.wrong(words, start);
                }
                self.advance();
            }
            if !self.in_flow() && wide(self.mark.column) < indent {
                break;
            }
        }
        self.may_begin |= broken;
        self.push(Token::Scalar, start.line);
        Ok(())
    }
}
