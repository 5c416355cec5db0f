//! Names of objects as arguments: checked before they become part of a path.

/// A DNS subdomain, as names of rollouts are; `KIND/NAME` is taken for the kinds that we serve.
///
/// # Errors
/// Says what a name looks like; clap adds the argument and the value.
pub(crate) fn object(text: &str) -> Result<String, String> {
    let name = match text.split_once('/') {
        Some((kind, name)) if KINDS.contains(&kind.to_ascii_lowercase().as_str()) => name,
        Some((kind, _)) => {
            return Err(format!("{kind:?} is no kind that Sluice serves; give the name alone"));
        }
        None => text,
    };
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    let ends = |c: char| c == '-' || c == '.';
    if name.is_empty()
        || name.len() > 253
        || !name.chars().all(inner)
        || name.starts_with(ends)
        || name.ends_with(ends)
    {
        return Err("a name has lower-case letters, digits, and inner dashes and dots".to_owned());
    }
    Ok(name.to_owned())
}

/// A DNS label, as names of namespaces are.
///
/// # Errors
/// Says what a name looks like; clap adds the argument and the value.
pub(crate) fn namespace(text: &str) -> Result<String, String> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let dashed = text.starts_with('-') || text.ends_with('-');
    if text.is_empty() || text.len() > 63 || !text.chars().all(inner) || dashed {
        return Err(
            "a namespace has lower-case letters, digits and inner dashes, at most 63".to_owned()
        );
    }
    Ok(text.to_owned())
}

const KINDS: [&str; 4] = [
    "ssr",
    "statefulsetrollout",
    "statefulsetrollouts",
    "statefulsetrollouts.bedrock.operator.slack.com",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_with_or_without_its_kind() {
        fn check(text: &str, expect: Option<&str>) {
            assert_eq!(object(text).ok().as_deref(), expect, "{text}");
        }
        check("tester", Some("tester"));
        check("ssr/tester", Some("tester"));
        check("StatefulsetRollout/a.b-c", Some("a.b-c"));
        check("pod/tester", None);
        check("../secrets", None);
        check("a b", None);
        check("", None);
        check("-a", None);
        check("Tester", None);
    }

    #[test]
    fn a_namespace_has_no_dots() {
        fn check(text: &str, expect: bool) {
            assert_eq!(namespace(text).is_ok(), expect, "{text}");
        }
        check("sluice-system", true);
        check("a", true);
        check("", false);
        check("a.b", false);
        check("-a", false);
        check("a-", false);
        check("Shop", false);
        check(&"a".repeat(64), false);
    }
}
