//! The rules for names, labels and annotations, in the words of the real server.

use std::sync::OnceLock;

use regex::Regex;

const SUBDOMAIN: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const LABEL: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?";
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

/// What a name is that has more bytes than it may; `unit` is what the server counts them as.
fn too_long(text: &str, limit: usize, unit: &str) -> Option<String> {
    (text.len() > limit).then(|| format!("must be no more than {limit} {unit}"))
}

fn subdomain(name: &str, unit: &str) -> Vec<String> {
    let form = (!whole!(SUBDOMAIN, name)).then(|| {
        format!(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
             '-' or '.', and must start and end with an alphanumeric character (e.g. \
             'example.com', regex used for validation is '{SUBDOMAIN}')"
        )
    });
    too_long(name, 253, unit).into_iter().chain(form).collect()
}

/// What is wrong with a DNS subdomain (names of most objects).
pub fn bad_subdomain(name: &str) -> Vec<String> {
    subdomain(name, "characters")
}

/// What is wrong with a DNS label (names of namespaces, Services, containers, volumes).
pub fn bad_label(name: &str) -> Vec<String> {
    let form = (!whole!(LABEL, name)).then(|| {
        format!(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \
             '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or \
             '123-abc', regex used for validation is '{LABEL}')"
        )
    });
    too_long(name, 63, "characters").into_iter().chain(form).collect()
}

/// What is wrong with a key of a label or an annotation.
pub fn bad_label_key(key: &str) -> Vec<String> {
    let parts: Vec<&str> = key.split('/').collect();
    let (mut out, name) = match parts.as_slice() {
        [name] => (Vec::new(), name),
        ["", name] => (vec!["prefix part must be non-empty".to_owned()], name),
        [prefix, name] => {
            let why = subdomain(prefix, "bytes").into_iter();
            (why.map(|why| format!("prefix part {why}")).collect(), name)
        }
        _ => {
            return vec![format!(
                "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. \
                 'example.com/MyName')",
                name_part_rule()
            )];
        }
    };
    if name.is_empty() {
        out.push("name part must be non-empty".to_owned());
    }
    out.extend(too_long(name, 63, "bytes").map(|why| format!("name part {why}")));
    if !whole!(NAME_PART, name) {
        out.push(format!("name part {}", name_part_rule()));
    }
    out
}

fn name_part_rule() -> String {
    format!(
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
         alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for \
         validation is '{NAME_PART}')"
    )
}

/// What is wrong with a label's value.
pub fn bad_label_value(value: &str) -> Vec<String> {
    let form = (!whole!(VALUE, value)).then(|| {
        format!(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', \
             '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  \
             or 'my_value',  or '12345', regex used for validation is '{VALUE}')"
        )
    });
    too_long(value, 63, "bytes").into_iter().chain(form).collect()
}

/// What is wrong with a key of a ConfigMap or Secret.
pub fn bad_config_key(key: &str) -> Option<String> {
    if key.len() > 253 {
        return too_long(key, 253, "bytes");
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
        assert!(bad_subdomain("web-0.example").is_empty());
        assert!(bad_subdomain("Not_A_Name")[0].starts_with("a lowercase RFC"));
        assert!(bad_label_key("app.kubernetes.io/version").is_empty());
        assert_eq!(bad_label_key("/x"), ["prefix part must be non-empty"]);
        assert_eq!(bad_label_key("X/").len(), 3);
        assert!(bad_label_value("").is_empty());
        assert_eq!(bad_label_value(&"!".repeat(64)).len(), 2);
        assert_eq!(bad_port_name("http"), Vec::<String>::new());
        assert_eq!(bad_port_name("UPPER").len(), 2);
    }
}
