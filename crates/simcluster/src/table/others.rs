//! Columns and rows of the kinds that are kept and handed out, with nothing behind them.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::age::since;
use super::rows::{access_modes, each, labels, selector};
use crate::kind::Kind;
use crate::selector::LabelSelector;

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

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn truth(value: &Value) -> &'static str {
    match value.as_bool() {
        Some(true) => "True",
        Some(false) => "False",
        None => "<unset>",
    }
}

/// The first three, and how many more there are.
fn few(all: &[String], none: &str) -> String {
    match all {
        [] => none.to_owned(),
        [..] if all.len() <= 3 => all.join(","),
        [a, b, c, rest @ ..] => format!("{a},{b},{c} + {} more...", rest.len()),
        _ => unreachable!("more than three"),
    }
}

fn addresses(subsets: &Value) -> String {
    let mut all = Vec::new();
    for subset in list(subsets) {
        let ports: Vec<&Value> = list(&subset["ports"]).collect();
        for address in list(&subset["addresses"]) {
            let ip = text(&address["ip"]);
            if ports.is_empty() {
                all.push(ip.to_owned());
            }
            all.extend(ports.iter().map(|port| format!("{ip}:{}", port["port"])));
        }
    }
    few(&all, "<none>")
}

fn claim(of: &Value) -> String {
    match of["name"].as_str() {
        Some(name) => format!("{}/{name}", text(&of["namespace"])),
        None => String::new(),
    }
}

/// What is used of what, of requests and of limits.
fn quota(status: &Value) -> (String, String) {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for (resource, hard) in status["hard"].as_object().into_iter().flatten() {
        let used = status["used"][resource].as_str().unwrap_or("0");
        let into = if resource.starts_with("limits.") { &mut limits } else { &mut requests };
        into.push(format!("{resource}: {used}/{}", text(hard)));
    }
    (requests.join(", "), limits.join(", "))
}

fn available(status: &Value) -> String {
    let found = list(&status["conditions"]).find(|one| one["type"] == "Available");
    match found {
        Some(one) if one["status"] == "True" => "True".to_owned(),
        Some(one) => format!("{} ({})", text(&one["status"]), text(&one["reason"])),
        None => "Unknown".to_owned(),
    }
}

/// What an autoscaler measures, of what it aims at.
fn targets(spec: &Value, status: &Value) -> String {
    let mut all = Vec::new();
    for (at, metric) in list(&spec["metrics"]).enumerate() {
        let current = &status["currentMetrics"][at];
        let field = match text(&metric["type"]) {
            "Resource" => "resource",
            "ContainerResource" => "containerResource",
            "Pods" => "pods",
            "Object" => "object",
            "External" => "external",
            _ => "",
        };
        let (wanted, found) = (&metric[field]["target"], &current[field]["current"]);
        let now = |of: &str| found[of].as_str().unwrap_or("<unknown>").to_owned();
        let average = wanted["averageValue"].as_str();
        all.push(match (field, average) {
            ("", _) => "<unknown type>".to_owned(),
            ("resource" | "containerResource", _) => {
                let name = text(&metric[field]["name"]);
                let percent = |value: &Value| value.as_i64().map(|percent| format!("{percent}%"));
                let unknown = || "<unknown>".to_owned();
                match average {
                    Some(average) => format!("{name}: {}/{average}", now("averageValue")),
                    None => format!(
                        "{name}: {}/{}",
                        percent(&found["averageUtilization"]).unwrap_or_else(unknown),
                        percent(&wanted["averageUtilization"]).unwrap_or("<auto>".to_owned()),
                    ),
                }
            }
            ("pods", _) => format!("{}/{}", now("averageValue"), average.unwrap_or_default()),
            (_, Some(average)) => format!("{}/{average} (avg)", now("averageValue")),
            (_, None) => format!("{}/{}", now("value"), text(&wanted["value"])),
        });
    }
    match all.as_slice() {
        [] => "<none>".to_owned(),
        [a, b, rest @ ..] if !rest.is_empty() => format!("{a}, {b} + {} more...", rest.len()),
        all => all.join(", "),
    }
}

fn job_state(job: &Value) -> &'static str {
    let holds = |of: &str| {
        list(&job["status"]["conditions"]).any(|one| one["type"] == of && one["status"] == "True")
    };
    for (condition, shown) in [("Complete", "Complete"), ("Failed", "Failed")] {
        if holds(condition) {
            return shown;
        }
    }
    if !job["metadata"]["deletionTimestamp"].is_null() {
        return "Terminating";
    }
    for state in ["Suspended", "FailureTarget", "SuccessCriteriaMet"] {
        if holds(state) {
            return state;
        }
    }
    "Running"
}

fn completions(spec: &Value, status: &Value) -> String {
    let done = status["succeeded"].as_i64().unwrap_or(0);
    match (spec["completions"].as_i64(), spec["parallelism"].as_i64()) {
        (Some(wanted), _) => format!("{done}/{wanted}"),
        (None, Some(at_once)) if at_once > 1 => format!("{done}/1 of {at_once}"),
        _ => format!("{done}/1"),
    }
}

fn duration(status: &Value, now: Timestamp) -> String {
    let at = |field: &str| status[field].as_str()?.parse::<Timestamp>().ok();
    match at("startTime") {
        None => String::new(),
        Some(start) => {
            let end = at("completionTime").unwrap_or(now);
            super::human_duration(end.duration_since(start).as_secs())
        }
    }
}

fn hosts(rules: &Value) -> String {
    let all: Vec<String> = list(rules)
        .map(|rule| rule["host"].as_str().filter(|host| !host.is_empty()).unwrap_or("*").to_owned())
        .collect();
    few(&all, "*")
}

fn balancers(all: &Value) -> String {
    let shown = list(all).filter_map(|one| one["ip"].as_str().or(one["hostname"].as_str()));
    shown.collect::<Vec<_>>().join(",")
}

fn label_selector(value: &Value) -> String {
    let read = LabelSelector::from_object(value).map(|selector| selector.to_string());
    read.ok().filter(|text| !text.is_empty()).unwrap_or_else(|| "<none>".to_owned())
}

fn slice_ports(ports: &Value) -> String {
    let all: Vec<String> = list(ports)
        .map(|port| port["port"].as_i64().map_or("*".to_owned(), |port| port.to_string()))
        .collect();
    few(&all, "<unset>")
}

fn slice_addresses(endpoints: &Value) -> String {
    let all: Vec<String> = list(endpoints)
        .flat_map(|one| list(&one["addresses"]))
        .map(|address| text(address).to_owned())
        .collect();
    few(&all, "<unset>")
}
