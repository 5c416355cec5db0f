//! The Pod statuses that a kubelet writes: waiting, running, crashed, ended.

use jiff::Timestamp;

use crate::behaviour::pod;
use crate::json::{Value, json};

/// What our own "not ready" says, so that one set by somebody else can be told from it.
pub const NOT_READY: &str = "ContainersNotReady";
const GATES_NOT_READY: &str = "ReadinessGatesNotReady";

/// The state that the containers are in, all alike.
#[derive(Clone, Debug, PartialEq)]
pub enum Containers<'a> {
    /// Not running, for a reason.
    Waiting(&'a str, String),
    /// Running since.
    Running(Timestamp),
    /// Ended for good, with an exit code.
    Ended(i64, Timestamp),
}

/// Writes the containers' state. `died` is when they last died, which counts as a restart.
pub fn set_containers(
    object: &mut Value,
    state: &Containers<'_>,
    ready: bool,
    died: Option<Timestamp>,
) {
    let specs = object["spec"]["containers"].as_array().cloned().unwrap_or_default();
    let before = object["status"]["containerStatuses"].as_array().cloned().unwrap_or_default();
    let statuses: Vec<Value> = specs
        .iter()
        .map(|spec| {
            let old = before.iter().find(|old| old["name"] == spec["name"]);
            container(spec, old, state, ready, died)
        })
        .collect();
    object["status"]["containerStatuses"] = statuses.into();
}

fn container(
    spec: &Value,
    old: Option<&Value>,
    state: &Containers<'_>,
    ready: bool,
    died: Option<Timestamp>,
) -> Value {
    let image = spec["image"].as_str().unwrap_or_default();
    let mut restarts = old.map_or(0, |old| old["restartCount"].as_i64().unwrap_or(0));
    let mut last = old.map_or_else(|| json!({}), |old| old["lastState"].clone());
    if let Some(died) = died {
        restarts += 1;
        last = json!({"terminated": {
            "exitCode": 1, "reason": "Error", "startedAt": null, "finishedAt": pod::stamp(died),
        }});
    }
    let running = matches!(state, Containers::Running(_));
    let shown = match state {
        Containers::Waiting(reason, message) if message.is_empty() => {
            json!({"waiting": {"reason": reason}})
        }
        Containers::Waiting(reason, message) => {
            json!({"waiting": {"reason": reason, "message": message}})
        }
        Containers::Running(since) => json!({"running": {"startedAt": pod::stamp(*since)}}),
        Containers::Ended(code, at) => json!({"terminated": {
            "exitCode": code, "reason": if *code == 0 { "Completed" } else { "Error" },
            "startedAt": null, "finishedAt": pod::stamp(*at),
        }}),
    };
    let id = match (running, old) {
        (true, _) => format!("sim://{image}"),
        (false, Some(old)) => old["imageID"].as_str().unwrap_or_default().to_owned(),
        (false, None) => String::new(),
    };
    json!({
        "name": spec["name"], "image": image, "imageID": id, "restartCount": restarts,
        "state": shown, "lastState": last, "ready": ready, "started": running,
    })
}

/// Brings ContainersReady and Ready in line with the containers. A Ready that somebody else set to
/// False is left alone; readiness gates are asked.
pub fn set_ready(object: &mut Value, containers_ready: bool, now: Timestamp) {
    if !containers_ready {
        let names: Vec<&str> = object["spec"]["containers"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|container| container["name"].as_str())
            .collect();
        let message = format!("containers with unready status: [{}]", names.join(" "));
        pod::set_condition(object, "ContainersReady", "False", NOT_READY, &message, now);
        pod::set_condition(object, "Ready", "False", NOT_READY, &message, now);
        return;
    }
    pod::set_condition(object, "ContainersReady", "True", "", "", now);
    let foreign = pod::condition(object, "Ready").is_some_and(|ready| {
        let ours = [NOT_READY, GATES_NOT_READY].map(Value::from);
        ready["status"] == "False" && !ours.contains(&ready["reason"])
    });
    if foreign {
        return;
    }
    match closed_gate(object) {
        Some(why) => {
            pod::set_condition(object, "Ready", "False", GATES_NOT_READY, &why, now);
        }
        None => {
            pod::set_condition(object, "Ready", "True", "", "", now);
        }
    }
}

/// Why the first closed readiness gate is closed.
fn closed_gate(object: &Value) -> Option<String> {
    let gates = object["spec"]["readinessGates"].as_array()?;
    gates.iter().filter_map(|gate| gate["conditionType"].as_str()).find_map(|gate| {
        match pod::condition(object, gate) {
            None => Some(format!(
                "corresponding condition of pod readiness gate \"{gate}\" does not exist."
            )),
            Some(condition) if condition["status"] != "True" => Some(format!(
                "the status of pod readiness gate \"{gate}\" is not \"True\", but {}",
                condition["status"].as_str().unwrap_or("Unknown")
            )),
            Some(_) => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-01-01T00:00:00Z".parse().unwrap()
    }

    fn ready(object: &Value) -> (&str, &str) {
        let ready = pod::condition(object, "Ready").unwrap();
        (ready["status"].as_str().unwrap(), ready["reason"].as_str().unwrap_or_default())
    }

    #[test]
    fn a_ready_condition_that_somebody_else_set_is_left_alone() {
        let mut object = json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}});
        set_ready(&mut object, true, now());
        assert_eq!(ready(&object), ("False", ""));
        assert!(pod::is_true(&object, "ContainersReady"));
    }

    #[test]
    fn a_ready_condition_of_our_own_follows_the_containers() {
        for reason in [NOT_READY, GATES_NOT_READY] {
            let mut object = json!({"status": {"conditions": [
                {"type": "Ready", "status": "False", "reason": reason},
            ]}});
            set_ready(&mut object, true, now());
            assert_eq!(ready(&object), ("True", ""));
        }
    }

    #[test]
    fn readiness_gates_hold_a_pod_until_all_are_true() {
        let mut object = json!({
            "spec": {"readinessGates": [{"conditionType": "InPlaceUpdateReady"}]},
        });
        set_ready(&mut object, true, now());
        assert_eq!(ready(&object), ("False", GATES_NOT_READY));
        pod::set_condition(&mut object, "InPlaceUpdateReady", "True", "", "", now());
        set_ready(&mut object, true, now());
        assert_eq!(ready(&object), ("True", ""));
        pod::set_condition(&mut object, "InPlaceUpdateReady", "False", "", "", now());
        set_ready(&mut object, true, now());
        assert_eq!(ready(&object), ("False", GATES_NOT_READY));
    }

    #[test]
    fn a_restart_is_counted_and_the_new_image_shown() {
        let mut object = json!({"spec": {"containers": [{"name": "main", "image": "app:v1"}]}});
        set_containers(&mut object, &Containers::Running(now()), true, None);
        object["spec"]["containers"][0]["image"] = "app:v2".into();
        set_containers(&mut object, &Containers::Running(now()), true, Some(now()));
        let status = &object["status"]["containerStatuses"][0];
        assert_eq!((&status["restartCount"], &status["image"]), (&1.into(), &"app:v2".into()));
        assert_eq!(status["lastState"]["terminated"]["exitCode"], 1);
    }
}
