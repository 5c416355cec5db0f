//! What a new object of each kind starts with beside its defaults: a status that no client chose.

use crate::builtin::autoscaler;
use crate::json::{Value, json};
use crate::kind::Kind;

/// Sets what the kind's registry sets on create; doing it twice changes nothing.
pub(super) fn prepare(kind: &Kind, object: &mut Value) {
    if kind.custom.is_some() {
        if kind.has_status
            && let Some(fields) = object.as_object_mut()
        {
            fields.remove("status");
        }
        return;
    }
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "namespaces") => {
            let finalizers = &mut object["spec"]["finalizers"];
            match finalizers.as_array_mut() {
                Some(all) if all.iter().any(|one| one == "kubernetes") => {}
                Some(all) => all.push(json!("kubernetes")),
                None => *finalizers = json!(["kubernetes"]),
            }
            object["status"] = json!({"phase": "Active"});
        }
        ("", "pods") => {
            object["status"] = json!({"phase": "Pending", "qosClass": quality(object)});
            if object["spec"]["schedulingGates"].as_array().is_some_and(|all| !all.is_empty()) {
                object["status"]["conditions"] = json!([{
                    "type": "PodScheduled",
                    "status": "False",
                    "reason": "SchedulingGated",
                    "message": "Scheduling is blocked due to non-empty scheduling gates",
                    "lastProbeTime": null,
                    "lastTransitionTime": object["metadata"]["creationTimestamp"],
                }]);
            }
        }
        ("", "nodes") => {
            let endpoints = json!({"kubeletEndpoint": {"Port": 0}});
            missing(&mut object["status"], "daemonEndpoints", endpoints);
        }
        ("", "resourcequotas")
        | ("certificates.k8s.io", "certificatesigningrequests")
        | ("resource.k8s.io", "resourceclaims")
        | ("networking.k8s.io", "servicecidrs")
        | ("admissionregistration.k8s.io", "validatingadmissionpolicies") => {
            object["status"] = json!({});
        }
        ("storage.k8s.io", "volumeattachments") => object["status"] = json!({"attached": false}),
        ("batch", "jobs") => select_own(object),
        ("", "services") => object["status"] = json!({"loadBalancer": {}}),
        ("", "persistentvolumeclaims") => object["status"] = json!({"phase": "Pending"}),
        ("apps", "statefulsets") => {
            object["status"] = json!({"replicas": 0, "availableReplicas": 0});
        }
        ("apps", "replicasets") => object["status"] = json!({"replicas": 0}),
        ("", "persistentvolumes") => object["status"] = json!({"phase": "Pending"}),
        ("apps", "deployments") => object["status"] = json!({}),
        ("apps", "daemonsets") => {
            object["status"] = json!({
                "currentNumberScheduled": 0,
                "numberMisscheduled": 0,
                "desiredNumberScheduled": 0,
                "numberReady": 0,
            });
        }
        ("autoscaling", "horizontalpodautoscalers") if kind.version == "v1" => {
            autoscaler::v1::without_status(object);
        }
        ("autoscaling", "horizontalpodautoscalers") => {
            object["status"] = json!({"desiredReplicas": 0, "currentMetrics": null});
        }
        ("policy", "poddisruptionbudgets") => {
            object["status"] = json!({
                "disruptionsAllowed": 0,
                "currentHealthy": 0,
                "desiredHealthy": 0,
                "expectedPods": 0,
            });
        }
        // Encoded whether set or not.
        ("", "events") => {
            missing(object, "source", json!({}));
            for field in ["firstTimestamp", "lastTimestamp", "eventTime"] {
                missing(object, field, Value::Null);
            }
            for field in ["reportingComponent", "reportingInstance"] {
                missing(object, field, json!(""));
            }
        }
        ("events.k8s.io", "events") => {
            missing(object, "deprecatedSource", json!({}));
            for field in ["deprecatedFirstTimestamp", "deprecatedLastTimestamp", "eventTime"] {
                missing(object, field, Value::Null);
            }
        }
        ("apiextensions.k8s.io", "customresourcedefinitions") => {
            let stored: Vec<Value> = object["spec"]["versions"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|version| version["storage"] == true)
                .map(|version| version["name"].clone())
                .collect();
            object["status"] = json!({
                "conditions": null,
                "acceptedNames": {"plural": "", "kind": ""},
                "storedVersions": stored,
            });
        }
        _ => {}
    }
}

/// A Job finds its Pods by a label with its UID, unless it was told how.
fn select_own(job: &mut Value) {
    missing(&mut job["spec"], "manualSelector", json!(false));
    if job["spec"]["manualSelector"] == true {
        return;
    }
    let (uid, name) = (job["metadata"]["uid"].clone(), job["metadata"]["name"].clone());
    let labels = [
        ("batch.kubernetes.io/controller-uid", &uid),
        ("batch.kubernetes.io/job-name", &name),
        ("controller-uid", &uid),
        ("job-name", &name),
    ];
    for (label, value) in labels {
        job["spec"]["template"]["metadata"]["labels"][label] = value.clone();
    }
    job["spec"]["selector"] =
        json!({"matchLabels": {"batch.kubernetes.io/controller-uid": uid.clone()}});
    let labels = job["spec"]["template"]["metadata"]["labels"].clone();
    missing(&mut job["metadata"], "labels", labels);
}

fn missing(object: &mut Value, field: &str, value: Value) {
    if object.get(field).is_none() {
        object[field] = value;
    }
}

/// The quality of service of a Pod, from the requests and limits of its containers.
fn quality(pod: &Value) -> &'static str {
    let containers = ["containers", "initContainers"]
        .into_iter()
        .filter_map(|list| pod["spec"][list].as_array())
        .flatten();
    let (mut any, mut equal) = (false, true);
    for container in containers {
        for resource in ["cpu", "memory"] {
            let limit = &container["resources"]["limits"][resource];
            let request = &container["resources"]["requests"][resource];
            any |= !limit.is_null() || !request.is_null();
            equal &= !limit.is_null() && (request.is_null() || request == limit);
        }
    }
    match (any, equal) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}
