//! A long text that the build script has packed, so that the binary carries a third of it.

#[cfg(test)]
mod pack;

/// The text; `packed` is what `pack` made of it.
pub(super) fn unpack(packed: &[u8]) -> String {
    let mut text = Vec::new();
    let mut rest = packed;
    loop {
        let length = number(&mut rest);
        let (first, after) = rest.split_at(length);
        text.extend_from_slice(first);
        rest = after;
        if rest.is_empty() {
            return String::from_utf8(text).expect("it was a text that was packed");
        }
        let (mut length, back) = (number(&mut rest), number(&mut rest));
        // It may run into itself, and then goes on with what has just been said.
        while length > 0 {
            let (start, part) = (text.len() - back, length.min(back));
            text.extend_from_within(start..start + part);
            length -= part;
        }
    }
}

fn number(rest: &mut &[u8]) -> usize {
    let (mut number, mut shift) = (0, 0);
    while let Some((byte, after)) = rest.split_first() {
        *rest = after;
        number |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
        shift += 7;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, most: usize) {
        let packed = pack::pack(text.as_bytes());
        assert_eq!(unpack(&packed), text);
        assert!(packed.len() <= most, "{text:?} takes {} bytes", packed.len());
    }

    #[test]
    fn what_is_said_again_takes_no_room() {
        check("", 1);
        check("abc", 4);
        check(&"a".repeat(1000), 6);
        check(&"one and another; ".repeat(100), 22);
        check("übermäßig, übermäßig", 19);
    }

    proptest::proptest! {
        #[test]
        fn any_text_comes_out_as_it_went_in(text in "([ab]{0,20}|.{0,9}){0,30}") {
            proptest::prop_assert_eq!(unpack(&pack::pack(text.as_bytes())), text);
        }
    }

    #[test]
    fn the_schemas_are_packed_as_they_are_published() {
        let (packed, text) = (crate::openapi::published::PACKED, include_str!("../published.txt"));
        assert!(unpack(packed) == text);
        assert!(packed.len() * 3 < text.len(), "{} of {} bytes", packed.len(), text.len());
    }
}
