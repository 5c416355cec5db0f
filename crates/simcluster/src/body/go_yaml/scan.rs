//! From text to tokens, looking ahead as far as a key on one line may need it.

use std::collections::VecDeque;

use super::Wrong;

/// How far a key may be from its colon.
const KEY_LENGTH: usize = 1024;

/// What a token is; the text only where the parser needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    StreamEnd,
    Directive,
    DocumentStart,
    DocumentEnd,
    BlockSequence,
    BlockMapping,
    BlockEnd,
    FlowSequence,
    FlowSequenceEnd,
    FlowMapping,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(String),
    Anchor(String),
    Tag,
    Scalar,
}

#[derive(Clone, Copy, Default)]
struct Mark {
    index: usize,
    line: usize,
    column: usize,
}

/// A place where a key may have begun.
#[derive(Clone, Copy, Default)]
struct Begun {
    possible: bool,
    required: bool,
    token: usize,
    mark: Mark,
}

pub(super) struct Scanner {
    text: Vec<char>,
    mark: Mark,
    queue: VecDeque<(Token, usize)>,
    /// How many tokens have been taken.
    taken: usize,
    indent: isize,
    indents: Vec<isize>,
    /// One for each flow level, the last is the current one.
    keys: Vec<Begun>,
    may_begin: bool,
    ended: bool,
}

type Scanned = Result<(), Wrong>;

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

/// Space, break, or the end.
fn is_gap(c: char) -> bool {
    is_blank(c) || is_break(c) || c == '\0'
}

fn wide(column: usize) -> isize {
    isize::try_from(column).unwrap_or(isize::MAX)
}

impl Scanner {
    pub(super) fn new(text: &str) -> Self {
        Self {
            text: text.trim_start_matches('\u{feff}').chars().collect(),
            mark: Mark::default(),
            queue: VecDeque::new(),
            taken: 0,
            indent: -1,
            indents: Vec::new(),
            keys: vec![Begun::default()],
            may_begin: true,
            ended: false,
        }
    }

    /// The next token and its line.
    pub(super) fn peek(&mut self) -> Result<(Token, usize), Wrong> {
        loop {
            if let Some(head) = self.queue.front() {
                // As long as the head may still turn out to be a key, what follows decides.
                let head = head.clone();
                let begun =
                    self.keys.iter().position(|key| key.possible && key.token == self.taken);
                let open = match begun {
                    Some(level) => self.still_possible(level)?,
                    None => false,
                };
                if !open || self.ended {
                    return Ok(head);
                }
            }
            self.fetch()?;
        }
    }

    pub(super) fn skip(&mut self) {
        self.queue.pop_front();
        self.taken += 1;
    }

    fn at(&self, ahead: usize) -> char {
        self.text.get(self.mark.index + ahead).copied().unwrap_or('\0')
    }

    fn advance(&mut self) {
        self.mark.index += 1;
        self.mark.column += 1;
    }

    fn next_line(&mut self) {
        let both = self.at(0) == '\r' && self.at(1) == '\n';
        self.mark.index += if both { 2 } else { 1 };
        self.mark.line += 1;
        self.mark.column = 0;
    }

    fn wrong<T>(&self, words: &str, within: Mark) -> Result<T, Wrong> {
        let words = words.to_owned();
        Err(Wrong { words, at: self.mark.line, within: within.line, scanned: true })
    }

    fn in_flow(&self) -> bool {
        self.keys.len() > 1
    }

    fn push(&mut self, token: Token, line: usize) {
        self.queue.push_back((token, line));
    }

    fn push_here(&mut self, token: Token, length: usize) {
        self.push(token, self.mark.line);
        (0..length).for_each(|_| self.advance());
    }

    fn still_possible(&mut self, level: usize) -> Result<bool, Wrong> {
        let key = self.keys[level];
        if !key.possible {
            return Ok(false);
        }
        let far = key.mark.line < self.mark.line || key.mark.index + KEY_LENGTH < self.mark.index;
        if far && key.required {
            return self.wrong("could not find expected ':'", key.mark);
        }
        self.keys[level].possible = !far;
        Ok(!far)
    }

    fn forget_key(&mut self) -> Scanned {
        let level = self.keys.len() - 1;
        let key = self.keys[level];
        if key.possible && key.required {
            return self.wrong("could not find expected ':'", key.mark);
        }
        self.keys[level].possible = false;
        Ok(())
    }

    fn begin_key(&mut self) -> Scanned {
        if self.may_begin {
            let required = !self.in_flow() && self.indent == wide(self.mark.column);
            self.forget_key()?;
            let token = self.taken + self.queue.len();
            let level = self.keys.len() - 1;
            self.keys[level] = Begun { possible: true, required, token, mark: self.mark };
        }
        Ok(())
    }

    /// A deeper level begins: its token goes in front of the key that shows it.
    fn roll(&mut self, column: usize, before: Option<usize>, token: Token, line: usize) {
        if self.in_flow() || self.indent >= wide(column) {
            return;
        }
        self.indents.push(self.indent);
        self.indent = wide(column);
        match before {
            Some(number) => self.queue.insert(number - self.taken, (token, line)),
            None => self.push(token, line),
        }
    }

    fn unroll(&mut self, column: isize) {
        while !self.in_flow() && self.indent > column {
            self.push(Token::BlockEnd, self.mark.line);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    fn pass_space(&mut self) {
        loop {
            while self.at(0) == ' ' || (self.at(0) == '\t' && (self.in_flow() || !self.may_begin)) {
                self.advance();
            }
            if self.at(0) == '#' {
                while !is_break(self.at(0)) && self.at(0) != '\0' {
                    self.advance();
                }
            }
            if !is_break(self.at(0)) {
                return;
            }
            self.next_line();
            self.may_begin |= !self.in_flow();
        }
    }

    fn at_document(&self, letter: char) -> bool {
        self.mark.column == 0 && (0..3).all(|ahead| self.at(ahead) == letter) && is_gap(self.at(3))
    }

    fn fetch(&mut self) -> Scanned {
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

    fn block(&mut self) -> Scanned {
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

    fn quoted(&mut self, quote: char) -> Scanned {
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

    fn plain(&mut self) -> Scanned {
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
