//! The binary as others start it: exit codes, streams, and the demo from start to end.

use std::process::{Command, Output, Stdio};

fn sluice(arguments: &[&str]) -> Command {
    let folder = std::env::temp_dir();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    for name in ["KUBECONFIG", "HOME", "KUBERNETES_SERVICE_HOST"] {
        command.env_remove(name);
    }
    command
}

fn check(arguments: &[&str], code: i32, says: &str) {
    let Output { status, stdout, stderr } = sluice(arguments).output().expect("the binary starts");
    let all = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert_eq!(status.code(), Some(code), "{arguments:?}: {all}");
    assert!(all.contains(says), "{arguments:?} says {all}");
}

#[test]
fn each_end_has_its_exit_code_and_says_why() {
    check(&["--help"], 0, "5  not found or forbidden");
    check(&["crds"], 0, "kind: CustomResourceDefinition");
    check(&["install"], 0, "kind: ClusterRole\n");
    check(&["get"], 2, "<NAME>");
    check(&["get", "a", "--kubeconfig", "/nowhere/config"], 1, "kubeconfig /nowhere/config");
    check(&["lint", "-f", "/nowhere/a.yaml"], 5, "cannot read /nowhere/a.yaml");
}

#[test]
fn a_rollout_is_linted_and_planned_without_a_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("web.yaml");
    let rollout = "\
apiVersion: rollouts.kruise.io/v1beta1
kind: Rollout
metadata: {name: web}
spec:
  workloadRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  strategy: {canary: {steps: [{replicas: 20%}, {replicas: 100%}]}}
";
    let workload = "\
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 10, selector: {}, template: {}}
";
    let path = file.to_str().unwrap();
    std::fs::write(&file, rollout).unwrap();
    check(&["lint", "-f", path], 0, "1 rollout checked: 0 errors");
    check(&["plan", "-f", path], 1, "give --replicas NUMBER");
    check(&["plan", "-f", path, "--replicas", "50"], 0, "deployment/web, 50 Pods");
    std::fs::write(&file, format!("{rollout}{workload}")).unwrap();
    check(&["plan", "-f", path], 0, "at most 13 Pods at once");
    let labelled = workload.replace("template: {}", "template: {metadata: {labels: {app: web}}}");
    let clones = format!("{rollout}{labelled}");
    let clones =
        clones.replace("apps/v1", "apps.kruise.io/v1beta1").replace("Deployment", "CloneSet");
    let budget = "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\n\
                  spec: {maxUnavailable: 3, selector: {matchLabels: {app: web}}}\n";
    std::fs::write(&file, format!("{clones}{budget}")).unwrap();
    check(&["plan", "-f", path], 0, "as PodDisruptionBudget web (maxUnavailable: 3) allows");
    std::fs::write(&file, clones.replace("CloneSet", "DaemonSet")).unwrap();
    check(&["plan", "-f", path], 1, "nobody has counted its Nodes: give --replicas NUMBER");
    check(&["plan", "-f", path, "--replicas", "3"], 0, "daemonset.apps.kruise.io/web, 3 Pods");
    std::fs::write(&file, rollout.replace("20%", "0%")).unwrap();
    check(&["lint", "-f", path], 1, "web.yaml:6:");
    check(&["plan", "-f", path], 1, "see `sluice lint");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let mut child =
        sluice(&["crds"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}

#[test]
fn the_demo_ends_with_every_pod_at_the_second_version() {
    let folder = tempfile::tempdir().unwrap();
    let ended = sluice(&["demo", "--once", "--start-up=100ms", "-o", "json"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let (text, errors) = (String::from_utf8(ended.stdout).unwrap(), ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&errors));
    let view: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(view["phase"], "RolloutDone");
    let revisions = view["revisions"].as_array().unwrap();
    assert_eq!(revisions.len(), 1, "{text}");
    assert_eq!(
        (&revisions[0]["version"], revisions[0]["pods"].as_array().unwrap().len()),
        (&"v2".into(), 20)
    );
    assert!(!folder.path().join("sluice.kubeconfig").exists(), "it leads nowhere any more");
}

#[test]
fn the_demo_of_batches_ends_with_every_pod_at_the_second_version_and_nothing_held() {
    let folder = tempfile::tempdir().unwrap();
    let ended = sluice(&["demo", "batches", "--once", "--start-up=100ms", "-o", "json"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let (text, errors) = (String::from_utf8(ended.stdout).unwrap(), ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&errors));
    let view: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&view["kind"], &view["phase"]), (&"Rollout".into(), &"Healthy".into()), "{text}");
    let revisions = view["revisions"].as_array().unwrap();
    assert_eq!(revisions.len(), 1, "{text}");
    let pods = revisions[0]["pods"].as_array().unwrap();
    assert_eq!((&revisions[0]["version"], pods.len()), (&"v2".into(), 20));
    // One Pod in the first step, nine more in the second, the rest in the third.
    let in_batch = |batch: u64| pods.iter().filter(|pod| pod["batch"] == batch).count();
    assert_eq!([in_batch(1), in_batch(2), in_batch(3)], [1, 9, 10], "{text}");
    assert!(!folder.path().join("sluice.kubeconfig").exists(), "it leads nowhere any more");
}
