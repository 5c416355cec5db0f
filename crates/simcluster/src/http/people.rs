//! What a person is given who asks with a browser or with `curl`: the same, with room in it.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderMap, header};
use http_body_util::BodyExt;

/// What people ask with, by the beginning of its name.
const AGENTS: [&str; 3] = ["curl", "Wget", "Mozilla/5.0"];

/// Whether the answer is for a person: `pretty` says so or not, else the name of the client does.
pub(super) fn asks(headers: &HeaderMap, query: &[(String, String)]) -> bool {
    let said = query.iter().find(|(key, value)| key == "pretty" && !value.is_empty());
    if let Some((_, value)) = said {
        return matches!(value.as_str(), "1" | "t" | "T" | "TRUE" | "true" | "True");
    }
    let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    agent.is_some_and(|agent| AGENTS.iter().any(|person| agent.starts_with(person)))
}

/// The same answer, indented if it is JSON. Not for what has no end.
pub(super) async fn indented(response: Response) -> Response {
    let of_json = response.headers().get(header::CONTENT_TYPE);
    if of_json.is_none_or(|given| given != "application/json") {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(body) = body.collect().await else { return Response::from_parts(parts, Body::empty()) };
    let text = indent(&body.to_bytes());
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(text))
}

/// Valid JSON with a line for each value, in the order in which it is told.
fn indent(json: &[u8]) -> Vec<u8> {
    let (mut out, mut depth, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    let line = |out: &mut Vec<u8>, depth: usize| {
        out.push(b'\n');
        out.resize(out.len() + 2 * depth, b' ');
    };
    for (at, &byte) in json.iter().enumerate() {
        if quoted {
            out.push(byte);
            quoted = byte != b'"' || escaped;
            escaped = byte == b'\\' && !escaped;
            continue;
        }
        match byte {
            b'{' | b'[' => {
                out.push(byte);
                depth += 1;
                if !matches!(json.get(at + 1), Some(b'}' | b']')) {
                    line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                depth -= 1;
                if !matches!(out.last(), Some(b'{' | b'[')) {
                    line(&mut out, depth);
                }
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                line(&mut out, depth);
            }
            b':' => out.extend(b": "),
            byte if byte.is_ascii_whitespace() => {}
            _ => {
                quoted = byte == b'"';
                out.push(byte);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_indented_and_its_texts_are_left_alone() {
        fn check(json: &str, expect: &str) {
            assert_eq!(String::from_utf8(indent(json.as_bytes())).as_deref(), Ok(expect));
        }
        check("{}\n", "{}");
        check(r#"{"b":[1,{}],"a":[]}"#, "{\n  \"b\": [\n    1,\n    {}\n  ],\n  \"a\": []\n}");
        check(r#"{"a":"{,:[\" \\"}"#, "{\n  \"a\": \"{,:[\\\" \\\\\"\n}");
    }

    #[test]
    fn people_are_known_by_what_they_ask_with_unless_they_say_otherwise() {
        fn check(agent: &'static str, pretty: &str, expect: bool) {
            let agent = http::HeaderValue::from_static(agent);
            let headers = HeaderMap::from_iter([(header::USER_AGENT, agent)]);
            let query = [("pretty".to_owned(), pretty.to_owned())];
            assert_eq!(asks(&headers, &query), expect, "{headers:?} {pretty}");
        }
        check("curl/8.5.0", "", true);
        check("curl/8.5.0", "false", false);
        check("kubectl/v1.36.3", "", false);
        check("kubectl/v1.36.3", "true", true);
        check("kubectl/v1.36.3", "yes", false);
    }
}
