//! Trees as they are written in JSON.

/// A tree as it is written in JSON, with expressions for values, and for keys in parentheses.
#[doc(hidden)]
#[macro_export]
macro_rules! __json {
    (null) => { $crate::json::Value::Null };
    ([]) => { $crate::json::Value::Array($crate::json::List::default()) };
    ({}) => { $crate::json::Value::Object($crate::json::Map::new()) };
    ([ $($items:tt)+ ]) => {{
        let mut list = $crate::json::List::default();
        $crate::__json!(@items list $($items)+);
        $crate::json::Value::Array(list)
    }};
    ({ $($fields:tt)+ }) => {{
        let mut map = $crate::json::Map::new();
        $crate::__json!(@fields map $($fields)+);
        $crate::json::Value::Object(map)
    }};

    (@items $list:ident) => {};
    (@items $list:ident null $(, $($rest:tt)*)?) => {
        $list.push($crate::json::Value::Null);
        $($crate::__json!(@items $list $($rest)*);)?
    };
    (@items $list:ident [ $($inner:tt)* ] $(, $($rest:tt)*)?) => {
        $list.push($crate::__json!([ $($inner)* ]));
        $($crate::__json!(@items $list $($rest)*);)?
    };
    (@items $list:ident { $($inner:tt)* } $(, $($rest:tt)*)?) => {
        $list.push($crate::__json!({ $($inner)* }));
        $($crate::__json!(@items $list $($rest)*);)?
    };
    (@items $list:ident $value:expr $(, $($rest:tt)*)?) => {
        $list.push($crate::json::tree(&$value));
        $($crate::__json!(@items $list $($rest)*);)?
    };

    (@fields $map:ident) => {};
    (@fields $map:ident $key:tt : null $(, $($rest:tt)*)?) => {
        $map.insert($key, $crate::json::Value::Null);
        $($crate::__json!(@fields $map $($rest)*);)?
    };
    (@fields $map:ident $key:tt : [ $($inner:tt)* ] $(, $($rest:tt)*)?) => {
        $map.insert($key, $crate::__json!([ $($inner)* ]));
        $($crate::__json!(@fields $map $($rest)*);)?
    };
    (@fields $map:ident $key:tt : { $($inner:tt)* } $(, $($rest:tt)*)?) => {
        $map.insert($key, $crate::__json!({ $($inner)* }));
        $($crate::__json!(@fields $map $($rest)*);)?
    };
    (@fields $map:ident $key:tt : $value:expr $(, $($rest:tt)*)?) => {
        $map.insert($key, $crate::json::tree(&$value));
        $($crate::__json!(@fields $map $($rest)*);)?
    };

    ($value:expr) => { $crate::json::tree(&$value) };
}
