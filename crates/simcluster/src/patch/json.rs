//! JSON patch (RFC 6902), with the liberties that the real server's library takes.

use crate::body;
use crate::error::ApiError;
use crate::json::Value;

/// One operation, as far as it could be read.
struct Operation<'a> {
    op: &'a str,
    path: Option<&'a str>,
    from: Option<&'a str>,
    value: &'a Value,
}

/// The document after the patch; 422 when an operation cannot be carried out or a test fails, 400 when
/// it is none.
///
/// What the real server allows beyond the standard: a path's text before its first slash counts for
/// nothing, `add` and `replace` without a value put `null`, `replace` and `copy` take what a map does not
/// have as `null`, an index may count from the end, and a `test` for `null` holds where nothing is.
pub fn apply(current: &Value, patch: &Value) -> Result<Value, ApiError> {
    let operations = patch.as_array().into_iter().flatten();
    let operations: Vec<Operation<'_>> = operations.map(read).collect::<Result<_, _>>()?;
    let mut out = current.clone();
    for operation in &operations {
        carry_out(&mut out, operation).ok_or_else(ApiError::unprocessable)?;
    }
    Ok(out)
}

fn read(operation: &Value) -> Result<Operation<'_>, ApiError> {
    let cannot = |found: &Value, into: &str| {
        let found = body::go_kind(found);
        ApiError::bad_request(format!(
            "error decoding patch: json: cannot unmarshal {found} into {into}"
        ))
    };
    if !operation.is_object() {
        return Err(cannot(operation, "Go value of type handlers.jsonPatchOp"));
    }
    let text = |field: &str| match &operation[field] {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.as_str())),
        other => Err(cannot(other, &format!("Go struct field jsonPatchOp.{field} of type string"))),
    };
    Ok(Operation {
        op: text("op")?.unwrap_or_default(),
        path: text("path")?,
        from: text("from")?,
        value: &operation["value"],
    })
}

/// `None` when it doesn't apply.
fn carry_out(document: &mut Value, operation: &Operation<'_>) -> Option<()> {
    let path = operation.path;
    match operation.op {
        "add" => add(place(document, path?)?, operation.value.clone()),
        "remove" => remove(place(document, path?)?).map(drop),
        "replace" => {
            let mut place = place(document, path?)?;
            get(&place)?;
            set(&mut place, operation.value.clone())
        }
        "move" => {
            let moved = remove(place(document, operation.from?)?)?;
            add(place(document, path?)?, moved)
        }
        "copy" => {
            let copied = get(&place(document, operation.from?)?)?;
            add(place(document, path?)?, copied)
        }
        "test" => (get(&place(document, path?)?)? == *operation.value).then_some(()),
        _ => None,
    }
}

/// A place in a map or a list, whether there is something or not.
enum Place<'a> {
    Key(&'a mut crate::json::Map, String),
    Index(&'a mut Vec<Value>, String),
}

fn place<'a>(document: &'a mut Value, path: &str) -> Option<Place<'a>> {
    let mut parts: Vec<String> =
        path.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")).collect();
    let last = parts.pop()?;
    let mut at = document;
    for part in parts {
        at = match at {
            Value::Object(map) => map.get_mut(&part)?,
            Value::Array(list) => {
                let index = index(&part, list.len())?;
                list.get_mut(index)?
            }
            _ => return None,
        };
    }
    match at {
        Value::Object(map) => Some(Place::Key(map, last)),
        Value::Array(list) => Some(Place::Index(list, last)),
        _ => None,
    }
}

/// An index from either end, which may be the one after the last.
fn index(text: &str, length: usize) -> Option<usize> {
    let number: isize = text.parse().ok()?;
    let from_start =
        if number < 0 { length.checked_add_signed(number)? } else { number.unsigned_abs() };
    (from_start <= length).then_some(from_start)
}

fn get(place: &Place<'_>) -> Option<Value> {
    match place {
        Place::Key(map, key) => Some(map.get(key).cloned().unwrap_or_default()),
        Place::Index(list, at) => list.get(index(at, list.len())?).cloned(),
    }
}

fn set(place: &mut Place<'_>, value: Value) -> Option<()> {
    match place {
        Place::Key(map, key) => {
            map.insert(key.clone(), value);
        }
        Place::Index(list, at) => {
            let at = index(at, list.len())?;
            *list.get_mut(at)? = value;
        }
    }
    Some(())
}

fn add(place: Place<'_>, value: Value) -> Option<()> {
    match place {
        Place::Key(map, key) => {
            map.insert(key, value);
        }
        Place::Index(list, at) if at == "-" => list.push(value),
        // One more is there afterwards, and it is that length that an index from the end counts in.
        Place::Index(list, at) => {
            let at = index(&at, list.len() + usize::from(at.starts_with('-')))?;
            (at <= list.len()).then(|| list.insert(at, value))?;
        }
    }
    Some(())
}

fn remove(place: Place<'_>) -> Option<Value> {
    match place {
        Place::Key(map, key) => map.remove(&key),
        Place::Index(list, at) => {
            let at = index(&at, list.len()).filter(|at| *at < list.len())?;
            Some(list.remove(at))
        }
    }
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value)]
mod tests {
    use super::*;
    use crate::json::json;

    #[track_caller]
    fn check(patch: Value, expect: Result<Value, u16>) {
        let current = json!({"data": {"b": "2"}, "metadata": {}, "list": [1, 2]});
        let expect = expect.map(|changed| {
            let mut all = current.clone();
            for (key, value) in changed.as_object().into_iter().flatten() {
                all[key] = value.clone();
            }
            all
        });
        assert_eq!(apply(&current, &patch).map_err(|error| error.code), expect);
    }

    #[test]
    fn operations_follow_each_other() {
        check(
            json!([{"op": "test", "path": "/data/b", "value": "2"},
                   {"op": "add", "path": "/data/c", "value": "3"}]),
            Ok(json!({"data": {"b": "2", "c": "3"}})),
        );
        check(
            json!([{"op": "copy", "from": "/data/b", "path": "/data/a~1b"},
                   {"op": "move", "from": "/data/b", "path": "/data/c"}]),
            Ok(json!({"data": {"a/b": "2", "c": "2"}})),
        );
    }

    #[test]
    fn lists_are_counted_from_either_end() {
        check(
            json!([{"op": "add", "path": "/list/-", "value": 3}]),
            Ok(json!({"list": [1, 2, 3]})),
        );
        check(
            json!([{"op": "add", "path": "/list/0", "value": 0}]),
            Ok(json!({"list": [0, 1, 2]})),
        );
        check(json!([{"op": "remove", "path": "/list/-1"}]), Ok(json!({"list": [1]})));
        check(
            json!([{"op": "replace", "path": "/list/1", "value": 9}]),
            Ok(json!({"list": [1, 9]})),
        );
        check(json!([{"op": "replace", "path": "/list/2", "value": 9}]), Err(422));
        check(json!([{"op": "remove", "path": "/list/2"}]), Err(422));
        check(json!([{"op": "add", "path": "/list/3", "value": 9}]), Err(422));
    }

    #[test]
    fn what_a_map_does_not_have_is_null() {
        check(
            json!([{"op": "replace", "path": "/data/z", "value": "1"}]),
            Ok(json!({"data": {"b": "2", "z": "1"}})),
        );
        check(
            json!([{"op": "add", "path": "/data/z"}]),
            Ok(json!({"data": {"b": "2", "z": null}})),
        );
        check(
            json!([{"op": "test", "path": "/metadata/finalizers", "value": null},
                   {"op": "add", "path": "/metadata/finalizers", "value": ["x/y"]}]),
            Ok(json!({"metadata": {"finalizers": ["x/y"]}})),
        );
    }

    #[test]
    fn what_cannot_be_carried_out_is_unprocessable_and_what_cannot_be_read_a_bad_request() {
        check(json!([{"op": "test", "path": "/data/b", "value": "x"}]), Err(422));
        check(json!([{"op": "remove", "path": "/data/zzz"}]), Err(422));
        check(json!([{"op": "move", "from": "/data/zzz", "path": "/data/c"}]), Err(422));
        check(json!([{"op": "add", "path": "/nothing/x", "value": 1}]), Err(422));
        check(json!([{"op": "nonsense", "path": "/data/b"}]), Err(422));
        check(json!([{}]), Err(422));
        check(json!([1]), Err(400));
        check(json!([{"op": 1}]), Err(400));
    }
}
