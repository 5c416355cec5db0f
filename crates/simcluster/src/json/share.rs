//! Holding once what two trees have in common.

use super::{List, Map, Value};

impl Value {
    /// Takes each part that equals the same part of another tree from there, so that it is held once.
    /// Whether all of it does.
    ///
    /// What is shared with somebody already is compared as a whole and left as it is where it differs:
    /// to look into it would mean a copy.
    pub fn share(&mut self, other: &Value) -> bool {
        match (&mut *self, other) {
            (Value::Object(mine), Value::Object(theirs)) => share_maps(mine, theirs),
            (Value::Array(mine), Value::Array(theirs)) => share_lists(mine, theirs),
            (Value::String(mine), Value::String(theirs)) => {
                let same = mine == theirs;
                if same && !mine.is(theirs) {
                    *mine = theirs.clone();
                }
                same
            }
            (mine, theirs) => mine == theirs,
        }
    }
}

fn share_maps(mine: &mut Map, theirs: &Map) -> bool {
    if mine.is(theirs) {
        return true;
    }
    let mut same = mine.len() == theirs.len();
    if let Some(fields) = mine.own() {
        let mut others = theirs.iter().peekable();
        for (key, value) in fields.iter_mut() {
            while others.next_if(|(other, _)| *other < key).is_some() {}
            let Some((other, pattern)) = others.next_if(|(other, _)| *other == key) else {
                same = false;
                continue;
            };
            if !key.is(other) {
                *key = other.clone();
            }
            same &= value.share(pattern);
        }
        if !same {
            fields.shrink_to_fit();
        }
    } else {
        same = mine == theirs;
    }
    if same {
        *mine = theirs.clone();
    }
    same
}

fn share_lists(mine: &mut List, theirs: &List) -> bool {
    if mine.is(theirs) {
        return true;
    }
    let mut same = mine.len() == theirs.len();
    if let Some(items) = mine.own() {
        for (item, other) in items.iter_mut().zip(theirs) {
            same &= item.share(other);
        }
        if !same {
            items.shrink_to_fit();
        }
    } else {
        same = mine == theirs;
    }
    if same {
        *mine = theirs.clone();
    }
    same
}
