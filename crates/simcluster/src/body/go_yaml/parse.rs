//! From tokens to the end of the first document: which token may follow which.

use std::collections::BTreeSet;

use super::Wrong;
use super::scan::{Scanner, Token};

/// How deep a document may be before nobody goes on.
const DEPTH: usize = 500;

pub(super) struct Parser {
    scanner: Scanner,
    anchors: BTreeSet<String>,
    depth: usize,
}

type Parsed = Result<(), Wrong>;

impl Parser {
    pub(super) fn new(text: &str) -> Self {
        Self { scanner: Scanner::new(text), anchors: BTreeSet::new(), depth: 0 }
    }

    /// Goes through the first document, and says on which line the next one begins: nobody reads the
    /// others.
    pub(super) fn document(&mut self) -> Result<Option<usize>, Wrong> {
        self.first()?;
        let line = self.line()?;
        Ok(match self.peek()? {
            Token::DocumentStart | Token::DocumentEnd | Token::Directive => Some(line),
            _ => None,
        })
    }

    fn first(&mut self) -> Parsed {
        let explicit = matches!(self.peek()?, Token::Directive | Token::DocumentStart);
        while self.peek()? == Token::Directive {
            self.scanner.skip();
        }
        match self.peek()? {
            Token::DocumentStart => self.scanner.skip(),
            Token::StreamEnd => return Ok(()),
            _ if explicit => return self.wrong("did not find expected <document start>", 0),
            _ => {}
        }
        let nothing =
            [Token::Directive, Token::DocumentStart, Token::DocumentEnd, Token::StreamEnd];
        if nothing.contains(&self.peek()?) {
            return Ok(());
        }
        self.node(true, false)
    }

    fn peek(&mut self) -> Result<Token, Wrong> {
        Ok(self.scanner.peek()?.0)
    }

    fn line(&mut self) -> Result<usize, Wrong> {
        Ok(self.scanner.peek()?.1)
    }

    fn wrong(&mut self, words: &str, within: usize) -> Parsed {
        let at = self.line()?;
        Err(Wrong { words: words.to_owned(), at, within, scanned: false })
    }

    fn is_one_of(&mut self, tokens: &[Token]) -> Result<bool, Wrong> {
        Ok(tokens.contains(&self.peek()?))
    }

    fn skipped(&mut self, token: &Token) -> Result<bool, Wrong> {
        let found = self.peek()? == *token;
        if found {
            self.scanner.skip();
        }
        Ok(found)
    }

    /// One value. In a block it may be a block; a list without indentation only as a mapping's value.
    fn node(&mut self, block: bool, indentless: bool) -> Parsed {
        self.depth += 1;
        let parsed = if self.depth > DEPTH { Ok(()) } else { self.any(block, indentless) };
        self.depth -= 1;
        parsed
    }

    fn any(&mut self, block: bool, indentless: bool) -> Parsed {
        let start = self.line()?;
        if let Token::Alias(name) = self.peek()? {
            self.scanner.skip();
            if self.anchors.contains(&name) {
                return Ok(());
            }
            let words = format!("unknown anchor '{name}' referenced");
            return Err(Wrong { words, at: 0, within: 0, scanned: false });
        }
        let mut marked = false;
        loop {
            match self.peek()? {
                Token::Anchor(name) => {
                    self.anchors.insert(name);
                }
                Token::Tag => {}
                _ => break,
            }
            marked = true;
            self.scanner.skip();
        }
        match self.peek()? {
            Token::BlockEntry if indentless => self.entries(false, start),
            Token::Scalar => {
                self.scanner.skip();
                Ok(())
            }
            Token::FlowSequence => self.flow_sequence(),
            Token::FlowMapping => self.flow_mapping(),
            Token::BlockSequence if block => {
                self.scanner.skip();
                self.entries(true, start)
            }
            Token::BlockMapping if block => {
                self.scanner.skip();
                self.block_mapping(start)
            }
            _ if marked => Ok(()),
            _ => self.wrong("did not find expected node content", start),
        }
    }

    fn entries(&mut self, indented: bool, start: usize) -> Parsed {
        while self.skipped(&Token::BlockEntry)? {
            let empty = if indented {
                self.is_one_of(&[Token::BlockEntry, Token::BlockEnd])?
            } else {
                let ends = [Token::BlockEntry, Token::Key, Token::Value, Token::BlockEnd];
                self.is_one_of(&ends)?
            };
            if !empty {
                self.node(true, false)?;
            }
        }
        if !indented || self.skipped(&Token::BlockEnd)? {
            return Ok(());
        }
        self.wrong("did not find expected '-' indicator", start)
    }

    fn block_mapping(&mut self, start: usize) -> Parsed {
        let ends = [Token::Key, Token::Value, Token::BlockEnd];
        loop {
            if self.skipped(&Token::BlockEnd)? {
                return Ok(());
            }
            if self.skipped(&Token::Key)? {
                if !self.is_one_of(&ends)? {
                    self.node(true, true)?;
                }
            } else {
                return self.wrong("did not find expected key", start);
            }
            if self.skipped(&Token::Value)? && !self.is_one_of(&ends)? {
                self.node(true, true)?;
            }
        }
    }

    fn flow_sequence(&mut self) -> Parsed {
        let start = self.line()?;
        self.scanner.skip();
        let mut first = true;
        loop {
            if self.skipped(&Token::FlowSequenceEnd)? {
                return Ok(());
            }
            if !first && !self.skipped(&Token::FlowEntry)? {
                return self.wrong("did not find expected ',' or ']'", start);
            }
            first = false;
            let ends = [Token::FlowEntry, Token::FlowSequenceEnd];
            if self.skipped(&Token::Key)? {
                if !self.is_one_of(&ends)? && self.peek()? != Token::Value {
                    self.node(false, false)?;
                }
                if self.skipped(&Token::Value)? && !self.is_one_of(&ends)? {
                    self.node(false, false)?;
                }
            } else if self.peek()? != Token::FlowSequenceEnd {
                self.node(false, false)?;
            }
        }
    }

    fn flow_mapping(&mut self) -> Parsed {
        let start = self.line()?;
        self.scanner.skip();
        let mut first = true;
        loop {
            if self.skipped(&Token::FlowMappingEnd)? {
                return Ok(());
            }
            if !first && !self.skipped(&Token::FlowEntry)? {
                return self.wrong("did not find expected ',' or '}'", start);
            }
            first = false;
            let ends = [Token::FlowEntry, Token::FlowMappingEnd];
            if self.skipped(&Token::Key)? {
                if !self.is_one_of(&ends)? && self.peek()? != Token::Value {
                    self.node(false, false)?;
                }
                if self.skipped(&Token::Value)? && !self.is_one_of(&ends)? {
                    self.node(false, false)?;
                }
            } else if self.peek()? != Token::FlowMappingEnd {
                self.node(false, false)?;
            }
        }
    }
}
