//! Counting tests in what `cargo test` prints.

/// How many tests passed and failed, summed over all test binaries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Tally {
    /// Takes in one line; all but the result lines of libtest count nothing.
    pub(crate) fn take(&mut self, line: &str) {
        if let Some(result) = Self::of(line) {
            self.passed += result.passed;
            self.failed += result.failed;
        }
    }

    /// The counts of a line such as
    /// `test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; …`.
    pub(crate) fn of(line: &str) -> Option<Self> {
        let counts = line.trim().strip_prefix("test result: ")?.split_once(". ")?.1;
        let count = |word: &str| {
            counts.split(';').find_map(|part| part.trim().strip_suffix(word)?.trim().parse().ok())
        };
        Some(Self { passed: count("passed")?, failed: count("failed")? })
    }

    /// The counts of what `go test -v` printed: tests with parts count as their parts.
    pub(crate) fn of_go(output: &str) -> Self {
        let ended = |line: &str, word: &str| {
            let (name, _) = line.trim().strip_prefix(word)?.rsplit_once(" (")?;
            Some(name.to_owned())
        };
        let all = |word: &str| output.lines().filter_map(|line| ended(line, word)).collect();
        let (passed, failed): (Vec<String>, Vec<String>) = (all("--- PASS: "), all("--- FAIL: "));
        let whole = |name: &&String| {
            let part = |other: &String| {
                other.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('/'))
            };
            !passed.iter().chain(&failed).any(part)
        };
        let count = |names: &[String]| names.iter().filter(whole).count() as u64;
        Self { passed: count(&passed), failed: count(&failed) }
    }
}

/// The whole tests that failed, in what `go test -v` printed.
pub(crate) fn failed_of_go(output: &str) -> Vec<String> {
    // Parts are indented.
    let failed = output.lines().filter_map(|line| line.strip_prefix("--- FAIL: "));
    failed.filter_map(|rest| rest.rsplit_once(" (")).map(|(name, _)| name.to_owned()).collect()
}

/// The name of the test binary in a line such as
/// `Running unittests src/lib.rs (target/debug/deps/engine-0123456789abcdef)`.
pub(crate) fn binary(line: &str) -> Option<String> {
    let line = line.trim();
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return Some(name.to_owned());
    }
    let rest = line.strip_prefix("Running ")?;
    let (source, path) = rest.strip_suffix(')')?.rsplit_once(" (")?;
    let file = path.rsplit(['/', '\\']).next()?;
    let name = file.rsplit_once('-').map_or(file, |(name, _hash)| name);
    Some(match source.strip_prefix("unittests ") {
        Some(_) => name.to_owned(),
        None => source.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_line_is_counted() {
        fn check(line: &str, expect: Option<(u64, u64)>) {
            let expect = expect.map(|(passed, failed)| Tally { passed, failed });
            assert_eq!(Tally::of(line), expect, "{line}");
        }
        check(
            "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            Some((12, 0)),
        );
        check(
            "test result: FAILED. 3 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.20s",
            Some((3, 2)),
        );
        check("  test result: ok. 0 passed; 0 failed; 0 ignored", Some((0, 0)));
        check("test engine::a_test ... ok", None);
        check("test result: gibberish", None);
        check("12 passed; 0 failed", None);
    }

    #[test]
    fn a_test_of_go_with_parts_counts_as_its_parts() {
        let output = "=== RUN   TestFacts
--- FAIL: TestFacts (50.1s)
    --- PASS: TestFacts/an_eviction_(with_a_budget) (1.20s)
    --- FAIL: TestFacts/a_partition (0.10s)
--- PASS: TestFactsAreFew (0.00s)
FAIL
";
        assert_eq!(Tally::of_go(output), Tally { passed: 2, failed: 1 });
        assert_eq!(failed_of_go(output), ["TestFacts"]);
        assert_eq!(Tally::of_go("ok  \tsluice.dev/x\t0.1s\n"), Tally::default());
    }

    #[test]
    fn the_sum_is_over_all_binaries() {
        let mut tally = Tally::default();
        for line in [
            "     Running unittests src/lib.rs (target/debug/deps/api-1)",
            "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
            "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
        ] {
            tally.take(line);
        }
        assert_eq!(tally, Tally { passed: 6, failed: 1 });
    }

    #[test]
    fn a_running_line_names_its_binary() {
        fn check(line: &str, expect: Option<&str>) {
            assert_eq!(binary(line).as_deref(), expect, "{line}");
        }
        check(
            "     Running unittests src/lib.rs (target/debug/deps/engine-0123456789abcdef)",
            Some("engine"),
        );
        check("     Running tests/seeds.rs (target/debug/deps/seeds-0123)", Some("tests/seeds.rs"));
        check("   Doc-tests api", Some("api"));
        check("   Compiling engine v0.1.0 (crates/engine)", None);
        check("test result: ok. 1 passed; 0 failed", None);
    }
}
