//! Where in a YAML file a field is, so that a finding can be clicked on.

use granit_parser::{Event, Marker, Parser};

/// Line and column, both from 1.
pub(crate) type Place = (usize, usize);

/// An object of a file, with the places of its fields.
#[derive(Debug)]
pub(crate) struct Located {
    place: Place,
    node: Node,
}

#[derive(Debug)]
enum Node {
    Map(Vec<(String, Located)>),
    List(Vec<Located>),
    Scalar(String),
}

/// The objects of a file in the order of [`api::parse`]: documents that are not empty, and the items
/// of a `List`. What cannot be parsed has none.
pub(crate) fn objects(yaml: &str) -> Vec<Located> {
    let mut reader = Reader { events: Parser::new_from_str(yaml) };
    let mut objects = Vec::new();
    while let Some((event, _)) = reader.next() {
        if matches!(event, Event::DocumentStart(..))
            && let Some(document) = reader.node()
        {
            flatten(document, &mut objects);
        }
    }
    objects
}

fn flatten(object: Located, objects: &mut Vec<Located>) {
    let Node::Map(fields) = &object.node else { return };
    let is_list = fields.iter().any(|(key, value)| {
        key == "kind" && matches!(&value.node, Node::Scalar(text) if text == "List")
    });
    let has_items =
        fields.iter().any(|(key, value)| key == "items" && matches!(value.node, Node::List(_)));
    match object.node {
        Node::Map(fields) if is_list && has_items => {
            for (_, value) in fields.into_iter().filter(|(key, _)| key == "items") {
                if let Node::List(items) = value.node {
                    items.into_iter().for_each(|item| flatten(item, objects));
                }
            }
        }
        _ => objects.push(object),
    }
}

impl Located {
    /// Place of a field by its path, as in `spec.template.spec.containers[0].image`; of what is
    /// nearest above where the field is missing.
    pub(crate) fn find(&self, path: &str) -> Place {
        match &self.node {
            Node::Map(fields) => {
                // A key may have dots in it: the longest that fits is meant.
                let fits = fields.iter().filter_map(|(key, value)| {
                    let rest = path.strip_prefix(key.as_str())?;
                    matches!(rest.bytes().next(), None | Some(b'.' | b'[')).then_some((
                        key.len(),
                        value,
                        rest,
                    ))
                });
                match fits.max_by_key(|(length, ..)| *length) {
                    Some((_, value, rest)) => value.find(rest.strip_prefix('.').unwrap_or(rest)),
                    None => self.place,
                }
            }
            Node::List(items) => {
                let index = path.strip_prefix('[').and_then(|path| path.split_once(']'));
                let item = index.and_then(|(number, rest)| {
                    Some((items.get(number.parse::<usize>().ok()?)?, rest))
                });
                match item {
                    Some((item, rest)) => item.find(rest.strip_prefix('.').unwrap_or(rest)),
                    None => self.place,
                }
            }
            Node::Scalar(_) => self.place,
        }
    }
}

struct Reader<'a> {
    events: Parser<'a, granit_parser::StrInput<'a>>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<(Event<'a>, Marker)> {
        loop {
            let (event, span) = self.events.next()?.ok()?;
            if event.is_node() || is_end(&event) || matches!(event, Event::DocumentStart(..)) {
                return Some((event, span.start));
            }
        }
    }

    /// The next node; `None` at the end of what surrounds it.
    fn node(&mut self) -> Option<Located> {
        let (event, start) = self.next()?;
        let place = (start.line(), start.col() + 1);
        let node = match event {
            Event::MappingStart(..) => Node::Map(self.map()),
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                while let Some(item) = self.node() {
                    items.push(item);
                }
                Node::List(items)
            }
            Event::Scalar(text, ..) => Node::Scalar(text.into_owned()),
            event if event.is_node() => Node::Scalar(String::new()),
            _ => return None,
        };
        Some(Located { place, node })
    }

    fn map(&mut self) -> Vec<(String, Located)> {
        let mut fields = Vec::new();
        while let Some(key) = self.node() {
            let Some(mut value) = self.node() else { break };
            // A field is where its key is, whatever its value looks like.
            value.place = key.place;
            if let Node::Scalar(text) = key.node {
                fields.push((text, value));
            }
        }
        fields
    }
}

fn is_end(event: &Event<'_>) -> bool {
    matches!(event, Event::MappingEnd | Event::SequenceEnd | Event::DocumentEnd | Event::StreamEnd)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
# a comment
apiVersion: v1
metadata:
  name: a
  labels: {app.kubernetes.io/name: a, app: b}
spec:
  containers:
  - name: x
    image: y
  - {name: z, image: w}
---
---
kind: List
items:
- kind: One
- kind: Two
  spec:
    percent: 7
";

    fn check(object: usize, path: &str, expect: Place) {
        assert_eq!(objects(FILE)[object].find(path), expect, "{path}");
    }

    #[test]
    fn a_field_is_where_its_key_is() {
        check(0, "apiVersion", (2, 1));
        check(0, "metadata.name", (4, 3));
        check(0, "metadata.labels.app.kubernetes.io/name", (5, 12));
        check(0, "metadata.labels.app", (5, 39));
        check(0, "spec.containers[0].image", (9, 5));
        check(0, "spec.containers[1].image", (10, 15));
    }

    #[test]
    fn a_missing_field_is_where_it_would_be() {
        check(0, "spec.percent", (6, 1));
        check(0, "spec.containers[7].image", (7, 3));
        check(0, "status", (2, 1));
    }

    #[test]
    fn empty_documents_are_skipped_and_lists_opened() {
        assert_eq!(objects(FILE).len(), 3);
        check(1, "kind", (15, 3));
        check(2, "spec.percent", (18, 5));
    }

    #[test]
    fn what_cannot_be_parsed_has_no_objects_and_no_panic() {
        assert!(objects("a: [1, 2\nb: }").len() <= 1);
        assert_eq!(objects("").len(), 0);
    }
}
