//! The plan of a StatefulsetRollout: Pods in order, under which budget, with which leak guard.

use std::sync::Arc;
use std::time::Duration;

use api::bedrock::{Capabilities, Desired, denies, drift, immutable_changes, validate};
use cluster::{Caches, Clock, Key};
use engine::plan::{Plan, plan};
use engine::status::Reason;
use engine::world::{Settings, World};
use futures::future::join_all;
use serde::Serialize;
use serde_json::{Value, json};

use crate::exit::Failure;
use crate::facts::{require_namespace, rollouts_path};
use crate::session::Session;
use crate::show::paint::{Paint, Tone};
use crate::show::table::{Cell, columns, pairs, toned};

/// How long the cluster may take to list what a plan needs.
const PATIENCE: Duration = Duration::from_secs(20);

/// What would happen.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Planned {
    namespace: String,
    name: String,
    statefulset: String,
    /// Whether the StatefulSet is created first.
    creates: bool,
    /// Whether a new template is applied first.
    applies: bool,
    percent: u8,
    replicas: u32,
    target: u32,
    moved: u32,
    /// The Pods, in the order in which they go.
    order: Vec<Step>,
    /// How many ready Pods go at once when nothing else is wrong.
    at_once: u32,
    /// How many may go right now.
    now: u32,
    pace: String,
    guard: String,
    paused: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    hold: Option<Held>,
}

/// A Pod that would go.
#[derive(Debug, Serialize)]
struct Step {
    pod: String,
    revision: String,
    /// Goes first, because it is not ready and costs no budget.
    unready: bool,
}

/// Why not more move now.
#[derive(Debug, Serialize)]
struct Held {
    reason: String,
    message: String,
    /// Whether it cannot go on by waiting.
    blocks: bool,
}

impl Planned {
    /// Whether it cannot go on by waiting.
    pub(super) fn is_blocked(&self) -> bool {
        self.hold.as_ref().is_some_and(|hold| hold.blocks)
    }
}

/// Fails if anything is wrong with the manifest of a file.
pub(super) fn check(file: &str, rollout: &Value) -> Result<(), Failure> {
    let findings = validate(rollout, &Capabilities::default());
    if denies(&findings) {
        let first: Vec<String> = findings.iter().take(5).map(ToString::to_string).collect();
        return Err(Failure::Failed(format!(
            "{file}: not what a cluster would take; see `sluice lint -f {file}`\n{}",
            first.join("\n")
        )));
    }
    Ok(())
}

/// The manifest as it would be stored: with the identity and status of the rollout that is there.
pub(super) async fn grafted(session: &Session, mut manifest: Value) -> Result<Value, Failure> {
    require_namespace(session).await?;
    let name = manifest["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let path = format!("{}/{name}", rollouts_path(Some(&session.namespace)));
    let object = format!("statefulsetrollout {}/{name}", session.namespace);
    manifest["metadata"]["namespace"] = json!(session.namespace);
    match session.find(&path, &object).await? {
        Some(live) => {
            for field in ["uid", "resourceVersion", "generation", "creationTimestamp"] {
                manifest["metadata"][field] = live["metadata"][field].clone();
            }
            manifest["status"] = live["status"].clone();
        }
        None => manifest["metadata"]["uid"] = json!("not-yet-stored"),
    }
    Ok(manifest)
}

pub(super) async fn planned(session: &Session, object: &Value) -> Result<Planned, Failure> {
    let caches = filled(session).await?;
    let settings = Settings::default();
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
    let title = format!("statefulsetrollout {}/{}", session.namespace, text("name"));
    let unclear = |why: &str| Failure::Failed(format!("{title}: {why}"));
    let candidate = cluster::observe::statefulset_rollout::candidate(&caches, object, &settings)
        .map_err(|why| unclear(&why))?;
    let desired = candidate.desired.as_ref().map_err(|why| unclear(why))?;
    let live = candidate.live.as_ref();
    let key = Key::new(session.namespace.as_str(), text("name"));
    Ok(of(&key, &candidate.world, desired, live))
}

/// The caches of one namespace, listed once: the same world that the operator sees.
async fn filled(session: &Session) -> Result<Arc<Caches>, Failure> {
    let caches = Caches::new(Box::new(|_, _| {}));
    let watches = caches.watches(session.client(), Some(&session.namespace), 0);
    let watching = join_all(watches.into_iter().map(|(_, watch)| watch));
    let ready = async {
        while !caches.ready() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! { biased;
        () = ready => Ok(caches.clone()),
        () = tokio::time::sleep(PATIENCE) => Err(Failure::Unreachable(format!(
            "cannot list everything in namespace {}: still waiting for {}",
            session.namespace,
            caches.waiting_for().join(", ")
        ))),
        _ = watching => Err(Failure::Unreachable("the watches ended".to_owned())),
    }
}

fn of(key: &Key, world: &World, desired: &Desired, live: Option<&Value>) -> Planned {
    let fresh = live.is_some_and(|live| {
        let paths = drift(live, desired.document());
        paths.iter().any(|path| path.starts_with("spec.template"))
    });
    let rollout = &world.rollout;
    let base = Planned {
        namespace: key.namespace.clone(),
        name: key.name.clone(),
        statefulset: rollout.workload_name.clone(),
        percent: rollout.percent.get(),
        paused: rollout.pause_requested,
        ..Planned::default()
    };
    let owned = world.other_owner().map(|owner| Held {
        reason: "OwnedByAnother".to_owned(),
        message: format!("StatefulSet {} belongs to {owner}", rollout.workload_name),
        blocks: true,
    });
    let changes = live.map(|live| immutable_changes(live, desired.document())).unwrap_or_default();
    let refused = changes.first().map(|change| Held {
        reason: Reason::InvalidStatefulSet.name().to_owned(),
        message: format!("{} {}", change.path, change.message),
        blocks: true,
    });
    let Some(plan) = plan(world, fresh, Clock::system().now()) else {
        let replicas = rollout.replicas.unwrap_or(1);
        return Planned {
            creates: true,
            replicas,
            target: replicas,
            pace: "all Pods come up at the new revision".to_owned(),
            hold: owned,
            ..base
        };
    };
    let Plan { replicas, target, moved, order, at_once, now, hold, pace, guard } = plan;
    let needed = !order.is_empty();
    Planned {
        applies: fresh,
        replicas,
        target,
        moved,
        order: order
            .into_iter()
            .map(|pod| Step { pod: pod.name, revision: pod.revision, unready: pod.unready })
            .collect(),
        at_once,
        now,
        pace,
        guard,
        // What would hold a Pod back is of no interest when none is to move.
        hold: owned.or(refused).or_else(|| {
            hold.filter(|_| needed).map(|hold| Held {
                reason: hold.reason.name().to_owned(),
                message: hold.message,
                blocks: hold.reason.blocks(),
            })
        }),
        ..base
    }
}

pub(super) fn words(plan: &Planned, paint: Paint, room: usize) -> String {
    let first = match (plan.creates, plan.applies) {
        (true, _) => {
            format!("creates StatefulSet {} with {} Pods", plan.statefulset, plan.replicas)
        }
        (_, true) => format!("applies a new template to StatefulSet {}", plan.statefulset),
        _ => String::new(),
    };
    let all = plan.order.len();
    let waves = if plan.at_once == 0 { 0 } else { all.div_ceil(plan.at_once as usize) };
    let moves = match all {
        0 if plan.creates => String::new(),
        0 => format!(
            "none: {} of {} are there already (target {})",
            plan.moved, plan.replicas, plan.target
        ),
        _ if waves == 0 => format!(
            "{all} of {} Pods, to {} in all ({}%)",
            plan.replicas, plan.target, plan.percent
        ),
        _ => format!(
            "{all} of {} Pods, to {} in all ({}%), in {waves} group{} of at most {}",
            plan.replicas,
            plan.target,
            plan.percent,
            if waves == 1 { "" } else { "s" },
            plan.at_once
        ),
    };
    let hold = plan.hold.as_ref().map(|hold| format!("{}: {}", hold.reason, hold.message));
    let lines: Vec<(&str, Cell)> = vec![
        ("Rollout", format!("{}/{}", plan.namespace, plan.name).into()),
        ("First", first.into()),
        ("Moves", moves.into()),
        ("Budget", plan.pace.as_str().into()),
        ("Right now", if all == 0 { String::new() } else { format!("{} may go", plan.now) }.into()),
        ("Held by", toned(Tone::Bad, hold.unwrap_or_default())),
        ("Paused", if plan.paused { "yes: nothing moves before it is resumed" } else { "" }.into()),
        ("Leak guard", plan.guard.as_str().into()),
    ];
    let mut text = pairs(paint, room, &lines);
    if all > 0 {
        let rows: Vec<Vec<Cell>> = plan
            .order
            .iter()
            .enumerate()
            .map(|(index, step)| {
                let group = if plan.at_once == 0 || step.unready {
                    String::new()
                } else {
                    let before = plan.order.iter().filter(|step| step.unready).count();
                    ((index - before) / plan.at_once as usize + 1).to_string()
                };
                let why = if step.unready { "not ready: goes first, costs no budget" } else { "" };
                vec![
                    (index + 1).to_string().into(),
                    step.pod.as_str().into(),
                    group.into(),
                    step.revision.as_str().into(),
                    why.into(),
                ]
            })
            .collect();
        text.push('\n');
        text.push_str(&columns(paint, &["#", "POD", "GROUP", "REVISION", "NOTE"], &rows));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_names_the_pods_in_order_with_group_budget_and_guard() {
        let step = |ordinal: u32, unready| Step {
            pod: format!("tester-{ordinal}"),
            revision: "tester-aaa".to_owned(),
            unready,
        };
        let plan = Planned {
            namespace: "default".to_owned(),
            name: "tester".to_owned(),
            statefulset: "tester".to_owned(),
            applies: true,
            percent: 50,
            replicas: 10,
            target: 5,
            order: vec![
                step(3, true),
                step(9, false),
                step(8, false),
                step(7, false),
                step(6, false),
            ],
            at_once: 2,
            now: 1,
            pace: "PodDisruptionBudget tester (maxUnavailable: 2): 2 at a time".to_owned(),
            guard: "OnDelete: a lost Pod comes back at the new revision".to_owned(),
            hold: Some(Held {
                reason: "BudgetExhausted".to_owned(),
                message: "the budget has no room".to_owned(),
                blocks: true,
            }),
            ..Planned::default()
        };
        insta::assert_snapshot!(words(&plan, Paint { on: false }, usize::MAX));
    }
}
