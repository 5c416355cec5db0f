//! `sluice restart`: every Pod is made anew, as carefully as a new version is released.

use cluster::Clock;
use jiff::Timestamp;
use serde_json::json;

use super::change::{self, Change, spec};
use cluster::Kind;

use crate::exit::{Failure, Outcome};
use crate::facts::workload::Workload;
use crate::facts::{Facts, release};
use crate::find::{Found, Front};
use crate::out::Out;
use crate::session::Session;
use crate::standing::Standing;
use crate::writes;

/// Make every Pod anew, as carefully as a new version: by percent or in steps, within the budget
#[derive(clap::Args, Debug)]
#[group(skip)]
pub(crate) struct Flags {
    #[command(flatten)]
    change: change::Flags,
}

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    restart(&flags.change.connection.open().await?, flags, out).await
}

pub(super) async fn restart(session: &Session, flags: &Flags, out: &mut Out) -> Outcome {
    let now = Clock::system().now();
    change::make(session, &flags.change, "restart", out, async |found: &Found| {
        decide(session, found, now).await
    })
    .await
}

async fn decide(session: &Session, found: &Found, now: Timestamp) -> Result<Change, Failure> {
    match found.front {
        Front::Percent => by_percent(found, &Facts::around(session, found.raw.clone()).await?, now),
        Front::Steps => {
            by_steps(found, &release::Facts::around(session, found.raw.clone()).await?, now)
        }
        Front::Release => found
            .refuse("releases what its workload asks for: change the workload, or restart that"),
    }
}

fn by_percent(found: &Found, facts: &Facts, now: Timestamp) -> Result<Change, Failure> {
    let Some(workload) = &facts.workload else {
        return found.refuse("has no StatefulSet yet, so there is no Pod to restart");
    };
    budget(found, workload)?;
    let percent = facts.rollout.spec.percent();
    let body = json!({"statefulset": {"spec": {"template": writes::restarted(now)}}});
    let mut message = format!("restarts its Pods, as a rollout to {percent}%");
    if percent < 100 {
        message.push_str("; raise spec.percent for the others");
    }
    if facts.rollout.spec.pause_requested() {
        message.push_str("; it is paused and moves nothing before it is resumed");
    }
    Ok(spec(found, &body, message))
}

fn by_steps(found: &Found, facts: &release::Facts, now: Timestamp) -> Result<Change, Failure> {
    let Some(workload) = &facts.workload else {
        return found.refuse(&format!(
            "cannot restart anything: {} does not exist, or is of a kind that is not read",
            release::workload_title(&facts.rollout)
        ));
    };
    let (title, name) = (workload.title(), found.argument());
    let standing = Standing::of(&facts.rollout, Some(&workload.raw));
    let message = match &standing {
        Standing::Healthy => format!("restarts the Pods of {title}, through its steps"),
        Standing::Disabled => {
            format!("restarts the Pods of {title}; it is disabled, so not through its steps")
        }
        other => {
            return found.refuse(&format!(
                "cannot restart {title} now: it would begin its release again at step 1. It waits for {}; \
                 finish it first (`sluice approve {name}`) or give it up (`sluice abort {name}`)",
                other.waits_for()
            ));
        }
    };
    budget(found, workload)?;
    Ok(Change::by(writes::restart(workload, now), message))
}

/// What no budget ever allows would never come to an end.
fn budget(found: &Found, workload: &Workload) -> Result<(), Failure> {
    // A Deployment's Pods go by its own bounds: a budget is not asked.
    if workload.kind == Kind::Deployment {
        return Ok(());
    }
    let never = workload.budgets.iter().map(|seen| &seen.budget).find(|budget| {
        budget.expected > 0 && budget.desired_healthy >= budget.expected && budget.allowed == 0
    });
    match never {
        Some(budget) => found.refuse(&format!(
            "cannot be restarted: PodDisruptionBudget {} ({}) wants all {} Pods healthy, so none may ever \
             go; allow one, or add a replica",
            budget.name, budget.limit, budget.expected
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::far_side::web::{deployment, deployment_done, healthy, rollout, rollout_at};
    use crate::far_side::{FarSide, Paper, flags};

    async fn restarted(far_side: &FarSide, name: &str) -> String {
        let paper = Paper::default();
        let out = &mut Out::to(paper.clone());
        match restart(&far_side.session(), &flags(&[name]), out).await {
            Ok(_) => paper.text(),
            Err(failure) => format!("{:?}: {failure}", failure.exit()),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_template_of_the_workload_is_marked_as_kubectl_marks_it() {
        let far_side = FarSide::in_steps_with(&healthy("True"), &deployment_done());
        let text = restarted(&far_side, "web").await;
        assert!(
            text.contains("restarts the Pods of deployment default/web, through its steps"),
            "{text}"
        );
        assert_eq!(far_side.patched(), ["/apis/apps/v1/namespaces/default/deployments/web"]);
        let patch = far_side.patches().remove(0);
        let at = &patch["spec"]["template"]["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"];
        assert!(at.as_str().is_some_and(|at| at.parse::<Timestamp>().is_ok()), "{patch}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_release_under_way_is_not_begun_again() {
        async fn check(rollout: &Value, deployment: &Value, says: &str) {
            let far_side = FarSide::in_steps_with(rollout, deployment);
            let text = restarted(&far_side, "web").await;
            assert!(text.contains(says), "{text}");
            assert_eq!(far_side.patches().len(), usize::from(!text.starts_with("Failed")));
        }
        check(&rollout(), &deployment("v2"), "would begin its release again at step 1").await;
        check(&rollout(), &deployment("v2"), "`sluice abort rollout/web`").await;
        let disabled = rollout_at(&json!({"phase": "Disabled"}), &json!({}));
        check(&disabled, &deployment_done(), "it is disabled, so not through its steps").await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_rollout_by_percent_restarts_as_far_as_its_percentage() {
        let far_side = FarSide::rolling_out();
        let text = restarted(&far_side, "tester").await;
        assert!(text.contains("as a rollout to 50%; raise spec.percent for the others"), "{text}");
        let never = json!({"items": [{
            "metadata": {"name": "tester", "namespace": "default", "generation": 1},
            "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "tester"}}},
            "status": {"observedGeneration": 1, "disruptionsAllowed": 0, "currentHealthy": 4,
                "desiredHealthy": 4, "expectedPods": 4},
        }]});
        let path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
        let text = restarted(&FarSide::rolling_out().with(path, &never), "tester").await;
        assert!(text.contains("wants all 4 Pods healthy, so none may ever go"), "{text}");
    }
}
