//! Label selectors, from a query string or from a LabelSelector object.

use std::fmt;

use super::SelectorError;
use crate::json::Value;

/// One condition on one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// The label has one of these values.
    In(String, Vec<String>),
    /// The label is absent or has none of these values.
    NotIn(String, Vec<String>),
    /// The label is there.
    Exists(String),
    /// It is not.
    DoesNotExist(String),
    /// The label is an integer above this.
    Greater(String, i64),
    /// The label is an integer below this.
    Less(String, i64),
}

impl Requirement {
    fn matches(&self, labels: &Value) -> bool {
        let value = |key: &str| labels.get(key).and_then(Value::as_str);
        let number = |key: &str| value(key).and_then(|text| text.parse::<i64>().ok());
        match self {
            Self::In(key, values) => value(key).is_some_and(|v| values.iter().any(|x| x == v)),
            Self::NotIn(key, values) => value(key).is_none_or(|v| values.iter().all(|x| x != v)),
            Self::Exists(key) => value(key).is_some(),
            Self::DoesNotExist(key) => value(key).is_none(),
            Self::Greater(key, bound) => number(key).is_some_and(|n| n > *bound),
            Self::Less(key, bound) => number(key).is_some_and(|n| n < *bound),
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::In(key, values) if values.len() == 1 => write!(out, "{key}={}", values[0]),
            Self::In(key, values) => write!(out, "{key} in ({})", values.join(",")),
            Self::NotIn(key, values) if values.len() == 1 => write!(out, "{key}!={}", values[0]),
            Self::NotIn(key, values) => write!(out, "{key} notin ({})", values.join(",")),
            Self::Exists(key) => write!(out, "{key}"),
            Self::DoesNotExist(key) => write!(out, "!{key}"),
            Self::Greater(key, bound) => write!(out, "{key}>{bound}"),
            Self::Less(key, bound) => write!(out, "{key}<{bound}"),
        }
    }
}

/// Conditions that must all hold. The default selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
    nothing: bool,
}

impl LabelSelector {
    /// Selects nothing, as an absent LabelSelector does.
    pub fn nothing() -> Self {
        Self { requirements: Vec::new(), nothing: true }
    }

    /// Parses the text of a query parameter.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let mut parser = Parser { tokens: tokens(text), at: 0 };
        let requirements = parser.selector()?;
        Ok(Self { requirements, nothing: false })
    }

    /// A label that all that it selects carry, with its value, if it names one.
    pub fn required(&self) -> Option<(&str, &str)> {
        self.requirements.iter().find_map(|requirement| match requirement {
            Requirement::In(label, values) => match values.as_slice() {
                [value] => Some((label.as_str(), value.as_str())),
                _ => None,
            },
            _ => None,
        })
    }

    /// A LabelSelector object as text, empty for one that cannot be read.
    pub fn text(selector: &Value) -> String {
        Self::from_object(selector).map(|selector| selector.to_string()).unwrap_or_default()
    }

    /// Reads a LabelSelector object (`matchLabels`, `matchExpressions`). `null` selects nothing,
    /// `{}` everything.
    pub fn from_object(selector: &Value) -> Result<Self, SelectorError> {
        let Some(selector) = selector.as_object() else { return Ok(Self::nothing()) };
        let mut requirements = Vec::new();
        if let Some(labels) = selector.get("matchLabels").and_then(Value::as_object) {
            for (key, value) in labels {
                let value = value.as_str().unwrap_or_default().to_owned();
                requirements.push(Requirement::In(key.to_string(), vec![value]));
            }
        }
        let expressions = selector.get("matchExpressions").and_then(Value::as_array);
        for expression in expressions.into_iter().flatten() {
            let key = expression["key"].as_str().unwrap_or_default().to_owned();
            let values: Vec<String> = expression["values"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|value| value.as_str().map(str::to_owned))
                .collect();
            requirements.push(match expression["operator"].as_str().unwrap_or_default() {
                "In" => Requirement::In(key, values),
                "NotIn" => Requirement::NotIn(key, values),
                "Exists" => Requirement::Exists(key),
                "DoesNotExist" => Requirement::DoesNotExist(key),
                other => {
                    return Err(SelectorError(format!(
                        "\"{other}\" is not a valid label selector operator"
                    )));
                }
            });
        }
        requirements.sort_by_key(|requirement| requirement.to_string());
        Ok(Self { requirements, nothing: false })
    }

    /// Whether labels (`metadata.labels`, `null` for none) are selected.
    pub fn matches(&self, labels: &Value) -> bool {
        !self.nothing && self.requirements.iter().all(|requirement| requirement.matches(labels))
    }

    /// Whether an object's labels are selected.
    pub fn selects(&self, object: &Value) -> bool {
        self.matches(&object["metadata"]["labels"])
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            if index > 0 {
                out.write_str(",")?;
            }
            write!(out, "{requirement}")?;
        }
        Ok(())
    }
}

const OPERATORS: &str = "in, notin, =, ==, !=, gt, lt";

struct Parser {
    tokens: Vec<String>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn next(&mut self) -> String {
        let token = self.peek().to_owned();
        self.at += 1;
        token
    }

    fn selector(&mut self) -> Result<Vec<Requirement>, SelectorError> {
        let mut out = Vec::new();
        loop {
            match self.peek() {
                "" => return Ok(out),
                token if is_word(token) || token == "!" => {
                    out.push(self.requirement().map_err(|SelectorError(why)| {
                        SelectorError(format!("unable to parse requirement: {why}"))
                    })?);
                    match self.next().as_str() {
                        "" => return Ok(out),
                        "," => {
                            let next = self.peek();
                            if !is_word(next) && next != "!" {
                                return Err(found(next, "identifier after ','"));
                            }
                        }
                        other => return Err(found(other, "',' or 'end of string'")),
                    }
                }
                other => return Err(found(other, "!, identifier, or 'end of string'")),
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, SelectorError> {
        let mut key = self.next();
        let absent = key == "!";
        if absent {
            key = self.next();
        }
        if !is_word(&key) {
            return Err(found(&key, "identifier"));
        }
        if let Some(why) = crate::builtin::names::bad_label_key(&key).first() {
            return Err(SelectorError(format!("key: Invalid value: \"{key}\": {why}")));
        }
        if absent {
            return Ok(Requirement::DoesNotExist(key));
        }
        if matches!(self.peek(), "" | ",") {
            return Ok(Requirement::Exists(key));
        }
        let operator = self.next();
        match operator.as_str() {
            "in" | "notin" => {
                let values = checked(&key, self.values()?)?;
                Ok(if operator == "in" {
                    Requirement::In(key, values)
                } else {
                    Requirement::NotIn(key, values)
                })
            }
            "=" | "==" | "!=" => {
                let values = checked(&key, vec![self.value()?])?;
                Ok(if operator == "!=" {
                    Requirement::NotIn(key, values)
                } else {
                    Requirement::In(key, values)
                })
            }
            ">" | "<" => {
                let value = self.value()?;
                let bound = value.parse().map_err(|_| {
                    SelectorError(format!(
                        "values[0]: Invalid value: \"{value}\": for 'Gt', 'Lt' operators, \
                         the value must be an integer"
                    ))
                })?;
                Ok(if operator == ">" {
                    Requirement::Greater(key, bound)
                } else {
                    Requirement::Less(key, bound)
                })
            }
            other => Err(found(other, OPERATORS)),
        }
    }

    fn value(&mut self) -> Result<String, SelectorError> {
        if matches!(self.peek(), "" | ",") {
            return Ok(String::new());
        }
        let value = self.next();
        if is_word(&value) { Ok(value) } else { Err(found(&value, "identifier")) }
    }

    fn values(&mut self) -> Result<Vec<String>, SelectorError> {
        let open = self.next();
        if open != "(" {
            return Err(SelectorError(format!("found '{open}' expected: '('")));
        }
        let mut values = Vec::new();
        loop {
            match self.next().as_str() {
                ")" => break,
                "," => values.push(String::new()),
                value if is_word(value) => {
                    values.push(value.to_owned());
                    match self.next().as_str() {
                        ")" => break,
                        "," if self.peek() == ")" => values.push(String::new()),
                        "," => {}
                        other => return Err(found(other, "',' or ')'")),
                    }
                }
                other => return Err(found(other, "',', ')' or identifier")),
            }
        }
        values.sort();
        values.dedup();
        Ok(values)
    }
}

fn checked(key: &str, values: Vec<String>) -> Result<Vec<String>, SelectorError> {
    for (index, value) in values.iter().enumerate() {
        if let Some(why) = crate::builtin::names::bad_label_value(value).first() {
            return Err(SelectorError(format!(
                "values[{index}][{key}]: Invalid value: \"{value}\": {why}"
            )));
        }
    }
    Ok(values)
}

fn found(token: &str, expected: &str) -> SelectorError {
    SelectorError(format!("found '{token}', expected: {expected}"))
}

const SYMBOLS: &str = "()=!,<>";

fn is_word(token: &str) -> bool {
    !token.is_empty() && !token.starts_with(|letter| SYMBOLS.contains(letter))
}

fn tokens(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter.is_whitespace() {
            continue;
        }
        let mut token = String::from(letter);
        if SYMBOLS.contains(letter) {
            if matches!(letter, '=' | '!') && letters.peek() == Some(&'=') {
                token.push('=');
                letters.next();
            }
        } else {
            while let Some(&next) = letters.peek() {
                if next.is_whitespace() || SYMBOLS.contains(next) {
                    break;
                }
                token.push(next);
                letters.next();
            }
        }
        out.push(token);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    #[track_caller]
    fn check(text: &str, expect: Result<bool, &str>) {
        let labels = json!({"app": "web", "tier": "db", "n": "7"});
        let got = LabelSelector::parse(text).map(|selector| selector.matches(&labels));
        assert_eq!(got, expect.map_err(|message| SelectorError(message.to_owned())), "{text}");
    }

    #[test]
    fn every_operator_of_a_query_is_understood() {
        check("", Ok(true));
        check("app=web", Ok(true));
        check("app == web , tier!=x", Ok(true));
        check("app in (web, api)", Ok(true));
        check("app notin (web)", Ok(false));
        check("zone notin (a)", Ok(true));
        check("app,!zone", Ok(true));
        check("!app", Ok(false));
        check("n>6,n<8", Ok(true));
        check("zone=", Ok(false));
    }

    #[test]
    fn a_query_that_does_not_parse_is_refused_in_the_servers_words() {
        check("a===b", Err("unable to parse requirement: found '=', expected: identifier"));
        check("a=b,", Err("found '', expected: identifier after ','"));
        check(
            "a b",
            Err("unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        );
        check("a in b", Err("unable to parse requirement: found 'b' expected: '('"));
    }

    #[test]
    fn an_absent_selector_selects_nothing_and_an_empty_one_everything() {
        let labels = json!({"app": "web"});
        let read = |selector: Value| LabelSelector::from_object(&selector).expect("reads");
        assert!(!read(Value::Null).matches(&labels));
        assert!(read(json!({})).matches(&labels));
        let both = read(json!({
            "matchLabels": {"app": "web"},
            "matchExpressions": [{"key": "zone", "operator": "DoesNotExist"}],
        }));
        assert!(both.matches(&labels));
        assert_eq!(both.to_string(), "!zone,app=web");
    }
}
