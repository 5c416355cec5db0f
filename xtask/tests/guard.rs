//! A guard and what it keeps: nothing of a family outlives whoever asked for it.

#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A guard of a shell that runs `script`; dropping its input is what the end of a task looks like.
fn guard(script: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(["guard", "sh", "-c", script]);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    piped.spawn().expect("the guard")
}

/// The numbers that it prints first, one a line, up to an empty line.
fn processes(guard: &mut Child) -> Vec<u32> {
    let said = BufReader::new(guard.stdout.as_mut().expect("piped"));
    let lines = said.lines().map(|line| line.expect("text"));
    let family = lines.take_while(|line| !line.is_empty());
    family.map(|line| line.parse().expect("a process")).collect()
}

fn is_there(process: u32) -> bool {
    Path::new("/proc").join(process.to_string()).exists()
}

/// Starts a family that never ends by itself, ends the task, and looks who is left.
fn check(family: &str) {
    let mut guard = guard(family);
    let family = processes(&mut guard);
    assert!(!family.is_empty() && family.iter().all(|process| is_there(*process)));
    drop(guard.stdin.take());
    let status = guard.wait().expect("it ends");
    assert!(!status.success(), "{status}");
    let left: Vec<&u32> = family.iter().filter(|process| is_there(**process)).collect();
    assert!(left.is_empty(), "still there: {left:?}");
}

#[test]
fn a_family_goes_with_the_task_that_asked_for_it() {
    check("sleep 1000 & echo $!; echo $$; echo; wait");
}

#[test]
fn one_in_a_session_of_its_own_goes_too() {
    check("setsid sh -c 'echo $$; echo; exec sleep 1000' & wait");
}

#[test]
fn one_that_was_left_by_its_parent_goes_too() {
    check("setsid sh -c 'sleep 1000 & echo $!; echo' & sleep 1000");
}

#[test]
fn a_stopped_one_goes_too() {
    check("sleep 1000 & echo $!; kill -STOP $!; echo; wait");
}

#[test]
fn what_is_left_of_a_family_that_has_ended_goes() {
    let mut guard = guard("setsid sleep 1000 > /dev/null 2>&1 & echo $!; echo; exit 7");
    let family = processes(&mut guard);
    let lifeline = guard.stdin.take();
    assert_eq!(guard.wait().expect("it ends").code(), Some(7));
    assert!(!is_there(family[0]), "{} is still there", family[0]);
    drop(lifeline);
}

#[test]
fn an_orphan_that_has_ended_is_let_go() {
    // Nobody else waits for it: as a zombie it would be taken for alive, and this would never end.
    let orphan = "orphan=$(sh -c 'sleep 0.1 > /dev/null & echo $!')";
    let gone = "while kill -0 $orphan 2> /dev/null; do sleep 0.1; done";
    let mut guard = guard(&format!("{orphan}; {gone}; exit 5"));
    let lifeline = guard.stdin.take();
    assert_eq!(guard.wait().expect("it ends").code(), Some(5));
    drop(lifeline);
}

#[test]
fn output_and_exit_code_are_those_of_the_command() {
    fn check(script: &str, code: i32, out: &str, errors: &str) {
        let mut guard = guard(script);
        // Held, or else it would end the command.
        let lifeline = guard.stdin.take();
        let status = guard.wait().expect("it ends");
        let (mut said, mut wrong) = (String::new(), String::new());
        guard.stdout.take().expect("piped").read_to_string(&mut said).expect("piped text");
        guard.stderr.take().expect("piped").read_to_string(&mut wrong).expect("piped text");
        assert_eq!((status.code(), said.as_str(), wrong.as_str()), (Some(code), out, errors));
        drop(lifeline);
    }
    check("echo yes", 0, "yes\n", "");
    check("echo no >&2; exit 3", 3, "", "no\n");
    check("kill -KILL $$", 137, "", "");
}
