//! The kubelets of all nodes: they start, ready, crash, restart and stop the containers of Pods.

pub mod script;
pub mod status;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};

use self::script::Script;
use self::status::Containers;
use super::{Behaviour, Change, Step, View, Write, node, pod};
use crate::json::{Value, json};
use crate::object::{self, Key, NODES, Object, PODS};

const COMPONENT: &str = "kubelet";
/// How long a pull takes to fail.
const PULL: SignedDuration = SignedDuration::from_secs(1);
/// First and longest wait before a crashed container is started again; it doubles each time.
const BACK_OFF: i64 = 10;
const BACK_OFF_LIMIT: i64 = 300;

/// All kubelets. What they remember of a Pod is to the nanosecond, where the API has seconds; a
/// kubelet that forgot (a restart) goes by what the API says.
#[derive(Debug)]
pub struct Kubelets {
    start_up: SignedDuration,
    seed: u64,
    memory: Mutex<BTreeMap<String, Memory>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    /// Since when the containers are in the state that they are in.
    since: Option<Timestamp>,
    /// Since when they are being stopped.
    stopping: Option<Timestamp>,
}

impl Kubelets {
    /// Kubelets whose Pods take `start_up` to run, give or take chance drawn from the seed.
    pub fn new(start_up: SignedDuration, seed: u64) -> Self {
        Self { start_up, seed, memory: Mutex::default() }
    }

    fn memory(&self) -> MutexGuard<'_, BTreeMap<String, Memory>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Behaviour for Kubelets {
    fn name(&self) -> &'static str {
        COMPONENT
    }

    fn concerns(&self, view: &dyn View, change: &Change) -> Vec<Key> {
        if change.key.collection == PODS {
            match &change.after {
                Some(pod) if pod["spec"]["nodeName"].is_string() => {
                    return vec![change.key.clone()];
                }
                Some(_) => {}
                None => {
                    let gone = change.before.as_deref().map(object::uid).unwrap_or_default();
                    self.memory().remove(gone);
                }
            }
            return Vec::new();
        }
        // A node that was lost and is back looks after its Pods again.
        let lost = |object: &Option<Object>| object.as_deref().is_some_and(node::is_lost);
        if change.key.collection != NODES || lost(&change.before) == lost(&change.after) {
            return Vec::new();
        }
        view.list(&PODS, None)
            .filter(|pod| pod["spec"]["nodeName"] == *change.key.name)
            .map(|pod| Key::of(PODS, pod))
            .collect()
    }

    fn step(&self, view: &dyn View, key: &Key, now: Timestamp, _: &mut fastrand::Rng) -> Step {
        let Some(pod) = view.get(key) else { return Step::default() };
        let Some(node_name) = pod["spec"]["nodeName"].as_str() else { return Step::default() };
        let Some(node) = view.get(&Key::new(NODES, "", node_name)) else { return Step::default() };
        if node::is_lost(node) {
            return Step::default();
        }
        let mut memory = self.memory();
        let memory = memory.entry(object::uid(pod).to_owned()).or_default();
        let script = Script::of(pod, self.start_up, self.seed);
        Look { key, pod, node, now, script, memory, writes: Vec::new() }.step()
    }
}

struct Look<'a> {
    key: &'a Key,
    pod: &'a Object,
    node: &'a Object,
    now: Timestamp,
    script: Script,
    memory: &'a mut Memory,
    writes: Vec<Write>,
}

impl Look<'_> {
    fn step(mut self) -> Step {
        let wake = if object::is_terminating(self.pod) {
            self.stop()
        } else if pod::has_ended(self.pod) {
            None
        } else if !self.pod["status"]["startTime"].is_string() {
            self.admit()
        } else {
            self.live()
        };
        Step { writes: self.writes, wake }
    }

    /// When the containers took the state that they are in.
    fn since(&self) -> Timestamp {
        let state = &self.pod["status"]["containerStatuses"][0]["state"];
        let known = self.memory.since.or_else(|| pod::time(&state["running"]["startedAt"]));
        known.or_else(|| pod::time(&self.pod["status"]["startTime"])).unwrap_or(self.now)
    }

    fn write(&mut self, edit: impl FnOnce(&mut Value, Timestamp)) {
        let mut object = Value::clone(self.pod);
        edit(&mut object, self.now);
        if object != **self.pod {
            let key = self.key.clone();
            self.writes.push(Write::Update { key, subresource: Some("status"), object });
        }
    }

    fn event(&mut self, type_: &'static str, reason: &'static str, message: String) {
        self.writes.push(Write::event(COMPONENT, self.key, type_, reason, message));
    }

    fn admit(&mut self) -> Option<Timestamp> {
        self.memory.since = Some(self.now);
        let addresses = self.node["status"]["addresses"].as_array();
        let host = addresses.into_iter().flatten().find(|a| a["type"] == "InternalIP");
        let host = host.map(|address| address["address"].clone());
        let ip = address(self.pod);
        self.write(|object, now| {
            object["status"]["phase"] = "Pending".into();
            object["status"]["startTime"] = pod::stamp(now).into();
            if let Some(host) = host {
                object["status"]["hostIPs"] = json!([{"ip": host}]);
                object["status"]["hostIP"] = host;
            }
            object["status"]["podIPs"] = json!([{"ip": ip}]);
            object["status"]["podIP"] = ip.into();
            pod::set_condition(object, "Initialized", "True", "", "", now);
            let waiting = Containers::Waiting("ContainerCreating", String::new());
            status::set_containers(object, &waiting, false, None);
            status::set_ready(object, false, now);
        });
        Some(self.now + if self.script.broken.is_some() { PULL } else { self.script.startup })
    }

    fn live(&mut self) -> Option<Timestamp> {
        let container = &self.pod["status"]["containerStatuses"][0];
        let runs = container["state"]["running"].is_object();
        if self.image_changed() {
            return self.replace(runs);
        }
        if runs {
            return self.run();
        }
        let reason = container["state"]["waiting"]["reason"].as_str().unwrap_or_default();
        let restarts = container["restartCount"].as_i64().unwrap_or(0);
        match reason {
            "ImagePullBackOff" => None,
            "CrashLoopBackOff" => self.restart(restarts),
            _ => self.start(restarts),
        }
    }

    fn start(&mut self, restarts: i64) -> Option<Timestamp> {
        if let Some(image) = self.script.broken.clone() {
            return self.fail_to_pull(&image);
        }
        let due = self.since() + self.script.startup;
        if due > self.now {
            return Some(due);
        }
        if self.script.crashes {
            return self.crash(restarts);
        }
        self.begin()
    }

    /// The containers run from now on.
    fn begin(&mut self) -> Option<Timestamp> {
        self.memory.since = Some(self.now);
        let ready = self.script.ready_after.is_zero();
        self.write(|object, now| {
            object["status"]["phase"] = "Running".into();
            status::set_containers(object, &Containers::Running(now), ready, None);
            status::set_ready(object, ready, now);
        });
        for _ in self.names() {
            self.event("Normal", "Started", "Container started".to_owned());
        }
        self.next_of_run(ready)
    }

    fn names(&self) -> Vec<String> {
        let containers = self.pod["spec"]["containers"].as_array();
        let names = containers.into_iter().flatten().filter_map(|c| c["name"].as_str());
        names.map(str::to_owned).collect()
    }

    fn next_of_run(&self, ready: bool) -> Option<Timestamp> {
        let since = self.since();
        let ready = (!ready).then(|| since + self.script.ready_after);
        let crash = self.script.crash_after.map(|after| since + after);
        ready.into_iter().chain(crash).min()
    }

    fn run(&mut self) -> Option<Timestamp> {
        let container = &self.pod["status"]["containerStatuses"][0];
        let restarts = container["restartCount"].as_i64().unwrap_or(0);
        let ready = container["ready"] == true;
        if self.script.crash_after.is_some_and(|after| self.since() + after <= self.now) {
            return self.crash(restarts);
        }
        if ready {
            // Gates may have opened or closed.
            if self.pod["spec"]["readinessGates"].is_array() {
                self.write(|object, now| status::set_ready(object, true, now));
            }
            return self.next_of_run(true);
        }
        if self.since() + self.script.ready_after > self.now {
            return self.next_of_run(false);
        }
        let since = pod::time(&container["state"]["running"]["startedAt"]).unwrap_or(self.now);
        self.write(|object, now| {
            status::set_containers(object, &Containers::Running(since), true, None);
            status::set_ready(object, true, now);
        });
        self.next_of_run(true)
    }

    /// The containers are replaced under the same Pod; those that ran die for it.
    fn replace(&mut self, ran: bool) -> Option<Timestamp> {
        self.memory.since = Some(self.now);
        self.write(|object, now| {
            let waiting = Containers::Waiting("ContainerCreating", String::new());
            status::set_containers(object, &waiting, false, ran.then_some(now));
            status::set_ready(object, false, now);
        });
        Some(self.now + if self.script.broken.is_some() { PULL } else { self.script.startup })
    }

    fn image_changed(&self) -> bool {
        let specs = self.pod["spec"]["containers"].as_array().into_iter().flatten();
        let running = self.pod["status"]["containerStatuses"].as_array().into_iter().flatten();
        specs.zip(running).any(|(spec, status)| spec["image"] != status["image"])
    }

    fn fail_to_pull(&mut self, image: &str) -> Option<Timestamp> {
        let due = self.since() + PULL;
        if due > self.now {
            return Some(due);
        }
        let message = format!("Back-off pulling image \"{image}\"");
        self.write(|object, _| {
            let waiting = Containers::Waiting("ImagePullBackOff", message.clone());
            status::set_containers(object, &waiting, false, None);
        });
        let failed = format!("Failed to pull image \"{image}\": not found");
        self.event("Warning", "Failed", failed);
        self.event("Warning", "Failed", "Error: ErrImagePull".to_owned());
        self.event("Normal", "BackOff", message);
        self.event("Warning", "Failed", "Error: ImagePullBackOff".to_owned());
        None
    }

    fn crash(&mut self, restarts: i64) -> Option<Timestamp> {
        self.memory.since = Some(self.now);
        let wait = back_off(restarts);
        let name = self.names().into_iter().next().unwrap_or_default();
        let who = format!("{}_{}({})", self.key.name, self.key.namespace, object::uid(self.pod));
        let message =
            format!("back-off {} restarting failed container={name} pod={who}", go_span(wait));
        self.write(|object, now| {
            object["status"]["phase"] = "Running".into();
            let waiting = Containers::Waiting("CrashLoopBackOff", message);
            status::set_containers(object, &waiting, false, Some(now));
            status::set_ready(object, false, now);
        });
        let said = format!("Back-off restarting failed container {name} in pod {who}");
        self.event("Warning", "BackOff", said);
        Some(self.now + wait)
    }

    fn restart(&mut self, restarts: i64) -> Option<Timestamp> {
        // The crash that is being waited out was number `restarts`.
        let due = self.since() + back_off(restarts - 1);
        if due > self.now {
            return Some(due);
        }
        if self.script.crashes { self.crash(restarts) } else { self.begin() }
    }

    /// Stops the containers within the grace period, then lets the Pod go. Finalizers keep the
    /// object; a kubelet has no more to do with it then.
    fn stop(&mut self) -> Option<Timestamp> {
        let grace = self.pod["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or(0);
        let held = self.pod["metadata"]["finalizers"].as_array().is_some_and(|f| !f.is_empty());
        let ended = pod::has_ended(self.pod);
        if grace == 0 && held && ended {
            return None;
        }
        if self.memory.stopping.is_none() {
            self.memory.stopping = Some(self.now);
            for name in self.names() {
                self.event("Normal", "Killing", format!("Stopping container {name}"));
            }
        }
        let from = self.memory.stopping.unwrap_or(self.now);
        let span = self.script.terminate_after.min(SignedDuration::from_secs(grace));
        if from + span > self.now {
            return Some(from + span);
        }
        if held && !ended {
            let killed = self.script.terminate_after > SignedDuration::from_secs(grace);
            let code = if killed { 137 } else { 0 };
            self.write(|object, now| {
                object["status"]["phase"] = if killed { "Failed" } else { "Succeeded" }.into();
                status::set_containers(object, &Containers::Ended(code, now), false, None);
                status::set_ready(object, false, now);
            });
        }
        self.writes.push(Write::Delete {
            key: self.key.clone(),
            uid: Some(object::uid(self.pod).to_owned()),
            grace_period_seconds: Some(0),
        });
        None
    }
}

fn back_off(restarts: i64) -> SignedDuration {
    let doubled = BACK_OFF << restarts.clamp(0, 5);
    SignedDuration::from_secs(doubled.min(BACK_OFF_LIMIT))
}

/// An address that no other Pod has: the resourceVersion of the binding is given out once.
fn address(pod: &Value) -> String {
    let version: u32 = object::resource_version(pod).parse().unwrap_or(1);
    let [_, a, b, c] = version.to_be_bytes();
    // The lower half of 10/8 is for nodes.
    format!("10.{}.{b}.{c}", a | 128)
}

/// Whole seconds as Go writes them: `10s`, `1m20s`.
fn go_span(span: SignedDuration) -> String {
    match (span.as_secs() / 60, span.as_secs() % 60) {
        (0, seconds) => format!("{seconds}s"),
        (minutes, seconds) => format!("{minutes}m{seconds}s"),
    }
}

#[cfg(test)]
mod tests;
