//! What begins here: the letters that stand for structure.

use super::{Begun, Scanned, Scanner, Token, is_blank, is_break, is_gap, wide};

impl Scanner {
    pub(super) fn at_document(&self, letter: char) -> bool {
        self.mark.column == 0 && (0..3).all(|ahead| self.at(ahead) == letter) && is_gap(self.at(3))
    }

    pub(super) fn fetch(&mut self) -> Scanned {
        self.pass_space();
        self.unroll(wide(self.mark.column));
        let (first, second) = (self.at(0), self.at(1));
        let flow = self.in_flow();
        match first {
            '\0' => self.end(),
            '%' if self.mark.column == 0 => self.marker(Token::Directive, 0),
            '-' if self.at_document('-') => self.marker(Token::DocumentStart, 3),
            '.' if self.at_document('.') => self.marker(Token::DocumentEnd, 3),
            '[' => self.open(Token::FlowSequence),
            '{' => self.open(Token::FlowMapping),
            ']' => self.close(Token::FlowSequenceEnd),
            '}' => self.close(Token::FlowMappingEnd),
            ',' => {
                self.forget_key()?;
                self.may_begin = true;
                self.push_here(Token::FlowEntry, 1);
                Ok(())
            }
            '-' if is_gap(second) => self.entry(),
            '?' if flow || is_gap(second) => self.key(),
            ':' if flow || is_gap(second) => self.value(),
            '*' | '&' => self.anchor(first == '*'),
            '!' => {
                self.begin_key()?;
                self.may_begin = false;
                self.push_here(Token::Tag, 0);
                while !(is_gap(self.at(0)) || flow && matches!(self.at(0), ',' | ']' | '}')) {
                    self.advance();
                }
                Ok(())
            }
            '|' | '>' if !flow => self.block(),
            '\'' | '"' => self.quoted(first),
            _ => {
                let plain = !is_gap(first) && !"-?:,[]{}#&*!|>'\"%@`".contains(first)
                    || first == '-' && !is_blank(second)
                    || !flow && matches!(first, '?' | ':') && !is_gap(second);
                if plain {
                    return self.plain();
                }
                self.wrong("found character that cannot start any token", self.mark)
            }
        }
    }

    fn end(&mut self) -> Scanned {
        if self.mark.column != 0 {
            self.mark.column = 0;
            self.mark.line += 1;
        }
        self.unroll(-1);
        self.forget_key()?;
        self.may_begin = false;
        self.ended = true;
        self.push(Token::StreamEnd, self.mark.line);
        Ok(())
    }

    fn marker(&mut self, token: Token, length: usize) -> Scanned {
        self.unroll(-1);
        self.forget_key()?;
        self.may_begin = false;
        self.push_here(token, length);
        while length == 0 && !is_break(self.at(0)) && self.at(0) != '\0' {
            self.advance();
        }
        Ok(())
    }

    fn open(&mut self, token: Token) -> Scanned {
        self.begin_key()?;
        self.keys.push(Begun::default());
        self.may_begin = true;
        self.push_here(token, 1);
        Ok(())
    }

    fn close(&mut self, token: Token) -> Scanned {
        self.forget_key()?;
        if self.in_flow() {
            self.keys.pop();
        }
        self.may_begin = false;
        self.push_here(token, 1);
        Ok(())
    }

    fn entry(&mut self) -> Scanned {
        if !self.in_flow() {
            if !self.may_begin {
                let words = "block sequence entries are not allowed in this context";
                return self.wrong(words, self.mark);
            }
            self.roll(self.mark.column, None, Token::BlockSequence, self.mark.line);
        }
        self.forget_key()?;
        self.may_begin = true;
        self.push_here(Token::BlockEntry, 1);
        Ok(())
    }

    fn key(&mut self) -> Scanned {
        if !self.in_flow() {
            if !self.may_begin {
                return self.wrong("mapping keys are not allowed in this context", self.mark);
            }
            self.roll(self.mark.column, None, Token::BlockMapping, self.mark.line);
        }
        self.forget_key()?;
        self.may_begin = !self.in_flow();
        self.push_here(Token::Key, 1);
        Ok(())
    }

    fn value(&mut self) -> Scanned {
        let level = self.keys.len() - 1;
        if self.still_possible(level)? {
            let Begun { token, mark, .. } = self.keys[level];
            self.queue.insert(token - self.taken, (Token::Key, mark.line));
            self.roll(mark.column, Some(token), Token::BlockMapping, mark.line);
            self.keys[level].possible = false;
            self.may_begin = false;
        } else {
            if !self.in_flow() {
                if !self.may_begin {
                    return self.wrong("mapping values are not allowed in this context", self.mark);
                }
                self.roll(self.mark.column, None, Token::BlockMapping, self.mark.line);
            }
            self.may_begin = !self.in_flow();
        }
        self.push_here(Token::Value, 1);
        Ok(())
    }

    fn anchor(&mut self, alias: bool) -> Scanned {
        self.begin_key()?;
        self.may_begin = false;
        let start = self.mark;
        self.advance();
        let mut name = String::new();
        while self.at(0).is_ascii_alphanumeric() || matches!(self.at(0), '_' | '-') {
            name.push(self.at(0));
            self.advance();
        }
        if name.is_empty() || !(is_gap(self.at(0)) || "?:,]}%@`".contains(self.at(0))) {
            return self.wrong("did not find expected alphabetic or numeric character", start);
        }
        let token = if alias { Token::Alias(name) } else { Token::Anchor(name) };
        self.push(token, start.line);
        Ok(())
    }
}
