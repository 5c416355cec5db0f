//! The wire format: fields with a number, each a number or bytes.

/// What a field holds on the wire.
pub(super) enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Wire<'a> {
    pub(super) fn bytes(&self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Number(_) => None,
        }
    }

    pub(super) fn signed(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(i64::from_ne_bytes(number.to_ne_bytes())),
            Self::Bytes(_) => None,
        }
    }
}

/// The fields of a message in order; `None` when it is malformed.
pub(super) fn fields(mut rest: &[u8]) -> Option<Vec<(u64, Wire<'_>)>> {
    let mut out = Vec::new();
    while !rest.is_empty() {
        let tag = varint(&mut rest)?;
        let wire = match tag & 7 {
            0 => Wire::Number(varint(&mut rest)?),
            1 => Wire::Bytes(take(&mut rest, 8)?),
            2 => {
                let length = usize::try_from(varint(&mut rest)?).ok()?;
                Wire::Bytes(take(&mut rest, length)?)
            }
            5 => Wire::Bytes(take(&mut rest, 4)?),
            _ => return None,
        };
        out.push((tag >> 3, wire));
    }
    Some(out)
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut out = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, left) = rest.split_first()?;
        *rest = left;
        out |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(out);
        }
    }
    None
}
