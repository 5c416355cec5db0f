//! Reading source text for the floors: its length, and the words that stand in it.

/// Longer files are named in a warning: look for the second idea in them.
pub(crate) const LONG: usize = 400;
/// Longer files fail.
pub(crate) const TOO_LONG: usize = 600;

/// The lines of a file without its `#[cfg(test)] mod … { … }` blocks, numbered from 1.
///
/// Leans on rustfmt: a block ends at the first closing brace of its own indentation.
pub(crate) fn without_tests(text: &str) -> Vec<(usize, &str)> {
    let mut kept: Vec<(usize, &str)> = Vec::new();
    let mut inside: Option<&str> = None;
    for (number, line) in text.lines().enumerate() {
        if let Some(indent) = inside {
            if line.strip_prefix(indent) == Some("}") {
                inside = None;
            }
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        if opens_module(line.trim()) && ends_in_test_attribute(&mut kept) {
            inside = Some(indent);
            continue;
        }
        kept.push((number + 1, line));
    }
    kept
}

fn opens_module(line: &str) -> bool {
    line.ends_with('{') && (line.starts_with("mod ") || line.starts_with("pub(crate) mod "))
}

/// Takes the attributes away that make the coming module one of tests, if they do.
fn ends_in_test_attribute(kept: &mut Vec<(usize, &str)>) -> bool {
    let attributes =
        kept.iter().rev().take_while(|(_, line)| line.trim().starts_with("#[")).count();
    let first = kept.len() - attributes;
    let is_test = kept[first..].iter().any(|(_, line)| line.trim() == "#[cfg(test)]");
    if is_test {
        kept.truncate(first);
    }
    is_test
}

/// Whether a file holds nothing but tests.
pub(crate) fn is_test_file(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.split('/').skip(1).any(|folder| folder == "tests")
}

/// The first of `words` that stands in the source outside of comments and tests, with its line.
pub(crate) fn says<'a>(text: &str, words: &[&'a str]) -> Option<(usize, &'a str)> {
    without_tests(text).into_iter().find_map(|(number, line)| {
        let code = line.split("//").next().unwrap_or_default();
        words.iter().find(|word| stands_in(code, word)).map(|word| (number, *word))
    })
}

/// Whole words only: `Instant` doesn't stand in `InstantAnswer`.
fn stands_in(code: &str, word: &str) -> bool {
    let part = |letter: Option<char>| letter.is_some_and(|l| l.is_alphanumeric() || l == '_');
    code.match_indices(word).any(|(at, _)| {
        !part(code[..at].chars().next_back()) && !part(code[at + word.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_modules_do_not_count() {
        fn check(text: &str, expect: &[usize]) {
            let lines: Vec<usize> = without_tests(text).into_iter().map(|(n, _)| n).collect();
            assert_eq!(lines, expect, "{text}");
        }
        check("fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn t() {\n    }\n}\n", &[1, 2]);
        check("#[cfg(test)]\nmod tests {\n}\nfn after() {}\n", &[4]);
        check("#[cfg(test)]\n#[allow(dead_code)]\nmod tests {\n}\n", &[]);
        check("mod inner {\n    fn a() {}\n}\n", &[1, 2, 3]);
        check("#[cfg(test)]\nmod tests;\nfn a() {}\n", &[1, 2, 3]);
        check("mod a {\n    #[cfg(test)]\n    mod tests {\n        x\n    }\n}\n", &[1, 6]);
    }

    #[test]
    fn a_forbidden_word_is_found_in_code_alone() {
        fn check(text: &str, expect: Option<usize>) {
            assert_eq!(says(text, &["HashMap"]).map(|(line, _)| line), expect, "{text}");
        }
        check("use std::collections::HashMap;\n", Some(1));
        check("// no HashMap here\n/// nor HashMap here\nfn a() {}\n", None);
        check("fn a() {} // HashMap\n", None);
        check("struct HashMapping;\n", None);
        check("struct MyHashMap;\n", None);
        check("#[cfg(test)]\nmod tests {\n    use HashMap;\n}\n", None);
    }

    #[test]
    fn a_file_of_tests_is_told_by_its_place() {
        fn check(path: &str, expect: bool) {
            assert_eq!(is_test_file(path), expect, "{path}");
        }
        check("crates/engine/src/front/tests.rs", true);
        check("crates/engine/tests/promises.rs", true);
        check("crates/engine/src/quantity.rs", false);
        check("tests/scenarios/src/lib.rs", false);
        check("tests/scenarios/tests/all.rs", true);
    }
}
