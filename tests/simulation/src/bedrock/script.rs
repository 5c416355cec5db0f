//! What a user does in one simulation, drawn from its seed.

use simcluster::json::{Value, json};

/// How the rollout is made at first.
#[derive(Clone, Debug)]
pub struct Start {
    /// Pods.
    pub replicas: u32,
    /// `maxUnavailable` of the budget; none where there is no budget.
    pub budget: Option<Value>,
    /// `podManagementPolicy`.
    pub management: &'static str,
    /// `versionLeak`.
    pub leak: &'static str,
    /// `minReadySeconds`.
    pub min_ready: u32,
    /// `minPodEvictionIntervalSeconds`.
    pub interval: u32,
    /// Whether a second operator waits for the lease.
    pub standby: bool,
}

/// One thing that the user does, or that befalls the Pods.
#[derive(Clone, Debug)]
pub enum Step {
    /// A new image, to this percentage.
    Roll {
        /// The image.
        image: String,
        /// The percentage.
        percent: u8,
    },
    /// Another percentage.
    Percent(u8),
    /// Another number of Pods.
    Scale(u32),
    /// A pause, and its end that many seconds later.
    Pause(u32),
    /// A Pod is deleted by somebody else.
    Lose(u32),
    /// A Pod is evicted by somebody else, as a drain does.
    Drain(u32),
    /// A budget that never allows anything, for that many seconds.
    Close(u32),
    /// `kubectl rollout restart` of the StatefulSet.
    Restart,
    /// A new identity.
    Retry,
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
    /// The play of a seed.
    pub fn of(seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let pick = |rng: &mut fastrand::Rng, of: &[&'static str]| of[rng.usize(..of.len())];
        let replicas = rng.u32(2..10);
        let budgets =
            [None, Some(json!(1)), Some(json!(2)), Some(json!("30%")), Some(json!("50%"))];
        let start = Start {
            replicas,
            budget: budgets[rng.usize(..budgets.len())].clone(),
            management: pick(&mut rng, &["Parallel", "Parallel", "Parallel", "OrderedReady"]),
            leak: pick(&mut rng, &["Report", "Report", "Ignore", "Pause", "Prevent", "Prevent"]),
            min_ready: if rng.bool() { 0 } else { rng.u32(1..5) },
            interval: if rng.u8(..4) == 0 { rng.u32(1..8) } else { 0 },
            standby: rng.bool(),
        };
        let mut steps = Vec::new();
        let (mut last_image, mut last_replicas) = ("app:v1".to_owned(), replicas);
        for number in 2..rng.u32(4..8) {
            let broken = rng.u8(..5) == 0;
            let image = if broken { "app:broken".to_owned() } else { format!("app:v{number}") };
            let percent = [1, 25, 50, 75, 100][rng.usize(..5)];
            if !broken {
                last_image.clone_from(&image);
            }
            steps.push(Step::Roll { image, percent });
            // Half of the time the next thing happens in the thick of it.
            steps.push(Step::Wait(if rng.bool() { rng.u32(..20) } else { rng.u32(20..150) }));
            for _ in 0..rng.u32(1..5) {
                steps.push(match rng.u8(..12) {
                    0 => Step::Pause(rng.u32(5..60)),
                    1 => Step::Percent([0, 10, 50, 100][rng.usize(..4)]),
                    2 => {
                        last_replicas = rng.u32(1..10);
                        Step::Scale(last_replicas)
                    }
                    3 | 4 => Step::Lose(rng.u32(..10)),
                    5 => Step::Close(rng.u32(10..90)),
                    6 => Step::Restart,
                    7 => Step::Retry,
                    8 => Step::Kill,
                    9 => Step::LoseLease(rng.u32(5..40)),
                    10 => Step::Drain(rng.u32(..10)),
                    _ => Step::Wait(rng.u32(..60)),
                });
            }
        }
        Self { start, steps, last_image, last_replicas }
    }
}

/// The rollout as it is first written.
pub fn rollout(start: &Start, image: &str) -> Value {
    json!({
        "apiVersion": "bedrock.operator.slack.com/v1",
        "kind": "StatefulsetRollout",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "percent": 100,
            "rolloutIdentity": "first",
            "versionLeak": start.leak,
            "progressDeadlineSeconds": 120,
            "minPodEvictionIntervalSeconds": start.interval,
            "statefulset": {
                "apiVersion": "apps/v1",
                "kind": "StatefulSet",
                "metadata": {"name": "web"},
                "spec": {
                    "replicas": start.replicas,
                    "serviceName": "web",
                    "podManagementPolicy": start.management,
                    "minReadySeconds": start.min_ready,
                    "selector": {"matchLabels": {"app": "web"}},
                    "template": {
                        "metadata": {"labels": {"app": "web"}},
                        "spec": {"containers": [{"name": "main", "image": image}]},
                    },
                },
            },
        },
    })
}

/// The budget.
pub fn budget(limit: &Value) -> Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"maxUnavailable": limit, "selector": {"matchLabels": {"app": "web"}}},
    })
}

/// What changes the image.
pub fn image(image: &str) -> Value {
    let template = json!({"spec": {"containers": [{"name": "main", "image": image}]}});
    json!({"spec": {"statefulset": {"spec": {"template": template}}}})
}
