//! Columns and rows of the kinds that are kept and handed out, with nothing behind them.

mod words;

use jiff::Timestamp;

use self::words::{
    addresses, available, balancers, claim, claim_state, completions, duration, hosts, job_state,
    joined, quota, request_state, slice_addresses, slice_ports, targets, text, truth,
};
use super::age::since;
use super::rows::{access_modes, each, label_selector, labels, selector};
use crate::json::{Value, json};
use crate::kind::Kind;

/// The columns of a kind, as [`super::known`] writes them.
pub(super) fn known(kind: &Kind) -> Option<&'static str> {
    Some(match kind.kind.as_str() {
        "Endpoints" => "Name, Endpoints, Age",
        "LimitRange" | "CSIStorageCapacity" => "Name, Created At",
        "PersistentVolume" => {
            "Name, Capacity, Access Modes, Reclaim Policy, Status, Claim, StorageClass, \
             VolumeAttributesClass, Reason, Age, +VolumeMode"
        }
        "PodTemplate" => "Name, Containers, Images, Pod Labels",
        "ReplicationController" => {
            "Name, #Desired, #Current, #Ready, Age, +Containers, +Images, +Selector"
        }
        "ResourceQuota" => "Name, Request, Limit, Age",
        "APIService" => "Name, Service, Available, Age",
        "HorizontalPodAutoscaler" => "Name, Reference, Targets, MinPods, MaxPods, Replicas, Age",
        "CronJob" => {
            "Name, Schedule, Timezone, ?Suspend, #Active, Last Schedule, Age, +Containers, \
             +Images, +Selector"
        }
        "Job" => "Name, Status, Completions, Duration, Age, +Containers, +Images, +Selector",
        "IngressClass" => "Name, Controller, Parameters, Age",
        "Ingress" => "Name, Class, Hosts, Address, Ports, Age",
        "NetworkPolicy" => "Name, Pod-Selector, Age",
        "CSINode" => "Name, #Drivers, Age",
        "StorageClass" => {
            "Name, Provisioner, ReclaimPolicy, VolumeBindingMode, AllowVolumeExpansion, Age"
        }
        "VolumeAttachment" => "Name, Attacher, PV, Node, ?Attached, Age",
        "VolumeAttributesClass" => "Name, DriverName, Age",
        "PriorityClass" => "Name, #Value, ?Global-Default, Age, PreemptionPolicy",
        "RuntimeClass" => "Name, Handler, Age",
        "EndpointSlice" => "Name, AddressType, Ports, Endpoints, Age",
        "ServiceCIDR" => "Name, CIDRs, Age",
        "CSIDriver" => {
            "Name, ?AttachRequired, ?PodInfoOnMount, ?StorageCapacity, TokenRequests, \
             ?RequiresRepublish, Modes, Age"
        }
        "ResourceClaim" => "Name, State, Age",
        "ValidatingAdmissionPolicy" => "Name, #Validations, ParamKind, Age",
        "ValidatingAdmissionPolicyBinding" => "Name, PolicyName, ParamRef, Age",
        "CertificateSigningRequest" => {
            "Name, Age, SignerName, Requestor, RequestedDuration, Condition"
        }
        "ResourceSlice" => "Name, Node, Driver, Pool, Age",
        _ => return None,
    })
}

/// The row of one object of such a kind.
pub(super) fn cells(kind: &Kind, object: &Value, now: Timestamp) -> Option<Vec<Value>> {
    let name = object["metadata"]["name"].clone();
    let age = json!(since(&object["metadata"]["creationTimestamp"], now));
    let (spec, status) = (&object["spec"], &object["status"]);
    let count = |value: &Value| json!(value.as_i64().unwrap_or_default());
    let or = |value: &Value, absent: &str| json!(value.as_str().unwrap_or(absent));
    Some(match kind.kind.as_str() {
        "Endpoints" => vec![name, json!(addresses(&object["subsets"])), age],
        "LimitRange" | "CSIStorageCapacity" => {
            vec![name, object["metadata"]["creationTimestamp"].clone()]
        }
        "PersistentVolume" => vec![
            name,
            or(&spec["capacity"]["storage"], ""),
            json!(access_modes(&spec["accessModes"])),
            or(&spec["persistentVolumeReclaimPolicy"], ""),
            or(&status["phase"], ""),
            json!(claim(&spec["claimRef"])),
            or(&spec["storageClassName"], ""),
            or(&spec["volumeAttributesClassName"], "<unset>"),
            or(&status["reason"], ""),
            age,
            or(&spec["volumeMode"], "<unset>"),
        ],
        "PodTemplate" => {
            let template = &object["template"];
            let pod = &template["spec"];
            vec![
                name,
                each(pod, "name"),
                each(pod, "image"),
                labels(&template["metadata"]["labels"]),
            ]
        }
        "ReplicationController" => {
            let pod = &spec["template"]["spec"];
            vec![
                name,
                count(&spec["replicas"]),
                count(&status["replicas"]),
                count(&status["readyReplicas"]),
                age,
                each(pod, "name"),
                each(pod, "image"),
                labels(&spec["selector"]),
            ]
        }
        "ResourceQuota" => {
            let (requests, limits) = quota(status);
            vec![name, json!(requests), json!(limits), age]
        }
        "APIService" => {
            let service = &spec["service"];
            let shown = match (service["namespace"].as_str(), service["name"].as_str()) {
                (Some(namespace), Some(name)) => format!("{namespace}/{name}"),
                _ => "Local".to_owned(),
            };
            vec![name, json!(shown), json!(available(status)), age]
        }
        "HorizontalPodAutoscaler" => {
            let of = &spec["scaleTargetRef"];
            let reference = format!("{}/{}", text(&of["kind"]), text(&of["name"]));
            let least = spec["minReplicas"]
                .as_i64()
                .map_or("<unset>".to_owned(), |least| least.to_string());
            vec![
                name,
                json!(reference),
                json!(targets(spec, status)),
                json!(least),
                count(&spec["maxReplicas"]),
                count(&status["currentReplicas"]),
                age,
            ]
        }
        "CronJob" => {
            let pod = &spec["jobTemplate"]["spec"]["template"]["spec"];
            let last = &status["lastScheduleTime"];
            vec![
                name,
                or(&spec["schedule"], ""),
                or(&spec["timeZone"], "<none>"),
                json!(truth(&spec["suspend"])),
                json!(status["active"].as_array().map_or(0, Vec::len)),
                json!(if last.is_null() { "<none>".to_owned() } else { since(last, now) }),
                age,
                each(pod, "name"),
                each(pod, "image"),
                selector(&spec["jobTemplate"]["spec"]),
            ]
        }
        "Job" => {
            let pod = &spec["template"]["spec"];
            vec![
                name,
                json!(job_state(object)),
                json!(completions(spec, status)),
                json!(duration(status, now)),
                age,
                each(pod, "name"),
                each(pod, "image"),
                selector(spec),
            ]
        }
        "IngressClass" => {
            let of = &spec["parameters"];
            let parameters = match (of["apiGroup"].as_str(), of["kind"].as_str()) {
                (_, None) => "<none>".to_owned(),
                (Some(group), Some(kind)) => format!("{kind}.{group}/{}", text(&of["name"])),
                (None, Some(kind)) => format!("{kind}/{}", text(&of["name"])),
            };
            vec![name, or(&spec["controller"], ""), json!(parameters), age]
        }
        "Ingress" => {
            let secure = spec["tls"].as_array().is_some_and(|tls| !tls.is_empty());
            let ports = if secure { "80, 443" } else { "80" };
            vec![
                name,
                or(&spec["ingressClassName"], "<none>"),
                json!(hosts(&spec["rules"])),
                json!(balancers(&status["loadBalancer"]["ingress"])),
                json!(ports),
                age,
            ]
        }
        "NetworkPolicy" => vec![name, json!(label_selector(&spec["podSelector"])), age],
        "CSINode" => vec![name, json!(spec["drivers"].as_array().map_or(0, Vec::len)), age],
        "StorageClass" => {
            let default = "storageclass.kubernetes.io/is-default-class";
            let marked = object["metadata"]["annotations"][default] == "true";
            let shown =
                if marked { format!("{} (default)", text(&name)) } else { text(&name).into() };
            let expands = object["allowVolumeExpansion"] == true;
            vec![
                json!(shown),
                object["provisioner"].clone(),
                or(&object["reclaimPolicy"], "Delete"),
                or(&object["volumeBindingMode"], "Immediate"),
                json!(expands),
                age,
            ]
        }
        "VolumeAttachment" => vec![
            name,
            or(&spec["attacher"], ""),
            or(&spec["source"]["persistentVolumeName"], ""),
            or(&spec["nodeName"], ""),
            json!(status["attached"] == true),
            age,
        ],
        "VolumeAttributesClass" => vec![name, or(&object["driverName"], ""), age],
        "PriorityClass" => vec![
            name,
            count(&object["value"]),
            json!(object["globalDefault"] == true),
            age,
            or(&object["preemptionPolicy"], ""),
        ],
        "RuntimeClass" => vec![name, or(&object["handler"], ""), age],
        "EndpointSlice" => vec![
            name,
            or(&object["addressType"], ""),
            json!(slice_ports(&object["ports"])),
            json!(slice_addresses(&object["endpoints"])),
            age,
        ],
        "ServiceCIDR" => vec![name, json!(joined(&spec["cidrs"])), age],
        "CSIDriver" => {
            let flag = |field: &str| json!(spec[field] == true);
            let tokens = spec["tokenRequests"].as_array().filter(|all| !all.is_empty());
            let tokens = tokens.map(|all| {
                let audiences = all.iter().map(|one| text(&one["audience"]).to_owned());
                audiences.collect::<Vec<_>>().join(",")
            });
            vec![
                name,
                flag("attachRequired"),
                flag("podInfoOnMount"),
                flag("storageCapacity"),
                json!(tokens.unwrap_or_else(|| "<unset>".to_owned())),
                flag("requiresRepublish"),
                json!(joined(&spec["volumeLifecycleModes"])),
                age,
            ]
        }
        "ResourceClaim" => vec![name, json!(claim_state(object)), age],
        "ValidatingAdmissionPolicy" => {
            let of = &spec["paramKind"];
            let param = match (of["apiVersion"].as_str(), of["kind"].as_str()) {
                (Some(version), Some(kind)) => format!("{version}/{kind}"),
                _ => "<unset>".to_owned(),
            };
            let count = spec["validations"].as_array().map_or(0, Vec::len);
            vec![name, json!(count), json!(param), age]
        }
        "ValidatingAdmissionPolicyBinding" => {
            let of = &spec["paramRef"];
            let param = match (of["namespace"].as_str(), of["name"].as_str()) {
                (Some(namespace), Some(name)) => format!("{namespace}/{name}"),
                (None, Some(name)) => name.to_owned(),
                _ => "<unset>".to_owned(),
            };
            vec![name, or(&spec["policyName"], ""), json!(param), age]
        }
        "CertificateSigningRequest" => {
            let duration = spec["expirationSeconds"].as_i64();
            let duration = duration.map_or("<none>".to_owned(), super::human_duration);
            vec![
                name,
                age,
                or(&spec["signerName"], "<none>"),
                or(&spec["username"], ""),
                json!(duration),
                json!(request_state(status)),
            ]
        }
        "ResourceSlice" => vec![
            name,
            or(&spec["nodeName"], ""),
            or(&spec["driver"], ""),
            or(&spec["pool"]["name"], ""),
            age,
        ],
        _ => return None,
    })
}
