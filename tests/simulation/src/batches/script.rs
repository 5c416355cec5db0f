//! What a user does in one simulation, drawn from its seed.

use simcluster::json::{Value, json};

use super::kind::{Held, Kind};

/// How workload and Rollout are made at first.
#[derive(Clone, Debug)]
pub struct Start {
    /// Of which kind the workload is.
    pub kind: &'static Kind,
    /// Pods; of a DaemonSet there are as many as Nodes.
    pub replicas: u32,
    /// `podManagementPolicy` of a StatefulSet.
    pub management: &'static str,
    /// The update strategy, of a Deployment its `strategy`, whole.
    pub strategy: Value,
    /// `maxUnavailable` of the budget, of a DaemonSet's `minAvailable`: for those Kubernetes computes no
    /// other; none where there is no budget.
    pub budget: Option<Value>,
    /// `minReadySeconds`.
    pub min_ready: u32,
    /// The steps, each with its pause.
    pub steps: Value,
    /// Annotation `rollback-in-batch`.
    pub back_in_batches: bool,
    /// Label `rollout-id`.
    pub rollout_id: bool,
    /// Whether a second operator waits for the lease.
    pub standby: bool,
}

/// One thing that the user does, or that befalls the Pods.
#[derive(Clone, Debug)]
pub enum Step {
    /// A new image.
    Roll(String),
    /// The step that waits is approved, if one does.
    Approve,
    /// On with this step.
    Jump(u32),
    /// A pause, and its end that many seconds later.
    Pause(u32),
    /// The image before.
    RollBack,
    /// Other steps.
    Replan(Value),
    /// Another number of Pods.
    Scale(u32),
    /// `disabled`, and back that many seconds later.
    Disable(u32),
    /// The Rollout is deleted, and comes again that many seconds later.
    Delete(u32),
    /// A Pod is deleted by somebody else.
    Lose(u32),
    /// A Pod is evicted by somebody else, as a drain does.
    Drain(u32),
    /// A budget that never allows anything, for that many seconds.
    Close(u32),
    /// A GitOps tool puts back what the release changed.
    Meddle,
    /// The webhook answers nobody, for that many seconds.
    Silence(u32),
    /// Nothing for that many seconds.
    Wait(u32),
    /// The operator dies at once.
    Kill,
    /// The lease cannot be renewed for that many seconds.
    LoseLease(u32),
}

/// A whole play.
#[derive(Clone, Debug)]
pub struct Script {
    /// How it begins.
    pub start: Start,
    /// What happens then.
    pub steps: Vec<Step>,
    /// The image in the end.
    pub last_image: String,
    /// The number of Pods in the end.
    pub last_replicas: u32,
}

impl Script {
    /// The play of a seed, with one of these kinds.
    pub fn of(seed: u64, kinds: &'static [Kind]) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed ^ 0x5eed_ba7c);
        let start = start(&mut rng, kinds);
        let mut steps = Vec::new();
        let mut last_replicas = start.replicas;
        let mut last_image = String::new();
        for number in 2..rng.u32(4..7) {
            let broken = rng.u8(..6) == 0;
            let image =
                if broken { format!("app:broken{number}") } else { format!("app:v{number}") };
            if !broken {
                last_image.clone_from(&image);
            }
            steps.push(Step::Roll(image));
            steps.push(Step::Wait(if rng.bool() { rng.u32(..20) } else { rng.u32(20..100) }));
            for _ in 0..rng.u32(2..8) {
                steps.push(match rng.u8(..20) {
                    0..=4 => Step::Approve,
                    5 => Step::Jump(rng.u32(1..4)),
                    6 => Step::Pause(rng.u32(5..60)),
                    7 => Step::RollBack,
                    8 => Step::Replan(plan(&mut rng)),
                    9 | 10 => {
                        last_replicas = rng.u32(1..10);
                        Step::Scale(last_replicas)
                    }
                    11 => Step::Disable(rng.u32(5..60)),
                    12 => Step::Delete(rng.u32(5..60)),
                    13 => Step::Lose(rng.u32(..10)),
                    14 => Step::Drain(rng.u32(..10)),
                    15 => Step::Close(rng.u32(10..90)),
                    16 => Step::Meddle,
                    17 => Step::Silence(rng.u32(5..40)),
                    18 => Step::Kill,
                    _ => match rng.bool() {
                        true => Step::LoseLease(rng.u32(5..40)),
                        false => Step::Wait(rng.u32(..60)),
                    },
                });
                steps.push(Step::Wait(rng.u32(..25)));
            }
        }
        // Once disabled, what a release left under OnDelete is its user's to move: another one moves all.
        if last_image.is_empty() || start.strategy["type"] == "OnDelete" {
            "app:v99".clone_into(&mut last_image);
        }
        Self { start, steps, last_image, last_replicas }
    }
}

fn start(rng: &mut fastrand::Rng, kinds: &'static [Kind]) -> Start {
    // Those that are most used have two tickets.
    let tickets = [0, 0, 1, 1, 2];
    let kind = &kinds[tickets[rng.usize(..tickets.len())]];
    let strategy = strategy(kind, rng);
    let budgets = match kind.nodes {
        true => [None, None, Some(json!(1)), Some(json!(2)), Some(json!(2))],
        false => [None, Some(json!(1)), Some(json!(2)), Some(json!("30%")), Some(json!("50%"))],
    };
    let parallel = rng.u8(..3) > 0;
    Start {
        kind,
        replicas: rng.u32(2..10),
        management: if parallel { "Parallel" } else { "OrderedReady" },
        strategy,
        budget: budgets[rng.usize(..budgets.len())].clone(),
        min_ready: if rng.bool() { 0 } else { rng.u32(1..5) },
        steps: plan(rng),
        back_in_batches: kind.held == Held::Partition && rng.bool(),
        rollout_id: rng.u8(..4) == 0,
        standby: rng.bool(),
    }
}

/// The update strategy, whole.
fn strategy(kind: &Kind, rng: &mut fastrand::Rng) -> Value {
    let counts = [json!(1), json!(2), json!("25%"), json!("40%")];
    let none = [json!(0), json!("0%")];
    let mut some = || counts[rng.usize(..counts.len())].clone();
    let (surge, unavailable) = (some(), some());
    let rolling = match (kind.name, rng.u8(..4)) {
        ("Deployment", 0) => json!({"maxSurge": none[0], "maxUnavailable": unavailable}),
        ("Deployment", 1) => json!({"maxSurge": surge, "maxUnavailable": none[1]}),
        ("Deployment", _) => json!({"maxSurge": surge, "maxUnavailable": unavailable}),
        ("CloneSet", 0) => {
            return json!({"type": "ReCreate", "maxSurge": surge, "maxUnavailable": 0});
        }
        ("CloneSet", 1) => return json!({"type": "ReCreate", "maxUnavailable": unavailable}),
        ("CloneSet", _) => {
            return json!({"type": "InPlaceIfPossible", "maxUnavailable": unavailable});
        }
        ("StatefulSet" | "AdvancedStatefulSet", 0) | ("DaemonSet" | "AdvancedDaemonSet", 0 | 1) => {
            return json!({"type": "OnDelete"});
        }
        ("StatefulSet", _) => json!({"partition": 0}),
        ("AdvancedStatefulSet", 1) => {
            json!({"maxUnavailable": unavailable, "podUpdatePolicy": "ReCreate", "unorderedUpdate": {}})
        }
        ("AdvancedStatefulSet", 2) => {
            json!({"maxUnavailable": unavailable, "podUpdatePolicy": "InPlaceIfPossible"})
        }
        ("AdvancedStatefulSet", _) => {
            json!({"maxUnavailable": unavailable, "podUpdatePolicy": "ReCreate"})
        }
        ("AdvancedDaemonSet", _) => {
            json!({"rollingUpdateType": "Standard", "maxUnavailable": unavailable})
        }
        _ => json!({"maxUnavailable": unavailable, "maxSurge": 0}),
    };
    json!({"type": "RollingUpdate", "rollingUpdate": rolling})
}

/// Some steps: numbers and percentages in any mixture, with and without an approval between them.
fn plan(rng: &mut fastrand::Rng) -> Value {
    let plans = [
        vec![json!(1), json!("50%"), json!("100%")],
        vec![json!("20%"), json!(5), json!("100%")],
        vec![json!("1%"), json!("100%")],
        vec![json!("30%"), json!("60%"), json!("90%"), json!("100%")],
        vec![json!(2), json!(4)],
        vec![json!("100%")],
    ];
    let sizes = &plans[rng.usize(..plans.len())];
    let step = |size: &Value| {
        let pause = match rng.u8(..3) {
            0 => json!({}),
            _ => json!({"duration": rng.u32(..20)}),
        };
        json!({"replicas": size, "pause": pause})
    };
    sizes.iter().map(step).collect()
}

/// The workload as it is first written.
pub fn workload(start: &Start, image: &str) -> Value {
    let mut workload = json!({
        "apiVersion": start.kind.api_version,
        "kind": start.kind.manifest,
        "metadata": {"name": "web", "namespace": "default"},
        "spec": start.kind.own(start.replicas, start.management),
    });
    let spec = &mut workload["spec"];
    spec["selector"] = json!({"matchLabels": {"app": "web"}});
    spec["template"] = json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": image}]},
    });
    spec[start.kind.strategy()] = start.strategy.clone();
    if start.kind.name == "AdvancedStatefulSet" {
        if start.strategy["rollingUpdate"].is_object() {
            spec["updateStrategy"]["rollingUpdate"]["minReadySeconds"] = json!(start.min_ready);
        }
    } else {
        spec["minReadySeconds"] = json!(start.min_ready);
    }
    workload
}

/// The Rollout.
pub fn rollout(start: &Start) -> Value {
    let mut rollout = json!({
        "apiVersion": "rollouts.kruise.io/v1beta1",
        "kind": "Rollout",
        "metadata": {"name": "web", "namespace": "default", "annotations": {}},
        "spec": {
            "workloadRef": {
                "apiVersion": start.kind.api_version, "kind": start.kind.manifest, "name": "web",
            },
            "strategy": {"canary": {"steps": start.steps}},
        },
    });
    if start.back_in_batches {
        let annotation = json!({"rollouts.kruise.io/rollback-in-batch": "true"});
        rollout["metadata"]["annotations"] = annotation;
    }
    rollout
}

/// The budget, with this limit.
pub fn budget(start: &Start, limit: &Value) -> Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {(bound(start)): limit, "selector": {"matchLabels": {"app": "web"}}},
    })
}

/// The limit of the budget, open as at first or closed.
pub fn limit(start: &Start, open: bool) -> Value {
    let closed = json!(if start.kind.nodes { 3 } else { 0 });
    let limit = start.budget.as_ref().filter(|_| open).unwrap_or(&closed);
    json!({"spec": {(bound(start)): limit}})
}

fn bound(start: &Start) -> &'static str {
    if start.kind.nodes { "minAvailable" } else { "maxUnavailable" }
}

/// What changes the image; with a rollout id of its own where there are ids.
pub fn image(start: &Start, image: &str) -> Value {
    let template = json!({"spec": {"containers": [{"name": "main", "image": image}]}});
    let mut patch = json!({"spec": {"template": template}});
    if start.rollout_id {
        let id = image.replace(':', "-");
        patch["metadata"] = json!({"labels": {"rollouts.kruise.io/rollout-id": id}});
    }
    patch
}
