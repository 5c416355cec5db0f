//! A session as a text: commands, each with what it printed.
//!
//! ```text
//! # A comment belongs to the command below it.
//! $ kubectl get sts web
//! NAME   READY   AGE
//! web   3/3   <age>
//! $ kubectl get sts none
//! ! Error from server (NotFound): statefulsets.apps "none" not found
//! ? 1
//! ```
//!
//! `$` runs once. `~` repeats until the answer is the expected one: for what controllers do. `%` runs
//! once, and its last line counts: for progress that depends on the moment. `&` starts a command that
//! does not end by itself; `.` waits until it has printed what is expected, and ends it. `{port}` is
//! a free port of loopback, the same all through a session.

use std::fmt::Write as _;

/// How a command is run, and what of it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Once.
    Once,
    /// Again and again until it says what is expected.
    Until,
    /// Once; the last line of its output counts.
    Last,
    /// In the background, until [`How::Stop`].
    Start,
    /// Ends what was started.
    Stop,
}

impl How {
    const ALL: [(char, Self); 5] = [
        ('$', Self::Once),
        ('~', Self::Until),
        ('%', Self::Last),
        ('&', Self::Start),
        ('.', Self::Stop),
    ];

    fn sign(self) -> char {
        Self::ALL.iter().find(|(_, how)| *how == self).expect("all are in the list").0
    }
}

/// What a command left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Standard output, made normal.
    pub out: String,
    /// Standard error, made normal.
    pub err: String,
    /// Exit code.
    pub code: i32,
}

/// One command of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Comments and empty lines above it, as they stand in the file.
    pub above: String,
    /// How it is run.
    pub how: How,
    /// The command as written.
    pub command: String,
    /// What it says on the real cluster.
    pub said: Said,
}

/// Reads a session.
pub fn parse(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut above = String::new();
    for line in text.lines() {
        let mut letters = line.chars();
        let how = letters.next().and_then(|sign| How::ALL.iter().find(|(one, _)| *one == sign));
        if line.starts_with('#') {
            let _ = writeln!(above, "{line}");
        } else if let (Some((_, how)), " " | "") = (how, line.get(1..2).unwrap_or_default()) {
            let command = line.get(2..).unwrap_or_default().to_owned();
            let above = std::mem::take(&mut above);
            steps.push(Step { above, how: *how, command, said: Said::default() });
        } else if let Some(step) = steps.last_mut() {
            let said = &mut step.said;
            match line.split_once(' ') {
                Some(("!", rest)) => said.err += &format!("{rest}\n"),
                Some(("?", code)) => said.code = code.parse().expect("an exit code is a number"),
                _ if line == "!" => said.err += "\n",
                _ => said.out += &format!("{}\n", line.strip_prefix('\\').unwrap_or(line)),
            }
        }
    }
    steps
}

/// Writes a session, so that [`parse`] reads the same.
pub fn write(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        let line = format!("{} {}", step.how.sign(), step.command);
        let _ = writeln!(text, "{}{}", step.above, line.trim_end());
        for line in step.said.out.lines() {
            let special = line.starts_with('#') || line.starts_with('\\');
            let signs = ["$", "~", "%", "&", ".", "!", "?"];
            let first = line.split(' ').next().unwrap_or_default();
            let escape = if special || signs.contains(&first) { "\\" } else { "" };
            let _ = writeln!(text, "{escape}{line}");
        }
        for line in step.said.err.lines() {
            let _ = writeln!(text, "{}", format!("! {line}").trim_end());
        }
        if step.said.code != 0 {
            let _ = writeln!(text, "? {}", step.said.code);
        }
    }
    text
}

/// The words of a command, quoted as in a shell.
pub fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in command.chars() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let said = |out: &str, err: &str, code| Said { out: out.into(), err: err.into(), code };
        let step = |above: &str, how, command: &str, said| Step {
            above: above.into(),
            how,
            command: command.into(),
            said,
        };
        let steps = [
            step("# first\n", How::Once, "kubectl get cm", said("a\n\n# b\n$ c\n.d\n", "", 0)),
            step("", How::Start, "kubectl get cm -w", Said::default()),
            step("", How::Until, "kubectl x", said("", "no\n\nnever\n", 1)),
            step("", How::Stop, "", said("\\x\n? 1\n", "", 0)),
        ];
        assert_eq!(parse(&write(&steps)), steps);
    }

    #[test]
    fn words_are_those_of_a_shell() {
        fn check(command: &str, expect: &[&str]) {
            assert_eq!(words(command), expect, "{command}");
        }
        check("kubectl  get cm", &["kubectl", "get", "cm"]);
        check("patch -p '{\"a\": \"b\"}' x", &["patch", "-p", "{\"a\": \"b\"}", "x"]);
        check("label x a=''", &["label", "x", "a="]);
        check(
            "KUBE_EDITOR=\"sed -i s/a/b/\" kubectl edit",
            &["KUBE_EDITOR=sed -i s/a/b/", "kubectl", "edit"],
        );
    }
}
