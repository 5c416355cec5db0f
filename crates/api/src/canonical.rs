//! A hash of a JSON value that depends on nothing but the value: the same on every machine and in
//! every release, since it is stored in a status.

use serde_json::Value;

/// FNV-1a, 64 bits, over [`canonical`], as 16 hexadecimal digits.
///
/// Not meant against an adversary: it tells apart versions of one object.
pub fn fingerprint(value: &Value) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in canonical(value).bytes() {
        hash ^= u64::from(byte);
        hash = hash.wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}

/// JSON without blanks and with sorted keys, whatever map serde_json was built with.
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort_unstable();
            text.push('{');
            for (position, key) in keys.into_iter().enumerate() {
                if position > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write(&map[key], text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_are_sorted_at_every_depth() {
        let value = json!({"b": [{"y": 1, "x": "ü\""}], "a": null});
        assert_eq!(canonical(&value), r#"{"a":null,"b":[{"x":"ü\"","y":1}]}"#);
    }

    #[test]
    fn the_fingerprint_is_the_published_fnv_1a() {
        // FNV-1a of the two bytes `{}`, computed by hand from the published parameters.
        let mut expect: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in [0x7b_u64, 0x7d] {
            expect = (expect ^ byte).wrapping_mul(0x0100_0000_01b3);
        }
        assert_eq!(fingerprint(&json!({})), format!("{expect:016x}"));
        assert_eq!(fingerprint(&json!("a")).len(), 16);
    }

    #[test]
    fn a_string_and_a_number_have_different_fingerprints() {
        assert_ne!(fingerprint(&json!({"port": 80})), fingerprint(&json!({"port": "80"})));
    }
}
