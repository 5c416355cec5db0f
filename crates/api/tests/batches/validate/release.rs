//! The rules for a BatchRelease.

use api::Severity;
use api::batches::{BatchRelease, Context, Version, convert};
use serde_json::{Value, json};

use super::{accept, refuse, said, warnings, with};

pub(super) fn release() -> Value {
    json!({
        "apiVersion": "rollouts.kruise.io/v1beta1",
        "kind": "BatchRelease",
        "metadata": {"name": "demo", "namespace": "shop"},
        "spec": {
            "workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "releasePlan": {
                "batches": [{"canaryReplicas": 1}, {"canaryReplicas": "100%"}], "batchPartition": 0,
            },
        },
    })
}

#[test]
fn a_batch_release_of_ones_own_is_checked() {
    accept(&release());
    accept(&convert(&release(), Version::V1alpha1).unwrap());
    serde_json::from_value::<BatchRelease>(release()).unwrap();
    let plan =
        |key: &str, value: Value| with(release(), &format!("/spec/releasePlan/{key}"), value);
    let batches = "spec.releasePlan.batches";
    refuse(&plan("batches", json!([])), batches, "is empty");
    refuse(
        &plan("batches/0/canaryReplicas", json!(0)),
        &format!("{batches}[0].canaryReplicas"),
        "replicas must be positive number",
    );
    refuse(
        &plan("batches", json!([{"canaryReplicas": 3}, {"canaryReplicas": 2}])),
        &format!("{batches}[1].canaryReplicas"),
        "Steps.CanaryReplicas must be a non decreasing sequence",
    );
    let at = |key: &str| format!("spec.releasePlan.{key}");
    refuse(&plan("batchPartition", json!(-1)), &at("batchPartition"), "is negative");
    accept(&plan("batchPartition", json!(null)));
    let past = plan("batchPartition", json!(2));
    accept(&past);
    assert_eq!(warnings(&past)[0].1, "is 2, past the last batch, which is 1");
    refuse(&plan("finalizingPolicy", json!("Later")), &at("finalizingPolicy"), "\"Later\" is not");
    refuse(&plan("failureThreshold", json!("x")), &at("failureThreshold"), "must be a number");
    accept(&plan("rollingStyle", json!("Partition")));
    for style in ["BlueGreen", "Canary", "Rolling"] {
        refuse(&plan("rollingStyle", json!(style)), &at("rollingStyle"), "");
    }
    let extra = "enableExtraWorkloadForCanary";
    refuse(&plan(extra, json!(true)), &at(extra), "releases by a canary Deployment");
    let set = with(plan(extra, json!(true)), "/spec/workloadRef/kind", json!("StatefulSet"));
    accept(&set);
    let kind = with(release(), "/spec/workloadRef/kind", json!("Job"));
    refuse(&kind, "spec.workloadRef", "WorkloadRef kind is not supported");
    let none = with(release(), "/spec/workloadRef", json!(null));
    refuse(&none, "spec.workloadRef", "WorkloadRef is required");
}

#[test]
fn a_batch_release_stays_with_its_workload() {
    for stored in [release(), convert(&release(), Version::V1alpha1).unwrap()] {
        let mut after = stored.clone();
        let place = match after["spec"].get("workloadRef") {
            Some(_) => "/spec/workloadRef/name",
            None => "/spec/targetReference/workloadRef/name",
        };
        *after.pointer_mut(place).unwrap() = json!("other");
        for (phase, is_refused) in [("Progressing", true), ("Completed", false), ("", false)] {
            let before = with(stored.clone(), "/status", json!({ "phase": phase }));
            let context = Context { before: Some(&before), ..Context::default() };
            let found = said(&after, &context, Severity::Error);
            assert_eq!(found.len(), usize::from(is_refused), "{phase}: {found:?}");
        }
    }
}

#[test]
fn what_a_record_would_put_into_a_stored_release_counts() {
    let record = json!([{"at": "/spec/releasePlan/batchPartition", "was": 0, "is": -1}]);
    let older = convert(&release(), Version::V1alpha1).unwrap();
    let at = "/metadata/annotations/sluice.dev~1conversion";
    let forged = with(older.clone(), at, json!(record.to_string()));
    refuse(&forged, "spec.releasePlan.batchPartition", "is negative");
    accept(&older);
}
