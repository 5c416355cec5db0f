//! The rules for names, labels and annotations, in the words of the real server.

use std::sync::OnceLock;

use regex::Regex;

const SUBDOMAIN: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const LABEL: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const LABEL_1035: &str = r"[a-z]([-a-z0-9]*[a-z0-9])?";
const NAME_PART: &str = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const VALUE: &str = r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
const CONFIG_KEY: &str = r"[-._a-zA-Z0-9]+";
const ENV_NAME: &str = r"[ -<>-~]+";

macro_rules! whole {
    ($pattern:expr, $text:expr) => {{
        static FORM: OnceLock<Regex> = OnceLock::new();
        FORM.get_or_init(|| {
            Regex::new(&format!("^(?:{})$", $pattern)).expect("the pattern is constant")
        })
        .is_match($text)
    }};
}

fn too_long(limit: usize) -> String {
    format!("must be no more than {limit} bytes")
}

/// What is wrong with a DNS subdomain (names of most objects).
pub fn bad_subdomain(name: &str) -> Option<String> {
    if name.len() > 253 {
        return Some(too_long(253));
    }
    (!whole!(SUBDOMAIN, name)).then(|| {
        format!(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
             '-' or '.', and must start and end with an alphanumeric character (e.g. \
             'example.com', regex used for validation is '{SUBDOMAIN}')"
        )
    })
}

/// What is wrong with a DNS label (names of namespaces, containers, volumes).
pub fn bad_label(name: &str) -> Option<String> {
    if name.len() > 63 {
        return Some(too_long(63));
    }
    (!whole!(LABEL, name)).then(|| {
        format!(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \
             '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or \
             '123-abc', regex used for validation is '{LABEL}')"
        )
    })
}

/// What is wrong with a Service's name.
pub fn bad_service_name(name: &str) -> Option<String> {
    if name.len() > 63 {
        return Some(too_long(63));
    }
    (!whole!(LABEL_1035, name)).then(|| {
        format!(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start \
             with an alphabetic character, and end with an alphanumeric character (e.g. \
             'my-name',  or 'abc-123', regex used for validation is '{LABEL_1035}')"
        )
    })
}

/// What is wrong with a key of a label or an annotation.
pub fn bad_label_key(key: &str) -> Option<String> {
    let parts: Vec<&str> = key.split('/').collect();
    let name = match parts.as_slice() {
        [name] => name,
        ["", _] => return Some("prefix part must be non-empty".to_owned()),
        [prefix, name] => {
            if let Some(why) = bad_subdomain(prefix) {
                return Some(format!("prefix part {why}"));
            }
            name
        }
        _ => {
            return Some(format!(
                "a qualified name {} with an optional DNS subdomain prefix and '/' (e.g. \
                 'example.com/MyName')",
                name_part_rule()
            ));
        }
    };
    if name.is_empty() {
        return Some("name part must be non-empty".to_owned());
    }
    if name.len() > 63 {
        return Some(format!("name part {}", too_long(63)));
    }
    (!whole!(NAME_PART, name)).then(|| format!("name part {}", name_part_rule()))
}

fn name_part_rule() -> String {
    format!(
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
         alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for \
         validation is '{NAME_PART}')"
    )
}

/// What is wrong with a label's value.
pub fn bad_label_value(value: &str) -> Option<String> {
    if value.len() > 63 {
        return Some(too_long(63));
    }
    (!whole!(VALUE, value)).then(|| {
        format!(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', \
             '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  \
             or 'my_value',  or '12345', regex used for validation is '{VALUE}')"
        )
    })
}

/// What is wrong with a key of a ConfigMap or Secret.
pub fn bad_config_key(key: &str) -> Option<String> {
    if key.len() > 253 {
        return Some(too_long(253));
    }
    (!whole!(CONFIG_KEY, key)).then(|| {
        format!(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. \
             'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is \
             '{CONFIG_KEY}')"
        )
    })
}

/// What is wrong with the name of an environment variable.
pub fn bad_env_name(name: &str) -> Option<String> {
    (!whole!(ENV_NAME, name)).then(|| {
        "a valid environment variable name must consist only of printable ASCII characters other \
         than '='"
            .to_owned()
    })
}

/// What is wrong with the name of a port.
pub fn bad_port_name(name: &str) -> Vec<String> {
    let mut out = Vec::new();
    if name.len() > 15 {
        out.push("must be no more than 15 characters".to_owned());
    }
    if !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    {
        out.push(
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned(),
        );
    }
    if !name.bytes().any(|byte| byte.is_ascii_lowercase()) {
        out.push("must contain at least one letter (a-z)".to_owned());
    }
    if name.contains("--") {
        out.push("must not contain consecutive hyphens".to_owned());
    }
    if name.starts_with('-') || name.ends_with('-') {
        out.push("must not begin or end with a hyphen".to_owned());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_names_pass_and_bad_ones_are_explained() {
        assert_eq!(bad_subdomain("web-0.example"), None);
        assert!(bad_subdomain("Not_A_Name").is_some_and(|why| why.starts_with("a lowercase RFC")));
        assert_eq!(bad_label_key("app.kubernetes.io/version"), None);
        assert_eq!(bad_label_key("/x").as_deref(), Some("prefix part must be non-empty"));
        assert_eq!(bad_label_value(""), None);
        assert!(bad_label_value("a b").is_some());
        assert_eq!(bad_port_name("http"), Vec::<String>::new());
        assert_eq!(bad_port_name("UPPER").len(), 2);
    }
}
