//! From text to tokens, looking ahead as far as a key on one line may need it.

mod indicators;
mod scalars;

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
}
