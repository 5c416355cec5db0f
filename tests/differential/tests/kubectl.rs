//! Sessions of a stock `kubectl`, on the embedded cluster in each run, on a real one where
//! `SLUICE_CONTROLPLANE` names its binary.
//!
//! `kubectl` is what `SLUICE_KUBECTL` names, or the one that `tests/controlplane/build.sh` made;
//! without either nothing is played. `SLUICE_KUBECTL_ONLY` picks sessions by a part of their name;
//! `SLUICE_KUBECTL_WRITE=1` writes down what the real cluster says now.

use std::path::{Path, PathBuf};

use differential::kubectl::allowed::allowed;
use differential::kubectl::cluster::{Address, Served};
use differential::kubectl::play::Player;
use differential::kubectl::script::{self, Step};
use differential::plane::Plane;
use differential::settings::setting;

/// `kubectl` is a process, and both clusters have the time that the machine leaves them: what differs once
/// and not again came of that. Each difference is printed.
const TRIES: usize = 3;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kubectl")
}

fn kubectl() -> Option<PathBuf> {
    let named = setting("SLUICE_KUBECTL").map(PathBuf::from);
    let built = || folder().join("../../../target/controlplane/kubectl").canonicalize().ok();
    let found = named.or_else(built).filter(|path| path.exists());
    if found.is_none() {
        println!("no kubectl: no session is played");
    }
    found
}

/// Name, file and steps of the chosen sessions.
fn sessions() -> Vec<(String, PathBuf, Vec<Step>)> {
    let only = setting("SLUICE_KUBECTL_ONLY").unwrap_or_default();
    let entries = std::fs::read_dir(folder()).expect("the sessions are beside the tests");
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "session"));
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem()?.to_str()?.to_owned();
        let text = std::fs::read_to_string(&path).expect("a session is a text");
        name.contains(&only).then(|| (name, path, script::parse(&text)))
    };
    paths.into_iter().filter_map(read).collect()
}

/// Whether the embedded cluster may answer this otherwise; it has to, if it may.
fn excused(name: &str, expected: &Step, found: &Step) -> bool {
    let why = allowed(name, &expected.command);
    if let Some(why) = why.filter(|_| expected.said == found.said) {
        println!("  {name}: {}: no longer differs, take it off the list ({why})", expected.command);
        return false;
    }
    why.is_some() || expected.said == found.said
}

/// Prints the steps that were answered otherwise; true when there are none.
fn alike(name: &str, expected: &[Step], found: &[Step], embedded: bool) -> bool {
    let excused = |a: &Step, b: &Step| {
        if embedded { excused(name, a, b) } else { a.said == b.said }
    };
    let differing: Vec<_> = expected.iter().zip(found).filter(|(a, b)| !excused(a, b)).collect();
    if differing.is_empty() {
        println!("ok     {name}: {} commands", expected.len());
        return true;
    }
    println!("FAILED {name}: {} of {} commands", differing.len(), expected.len());
    for (expected, found) in differing {
        let bare = |step: &Step| script::write(&[Step { above: String::new(), ..step.clone() }]);
        let (expected, found) = (bare(expected), bare(found));
        let (expected, found): (Vec<_>, Vec<_>) =
            (expected.lines().collect(), found.lines().collect());
        println!("  {}", expected[0]);
        for line in expected[1..].iter().filter(|line| !found[1..].contains(line)) {
            println!("    - {line}");
        }
        for line in found[1..].iter().filter(|line| !expected[1..].contains(line)) {
            println!("    + {line}");
        }
        if expected.len() == found.len() && expected.iter().all(|line| found.contains(line)) {
            println!("    in another order: {found:#?}");
        }
    }
    false
}

fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime")
}

#[test]
fn the_embedded_cluster_says_what_the_real_one_says() {
    let Some(kubectl) = kubectl() else { return };
    if setting("SLUICE_KUBECTL_WRITE").is_some() {
        return;
    }
    let files = folder().join("files");
    let failed: Vec<String> = runtime().block_on(async {
        let runs = sessions().into_iter().map(|(name, _, steps)| {
            let (kubectl, files) = (&kubectl, &files);
            async move {
                for _ in 0..TRIES {
                    let served = Served::up().await.expect("loopback has a port");
                    let folder = served.folder.path();
                    let address = &served.address;
                    let player = Player { kubectl, files, folder, address, anew: false };
                    let found = player.play(&name, &steps).await;
                    if alike(&name, &steps, &found, true) {
                        return None;
                    }
                }
                Some(name)
            }
        });
        use futures::StreamExt;
        futures::stream::iter(runs)
            .buffer_unordered(3)
            .filter_map(std::future::ready)
            .collect()
            .await
    });
    assert!(failed.is_empty(), "answered differently: {failed:?}");
}

#[test]
fn the_real_cluster_says_what_is_written() {
    let Some(kubectl) = kubectl() else { return };
    let Some(plane) = Plane::whole() else { return };
    let kubeconfig = plane.kubeconfig();
    let address = Address { server: String::new(), kubeconfig };
    let files = folder().join("files");
    let anew = setting("SLUICE_KUBECTL_WRITE").is_some();
    let mut failed = Vec::new();
    for (name, path, steps) in sessions() {
        let home = tempfile::tempdir().expect("a home for kubectl");
        let player = Player {
            kubectl: &kubectl,
            files: &files,
            folder: home.path(),
            address: &address,
            anew,
        };
        let play = || runtime().block_on(player.play(&name, &steps));
        if anew {
            let found = play();
            std::fs::write(&path, script::write(&found)).expect("a session can be written");
            println!("wrote  {name}: {} commands", found.len());
        } else if !(0..TRIES).any(|_| alike(&name, &steps, &play(), false)) {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "no longer what the real cluster says: {failed:?}");
}
