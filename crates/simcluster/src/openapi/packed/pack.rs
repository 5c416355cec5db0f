//! Packs a text by pointing back to where it was said before. Done by the build script; nothing of
//! it is in the library.

/// The shortest repetition that is worth pointing to.
const LEAST: usize = 6;
/// How many earlier places are tried.
const TRIES: usize = 16;
const NOWHERE: usize = usize::MAX;

/// A run of pieces: the length of what is said for the first time, its bytes, the length of what is
/// said again, and how far back it is. The last piece has nothing that is said again.
pub(crate) fn pack(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut places = Places { newest: vec![NOWHERE; 1 << 16], older: vec![NOWHERE; text.len()] };
    let (mut at, mut said) = (0, 0);
    while at < text.len() {
        let (length, back) = places.longest(text, at);
        let mut end = at + 1;
        if length >= LEAST {
            number(at - said, &mut out);
            out.extend(&text[said..at]);
            number(length, &mut out);
            number(back, &mut out);
            end = at + length;
            said = end;
        }
        (at..end).for_each(|passed| places.note(text, passed));
        at = end;
    }
    number(text.len() - said, &mut out);
    out.extend(&text[said..]);
    out
}

/// Where four bytes with the same hash have been.
struct Places {
    newest: Vec<usize>,
    /// By place, the one before it.
    older: Vec<usize>,
}

impl Places {
    fn slot(text: &[u8], at: usize) -> Option<usize> {
        let four = text.get(at..at + 4)?.try_into().ok()?;
        Some((u32::from_le_bytes(four).wrapping_mul(0x9e37_79b1) >> 16) as usize)
    }

    fn note(&mut self, text: &[u8], at: usize) {
        if let Some(slot) = Self::slot(text, at) {
            self.older[at] = std::mem::replace(&mut self.newest[slot], at);
        }
    }

    /// The longest text from here on that was there before: its length, and how far back it is.
    fn longest(&self, text: &[u8], at: usize) -> (usize, usize) {
        let mut best = (0, 0);
        let Some(slot) = Self::slot(text, at) else { return best };
        let mut place = self.newest[slot];
        for _ in 0..TRIES {
            if place == NOWHERE {
                break;
            }
            let mut length = 0;
            while at + length < text.len() && text[place + length] == text[at + length] {
                length += 1;
            }
            if length > best.0 {
                best = (length, at - place);
            }
            place = self.older[place];
        }
        best
    }
}

/// Seven bits a byte, the lowest first; the eighth says that there are more.
fn number(mut number: usize, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
