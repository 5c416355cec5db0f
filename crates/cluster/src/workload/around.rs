//! Who has a release of a workload, as the caches show it: what a webhook asks about.

use api::batches::names::{CONTROL_INFO, IN_PROGRESSING};
use api::batches::{BatchRelease, Claim, Context, Rollout, validate};
use engine::admit::workload::{Around, Leader, Release};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Before, annotation};
use crate::caches::{Caches, Held};
use crate::key::Key;
use crate::seen::{ReplicaSetSeen, Resource};
use crate::subject::Workload;

/// What the caches show around a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// Who has a release of it.
    pub around: Around,
    /// Deployments: whether a ReplicaSet of it has Pods.
    pub running: Option<bool>,
    /// Deployments: pod-template-hash of the ReplicaSet to go back to from `new`.
    pub stable_revision: Option<String>,
}

/// Looks around a workload that is about to become `new` instead of `old`.
pub fn surroundings(
    caches: &Caches,
    workload: &Workload,
    old: &Value,
    new: &Value,
) -> Surroundings {
    let held = caches.lock();
    let waiting = held.waiting_for();
    if !waiting.is_empty() {
        let why = format!("not yet listed: {}", waiting.join(", "));
        return Surroundings { around: Around::Unknown(why), running: None, stable_revision: None };
    }
    let leader = leader(&held, workload, annotation(old, IN_PROGRESSING));
    let release = release(&held, workload, annotation(old, CONTROL_INFO));
    let around = Around::Known { leader: leader.map(described), release };
    let uid = old["metadata"]["uid"].as_str().unwrap_or_default();
    let sets: Vec<&ReplicaSetSeen> = held.replica_sets.owned_by(uid).collect();
    let Before { running, stable } = workload.kind.adapter().eye.before(&sets, new);
    Surroundings { around, running, stable_revision: stable }
}

/// The workloads that the Rollouts of a namespace name; none where that cannot be said yet.
pub fn claims(caches: &Caches, namespace: &str) -> Vec<Claim> {
    let held = caches.lock();
    let read = |seen: &Resource<Rollout>| {
        let workload = seen.object.as_ref().ok()?.spec.workload_ref.clone();
        let Key { namespace, name } = seen.meta.key();
        seen.meta.deletion_timestamp.is_none().then_some(Claim { namespace, name, workload })
    };
    held.rollouts.in_namespace(namespace).filter_map(read).collect()
}

/// The Rollout that leads a workload: whose mark it bears, or whose release is under way; else the oldest
/// that holds changes.
pub(crate) fn leader<'a>(
    held: &'a Held,
    workload: &Workload,
    mark: Option<&str>,
) -> Option<&'a Resource<Rollout>> {
    let mark: Value = mark.and_then(|mark| serde_json::from_str(mark).ok()).unwrap_or_default();
    let rank = |seen: &&Resource<Rollout>| {
        let marked = mark["rolloutName"] == seen.meta.name.as_str();
        let phase = phase(seen);
        let under_way = ["Progressing", "Terminating", "Disabling"].contains(&phase);
        let age: (Option<Timestamp>, String) =
            (seen.meta.creation_timestamp, seen.meta.name.clone());
        (!marked, !under_way, is_idle(seen), age)
    };
    held.named_by::<Rollout>(workload).min_by_key(rank)
}

fn described(seen: &Resource<Rollout>) -> Leader {
    let status = seen.object.as_ref().ok().and_then(|rollout| rollout.status.as_ref());
    let conditions = status.map(|status| status.conditions.as_slice()).unwrap_or_default();
    let reason = conditions.iter().find(|one| one.type_ == "Progressing");
    let reason = reason.map(|condition| condition.reason.as_str()).unwrap_or_default();
    let ends = ["Finalising", "Cancelling", "Completed"].contains(&reason);
    let ending = match phase(seen) {
        "Terminating" | "Disabling" => true,
        "Progressing" => ends,
        _ => false,
    };
    let name = seen.meta.name.clone();
    Leader { name, idle: is_idle(seen), ending, obstacle: obstacle(seen) }
}

fn phase(seen: &Resource<Rollout>) -> &str {
    let status = seen.object.as_ref().ok().and_then(|rollout| rollout.status.as_ref());
    status.map_or("", |status| status.phase.as_str())
}

fn is_idle(seen: &Resource<Rollout>) -> bool {
    let disabled = seen.object.as_ref().ok().and_then(|rollout| rollout.spec.disabled);
    disabled == Some(true) || seen.meta.deletion_timestamp.is_some()
}

/// What is wrong with a Rollout as it stands; it may have come in before there was a webhook.
fn obstacle(seen: &Resource<Rollout>) -> Option<String> {
    let rollout = match &seen.object {
        Ok(rollout) => rollout,
        Err(why) => return Some(why.clone()),
    };
    let errors = validate(&json!(**rollout), &Context::default());
    let first = errors.into_iter().find(|finding| finding.severity == api::Severity::Error)?;
    Some(format!("{}: {}", first.path, first.message))
}

/// The BatchRelease that control-info names.
fn release(held: &Held, workload: &Workload, control: Option<&str>) -> Release {
    let owner: Value =
        control.and_then(|owner| serde_json::from_str(owner).ok()).unwrap_or_default();
    let key = Key::new(&*workload.key.namespace, owner["name"].as_str().unwrap_or_default());
    let Some(seen) = held.releases.get(&key) else { return Release::None };
    if owner["uid"] != seen.meta.uid.as_str() {
        return Release::None;
    }
    let lets_go = |release: &BatchRelease| {
        let phase = release.status.as_ref().map(|status| status.phase.as_str());
        release.spec.release_plan.batch_partition.is_none() || phase == Some("Completed")
    };
    let ending = seen.object.as_ref().is_ok_and(|release| lets_go(release));
    match ending || seen.meta.deletion_timestamp.is_some() {
        true => Release::Ending,
        false => Release::GoesOn,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::concern::{Kept, Woken};
    use crate::kind::Kind;
    use crate::seen::{BudgetSeen, PodSeen, RevisionSeen, WorkloadSeen};
    use crate::watch::Seen;

    /// Annotation of a ReplicaSet, by Kubernetes: a later template has a larger number.
    const REVISION: &str = "deployment.kubernetes.io/revision";

    fn fill<K: Kept<Shelf = ()>>(held: &mut Held, items: &[Value]) {
        put::<K>(held, (), items);
    }

    fn put<K: Kept>(held: &mut Held, shelf: K::Shelf, items: &[Value]) {
        let rows = items.iter().map(|item| K::deserialize(item).unwrap()).collect();
        let changes = K::table_mut(held, shelf).take(Seen::All(rows, "1".to_owned()));
        for change in &changes {
            K::concerned(held, shelf, change, &mut Woken::new());
        }
    }

    /// Caches that hold these, and have listed everything.
    fn caches(rollouts: &[Value], releases: &[Value], sets: &[Value]) -> Arc<Caches> {
        let caches = Caches::new(Box::new(|_, _| {}));
        let mut held = caches.lock();
        fill::<Resource<api::bedrock::StatefulsetRollout>>(&mut held, &[]);
        fill::<Resource<Rollout>>(&mut held, rollouts);
        fill::<Resource<BatchRelease>>(&mut held, releases);
        for kind in Kind::ALL {
            put::<WorkloadSeen>(&mut held, kind, &[]);
        }
        fill::<ReplicaSetSeen>(&mut held, sets);
        fill::<RevisionSeen>(&mut held, &[]);
        fill::<PodSeen>(&mut held, &[]);
        fill::<BudgetSeen>(&mut held, &[]);
        drop(held);
        caches
    }

    fn rollout(name: &str, minute: u32, phase: &str, disabled: bool) -> Value {
        json!({
            "apiVersion": "rollouts.kruise.io/v1beta1",
            "kind": "Rollout",
            "metadata": {
                "namespace": "shop", "name": name, "uid": name, "resourceVersion": "1",
                "creationTimestamp": format!("2026-01-01T00:{minute:02}:00Z"),
            },
            "spec": {
                "disabled": disabled,
                "workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                "strategy": {"canary": {"steps": [{"replicas": 1}]}},
            },
            "status": {"phase": phase, "currentStepIndex": 1, "currentStepState": ""},
        })
    }

    fn web() -> Workload {
        Workload::new(Kind::Deployment, Key::new("shop", "web"))
    }

    fn around(caches: &Caches, annotations: &Value) -> (Option<Leader>, Release) {
        let object = json!({"metadata": {"uid": "u", "annotations": annotations}});
        match surroundings(caches, &web(), &object, &object).around {
            Around::Known { leader, release } => (leader, release),
            Around::Unknown(why) => panic!("{why}"),
        }
    }

    #[test]
    fn of_several_rollouts_that_name_a_workload_one_leads() {
        fn check(rollouts: &[Value], mark: &str, expect: Option<&str>) {
            let caches = caches(rollouts, &[], &[]);
            let mark = json!({"rolloutName": mark}).to_string();
            let (leader, _) = around(&caches, &json!({IN_PROGRESSING: mark}));
            assert_eq!(leader.map(|leader| leader.name).as_deref(), expect, "{rollouts:?}");
        }
        let (old, young) = (rollout("old", 1, "Healthy", false), rollout("young", 2, "", false));
        check(&[], "", None);
        check(&[young.clone(), old.clone()], "", Some("old"));
        check(&[rollout("old", 1, "Disabled", true), young.clone()], "", Some("young"));
        check(&[old.clone(), rollout("young", 2, "Progressing", false)], "", Some("young"));
        check(&[old.clone(), rollout("young", 2, "Disabling", true)], "", Some("young"));
        check(&[old, young], "young", Some("young"));
    }

    #[test]
    fn a_rollout_says_whether_it_holds_and_whether_it_gives_back() {
        fn check(rollout: &Value, idle: bool, ending: bool) {
            let caches = caches(std::slice::from_ref(rollout), &[], &[]);
            let leader = around(&caches, &json!({})).0.unwrap();
            assert_eq!((leader.idle, leader.ending), (idle, ending), "{rollout}");
            assert_eq!(leader.obstacle, None);
        }
        let with_reason = |reason: &str| {
            let mut rollout = rollout("web", 1, "Progressing", false);
            rollout["status"]["conditions"] = json!([{
                "type": "Progressing", "status": "True", "reason": reason, "message": "",
            }]);
            rollout
        };
        check(&rollout("web", 1, "Healthy", false), false, false);
        check(&rollout("web", 1, "Disabled", true), true, false);
        check(&rollout("web", 1, "Disabling", true), true, true);
        check(&rollout("web", 1, "Terminating", false), false, true);
        check(&with_reason("InRolling"), false, false);
        check(&with_reason("Paused"), false, false);
        check(&with_reason("Finalising"), false, true);
        check(&with_reason("Cancelling"), false, true);
        let mut deleted = rollout("web", 1, "Healthy", false);
        deleted["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:09:00Z");
        check(&deleted, true, false);
    }

    #[test]
    fn a_rollout_that_cannot_release_says_why() {
        let mut canary = rollout("web", 1, "Healthy", false);
        canary["spec"]["strategy"]["canary"]["enableExtraWorkloadForCanary"] = json!(true);
        let leader = around(&caches(&[canary], &[], &[]), &json!({})).0.unwrap();
        assert!(leader.obstacle.unwrap().contains("enableExtraWorkloadForCanary"));
    }

    #[test]
    fn control_info_counts_for_as_long_as_its_release_is_there() {
        fn check(release: &Value, uid: &str, expect: Release) {
            let caches = caches(&[], std::slice::from_ref(release), &[]);
            let control = json!({"name": "web", "uid": uid}).to_string();
            let found = around(&caches, &json!({CONTROL_INFO: control})).1;
            assert_eq!(found, expect, "{release}");
        }
        let release = |batch_partition: Value, phase: &str| {
            json!({
                "apiVersion": "rollouts.kruise.io/v1beta1",
                "kind": "BatchRelease",
                "metadata": {"namespace": "shop", "name": "web", "uid": "r", "resourceVersion": "1"},
                "spec": {
                    "workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                    "releasePlan": {"batches": [], "batchPartition": batch_partition},
                },
                "status": {"phase": phase, "canaryStatus": {"currentBatch": 0}},
            })
        };
        check(&release(json!(0), "Progressing"), "r", Release::GoesOn);
        check(&release(json!(0), "Progressing"), "another", Release::None);
        check(&release(json!(0), "Completed"), "r", Release::Ending);
        check(&release(Value::Null, "Progressing"), "r", Release::Ending);
        let mut deleted = release(json!(0), "Progressing");
        deleted["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:09:00Z");
        check(&deleted, "r", Release::Ending);
        let free = around(&caches(&[], &[], &[]), &json!({}));
        assert_eq!(free, (None, Release::None));
    }

    #[test]
    fn the_replica_set_to_go_back_to_is_the_earliest_that_runs_another_template() {
        let set = |hash: &str, revision: &str, replicas: u32, image: &str| {
            json!({
                "metadata": {
                    "namespace": "shop", "name": hash, "uid": hash, "resourceVersion": "1",
                    "labels": {"pod-template-hash": hash}, "annotations": {REVISION: revision},
                    "ownerReferences": [{
                        "apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "u",
                        "controller": true,
                    }],
                },
                "spec": {"replicas": replicas, "template": {"spec": {"image": image}}},
                "status": {"replicas": replicas},
            })
        };
        let look = |sets: &[Value], image: &str| {
            let object = json!({
                "metadata": {"uid": "u"}, "spec": {"template": {"spec": {"image": image}}},
            });
            let found = surroundings(&caches(&[], &[], sets), &web(), &object, &object);
            (found.running, found.stable_revision)
        };
        let (one, two) = (set("h1", "9", 3, "v1"), set("h2", "10", 1, "v2"));
        let stable = |hash: &str| (Some(true), Some(hash.to_owned()));
        assert_eq!(look(&[], "v2"), (Some(false), None));
        assert_eq!(look(&[set("h1", "9", 0, "v1")], "v2"), (Some(false), None));
        assert_eq!(look(std::slice::from_ref(&one), "v2"), stable("h1"));
        assert_eq!(look(&[one.clone(), two.clone()], "v3"), stable("h1"));
        assert_eq!(look(&[one.clone(), two], "v1"), stable("h2"));
        assert_eq!(look(&[one], "v1"), (Some(true), None));
    }
}
