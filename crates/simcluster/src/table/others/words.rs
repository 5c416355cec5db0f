//! How single cells are written.

use jiff::Timestamp;

use crate::json::Value;
use crate::table::human_duration;

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

pub(super) fn truth(value: &Value) -> &'static str {
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

pub(super) fn addresses(subsets: &Value) -> String {
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

pub(super) fn claim(of: &Value) -> String {
    match of["name"].as_str() {
        Some(name) => format!("{}/{name}", text(&of["namespace"])),
        None => String::new(),
    }
}

/// What is used of what, of requests and of limits.
pub(super) fn quota(status: &Value) -> (String, String) {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for (resource, hard) in status["hard"].as_object().into_iter().flatten() {
        let used = status["used"][resource].as_str().unwrap_or("0");
        let into = if resource.starts_with("limits.") { &mut limits } else { &mut requests };
        into.push(format!("{resource}: {used}/{}", text(hard)));
    }
    (requests.join(", "), limits.join(", "))
}

pub(super) fn available(status: &Value) -> String {
    let found = list(&status["conditions"]).find(|one| one["type"] == "Available");
    match found {
        Some(one) if one["status"] == "True" => "True".to_owned(),
        Some(one) => format!("{} ({})", text(&one["status"]), text(&one["reason"])),
        None => "Unknown".to_owned(),
    }
}

/// What an autoscaler measures, of what it aims at.
pub(super) fn targets(spec: &Value, status: &Value) -> String {
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

pub(super) fn job_state(job: &Value) -> &'static str {
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

/// Texts of a list, with commas between them.
pub(super) fn joined(texts: &Value) -> String {
    list(texts).filter_map(Value::as_str).collect::<Vec<_>>().join(",")
}

/// How far a claim of devices has come.
pub(super) fn claim_state(claim: &Value) -> String {
    let status = &claim["status"];
    let mut states = Vec::new();
    if !claim["metadata"]["deletionTimestamp"].is_null() {
        states.push("deleted");
    }
    if status["allocation"].is_null() {
        if states.is_empty() {
            states.push("pending");
        }
    } else {
        states.push("allocated");
        if list(&status["reservedFor"]).count() > 0 {
            states.push("reserved");
        }
    }
    states.join(",")
}

/// How far a request for a certificate has come.
pub(super) fn request_state(status: &Value) -> String {
    let holds = |of: &str| list(&status["conditions"]).any(|one| one["type"] == of);
    let mut states = vec![match (holds("Denied"), holds("Approved")) {
        (true, _) => "Denied",
        (false, true) => "Approved",
        (false, false) => "Pending",
    }];
    if holds("Failed") {
        states.push("Failed");
    }
    if status["certificate"].as_str().is_some_and(|text| !text.is_empty()) {
        states.push("Issued");
    }
    states.join(",")
}

pub(super) fn completions(spec: &Value, status: &Value) -> String {
    let done = status["succeeded"].as_i64().unwrap_or(0);
    match (spec["completions"].as_i64(), spec["parallelism"].as_i64()) {
        (Some(wanted), _) => format!("{done}/{wanted}"),
        (None, Some(at_once)) if at_once > 1 => format!("{done}/1 of {at_once}"),
        _ => format!("{done}/1"),
    }
}

pub(super) fn duration(status: &Value, now: Timestamp) -> String {
    let at = |field: &str| status[field].as_str()?.parse::<Timestamp>().ok();
    match at("startTime") {
        None => String::new(),
        Some(start) => {
            let end = at("completionTime").unwrap_or(now);
            human_duration(end.duration_since(start).as_secs())
        }
    }
}

pub(super) fn hosts(rules: &Value) -> String {
    let all: Vec<String> = list(rules)
        .map(|rule| rule["host"].as_str().filter(|host| !host.is_empty()).unwrap_or("*").to_owned())
        .collect();
    few(&all, "*")
}

pub(super) fn balancers(all: &Value) -> String {
    let shown = list(all).filter_map(|one| one["ip"].as_str().or(one["hostname"].as_str()));
    shown.collect::<Vec<_>>().join(",")
}

pub(super) fn slice_ports(ports: &Value) -> String {
    let all: Vec<String> = list(ports)
        .map(|port| port["port"].as_i64().map_or("*".to_owned(), |port| port.to_string()))
        .collect();
    few(&all, "<unset>")
}

pub(super) fn slice_addresses(endpoints: &Value) -> String {
    let all: Vec<String> = list(endpoints)
        .flat_map(|one| list(&one["addresses"]))
        .map(|address| text(address).to_owned())
        .collect();
    few(&all, "<unset>")
}
