//! `sluice install --uninstall-plan`: what is still held, and what to run in which order.
//!
//! It reads and prints; nothing is changed. The order is the point of it: only a running operator gives a
//! workload back and takes its finalizers off, and only without the webhooks may it be gone.

use api::batches::WorkloadRef;
use api::batches::names::{CONTROL_INFO, IN_PROGRESSING, WORKLOAD_TYPE};
use cluster::Kind;
use operator::manifests::Install;
use serde::Serialize;
use serde_json::Value;

use crate::exit::{Exit, Failure, Outcome};
use crate::facts::{kind, stored};
use crate::out::{Format, Out};
use crate::session::Session;

const GROUP: &str = "rollouts.kruise.io";

/// All of it.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Plan {
    /// Workloads that a release holds.
    held: Vec<Held>,
    /// `NAMESPACE/NAME` of Rollouts that are not disabled.
    rollouts: Vec<String>,
    steps: Vec<Step>,
}

/// A workload that a release holds.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Held {
    #[serde(skip)]
    of: Kind,
    kind: String,
    namespace: String,
    name: String,
    /// The Rollout, or else the BatchRelease, that gives it back; `None` where there is none any more.
    by: Option<String>,
}

/// One thing to do.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Step {
    why: String,
    run: Vec<String>,
}

/// What a plan is made of.
#[derive(Debug, Default)]
pub(super) struct Found {
    workloads: Vec<(Kind, Value)>,
    rollouts: Vec<Value>,
    releases: Vec<Value>,
}

/// Reads what there is; in one namespace, or in all.
pub(super) async fn look(session: &Session, only: Option<&str>) -> Result<Found, Failure> {
    let place = only.map(|name| format!("namespaces/{name}/")).unwrap_or_default();
    let mut found = Found::default();
    for kind in Kind::ALL {
        let all = stored::list(session, kind, only).await?;
        found.workloads.extend(all.into_iter().map(|one| (kind, one)));
    }
    for (plural, into) in
        [("rollouts", &mut found.rollouts), ("batchreleases", &mut found.releases)]
    {
        match session.list(&format!("/apis/{GROUP}/v1beta1/{place}{plural}"), plural).await {
            Ok(all) => *into = all,
            // Without its definition there is none.
            Err(Failure::NotServed(_) | Failure::NotFound(_)) => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(found)
}

/// Prints the plan.
pub(super) fn print(plan: &Plan, json: bool, out: &mut Out) -> Outcome {
    if json {
        out.change(Format::Json, plan)?;
    } else {
        out.text(&plan.text())?;
    }
    Ok(if plan.held.is_empty() { Exit::Done } else { Exit::Blocked })
}

impl Plan {
    pub(super) fn new(found: &Found, install: &Install) -> Self {
        let held: Vec<Held> =
            found.workloads.iter().filter_map(|(kind, one)| Held::of(*kind, one, found)).collect();
        let active = found.rollouts.iter().filter(|it| it["spec"]["disabled"] != true);
        let rollouts = active.map(|it| format!("{}/{}", namespace(it), name(it))).collect();
        let steps = steps(&held, found, install);
        Self { held, rollouts, steps }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        if self.held.is_empty() {
            text.push_str("No workload is held by a release.\n");
        } else {
            text.push_str("Held by a release, and not given back yet:\n");
        }
        for Held { kind, namespace, name, by, .. } in &self.held {
            let by = by.as_deref().unwrap_or("nobody any more: give it back by hand");
            text.push_str(&format!("  {kind} {namespace}/{name}, by {by}\n"));
        }
        text.push_str("\nIn this order:\n");
        for (number, Step { why, run }) in self.steps.iter().enumerate() {
            text.push_str(&format!("\n{}. {why}\n", number + 1));
            for line in run {
                text.push_str(&format!("     {line}\n"));
            }
        }
        text
    }
}

impl Held {
    fn of(of: Kind, workload: &Value, found: &Found) -> Option<Self> {
        let annotation = |name: &str| workload["metadata"]["annotations"][name].as_str();
        let (mark, control) = (annotation(IN_PROGRESSING), annotation(CONTROL_INFO));
        if mark.is_none() && control.is_none() {
            return None;
        }
        let names = |one: &&Value| {
            let reference = one["spec"]["workloadRef"].clone();
            let reference = serde_json::from_value::<WorkloadRef>(reference);
            namespace(one) == namespace(workload)
                && reference.is_ok_and(|it| kind::of(&it) == Some(of) && it.name == name(workload))
        };
        let rollout = found.rollouts.iter().find(names);
        let release = found.releases.iter().find(names);
        let by = rollout.map(|one| format!("Rollout {}", name(one)));
        let by = by.or(release.map(|one| format!("BatchRelease {}", name(one))));
        Some(Self {
            of,
            kind: of.word().to_owned(),
            namespace: namespace(workload).to_owned(),
            name: name(workload).to_owned(),
            by,
        })
    }
}

fn steps(held: &[Held], found: &Found, install: &Install) -> Vec<Step> {
    let mut steps = give_back(held, found, install);
    let everywhere = match &install.only {
        Some(only) => format!("-n {only}"),
        None => "-A".to_owned(),
    };
    if !(found.rollouts.is_empty() && found.releases.is_empty()) {
        let all = format!("rollouts.{GROUP},batchreleases.{GROUP}");
        steps.push(step(
            "If the Rollouts are to go as well, delete them now: without the operator their finalizers stay. \
             To go on with OpenKruise Rollouts, keep them, and enable them again under its manager.",
            vec![format!("kubectl delete {all} {everywhere} --all")],
        ));
    }
    let mut remove = match &install.only {
        Some(only) => format!("sluice install --namespace-only={only}"),
        None => "sluice install --crds=false".to_owned(),
    };
    let default = install.only.as_deref().unwrap_or(operator::manifests::NAMESPACE);
    if install.namespace != default {
        remove.push_str(&format!(" --namespace={}", install.namespace));
    }
    steps.push(step("Remove the operator.", vec![format!("{remove} | kubectl delete -f -")]));
    if install.only.is_none() {
        steps.push(step(
            "Take the webhooks away, at once: an operator that runs puts them back, and without one they \
             refuse changes of labelled workloads.",
            vec![
                "kubectl delete mutatingwebhookconfiguration sluice".to_owned(),
                "kubectl delete validatingwebhookconfiguration sluice".to_owned(),
            ],
        ));
    }
    let has_label = |one: &Value| one["metadata"]["labels"][WORKLOAD_TYPE].is_string();
    let labelled =
        |kind: &Kind| found.workloads.iter().any(|(of, one)| of == kind && has_label(one));
    let native = |kind: &Kind| kind.facts().source.definition.is_none();
    let all = Kind::ALL;
    if all.iter().any(labelled) {
        let kinds = all.iter().filter(|kind| native(kind) || labelled(kind));
        let kinds: Vec<&str> = kinds.map(|kind| kind.facts().source.title).collect();
        let kinds = kinds.join(",");
        steps.push(step(
            "Take the label off the workloads; it means nothing without an operator.",
            vec![format!("kubectl label {kinds} {everywhere} -l {WORKLOAD_TYPE} {WORKLOAD_TYPE}-")],
        ));
    }
    if install.only.is_none() {
        steps.push(step(
            "If nobody else serves them, remove the definitions, and with them every rollout that is left; \
             workloads and Pods stay.",
            vec!["sluice crds | kubectl delete -f -".to_owned()],
        ));
    }
    steps
}

/// What the operator has to run for.
fn give_back(held: &[Held], found: &Found, install: &Install) -> Vec<Step> {
    let mut steps = Vec::new();
    let disable = |it: &Value| {
        let (namespace, name) = (namespace(it), name(it));
        let patch = "{\"spec\":{\"disabled\":true}}";
        format!("kubectl -n {namespace} patch rollouts.{GROUP} {name} --type=merge -p '{patch}'")
    };
    let active = found.rollouts.iter().filter(|it| it["spec"]["disabled"] != true);
    let active: Vec<String> = active.map(disable).collect();
    if !active.is_empty() {
        steps.push(step(
            "End every release, and hold no other: finish it, go back with `sluice abort`, or disable its \
             Rollout. Disabled, what has not moved is updated by the workload's own controller, without steps.",
            active,
        ));
    }
    let is_alone = |release: &&Value| {
        let owners = release["metadata"]["ownerReferences"].as_array();
        owners.is_none_or(|owners| !owners.iter().any(|owner| owner["kind"] == "Rollout"))
    };
    let delete = |it: &Value| {
        format!("kubectl -n {} delete batchreleases.{GROUP} {}", namespace(it), name(it))
    };
    let alone: Vec<String> = found.releases.iter().filter(is_alone).map(delete).collect();
    if !alone.is_empty() {
        steps.push(step("Delete the BatchReleases that no Rollout has written.", alone));
    }
    if !held.is_empty() {
        let only = install.only.as_ref().map(|only| format!(" --namespace-only={only}"));
        let run = format!("sluice install --uninstall-plan{}", only.unwrap_or_default());
        let why = "Wait until nothing is held: the operator has to run until then.";
        steps.push(step(why, vec![run]));
    }
    let by_hand: Vec<String> = held.iter().filter(|it| it.by.is_none()).map(by_hand).collect();
    if !by_hand.is_empty() {
        steps.push(step(
            "Give back by hand what nobody releases any more: its strategy, and the marks off.",
            by_hand,
        ));
    }
    steps
}

fn step(why: &str, run: Vec<String>) -> Step {
    Step { why: why.to_owned(), run }
}

/// What lets go of a workload whose release is gone.
fn by_hand(held: &Held) -> String {
    let Held { of, namespace, name, .. } = held;
    let marks = format!("{{\"{IN_PROGRESSING}\":null,\"{CONTROL_INFO}\":null}}");
    let spec = of.let_go();
    let patch = format!("{{\"metadata\":{{\"annotations\":{marks}}},\"spec\":{spec}}}");
    let kind = kind::word(*of);
    format!("kubectl -n {namespace} patch {kind} {name} --type=merge -p '{patch}'")
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

fn namespace(object: &Value) -> &str {
    object["metadata"]["namespace"].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn install(only: Option<&str>) -> Install {
        Install {
            namespace: only.unwrap_or("sluice-system").to_owned(),
            only: only.map(str::to_owned),
            image: "sluice".to_owned(),
            crds: only.is_none(),
        }
    }

    fn workload(name: &str, marked: bool) -> Value {
        let labels = json!({WORKLOAD_TYPE: "deployment"});
        let mut metadata = json!({"namespace": "shop", "name": name, "labels": labels});
        if marked {
            metadata["annotations"] = json!({IN_PROGRESSING: "{}"});
        }
        json!({"metadata": metadata})
    }

    fn rollout(name: &str, disabled: bool) -> Value {
        json!({
            "metadata": {"namespace": "shop", "name": format!("{name}-rollout")},
            "spec": {"disabled": disabled, "workloadRef": {
                "apiVersion": "apps/v1", "kind": "Deployment", "name": name,
            }},
        })
    }

    /// The plan's text says these, in this order.
    fn check(found: &Found, install: &Install, says: &[&str]) -> String {
        let text = Plan::new(found, install).text();
        let mut rest = text.as_str();
        for says in says {
            let at = rest.find(says).unwrap_or_else(|| panic!("{says:?} is not next in {text}"));
            rest = &rest[at + says.len()..];
        }
        text
    }

    #[test]
    fn a_held_workload_is_given_back_before_the_operator_goes() {
        let (web, api) = (workload("web", true), workload("api", false));
        let found = Found {
            workloads: vec![(Kind::Deployment, web), (Kind::Deployment, api)],
            rollouts: vec![rollout("web", false), rollout("api", true)],
            releases: Vec::new(),
        };
        let plan = Plan::new(&found, &install(None));
        assert_eq!(plan.rollouts, ["shop/web-rollout"]);
        assert_eq!(plan.held.len(), 1);
        let says = [
            "Deployment shop/web, by Rollout web-rollout",
            "1. End every release",
            "kubectl -n shop patch rollouts.rollouts.kruise.io web-rollout",
            "2. Wait until nothing is held",
            "sluice install --uninstall-plan",
            "3. If the Rollouts are to go as well",
            "4. Remove the operator",
            "sluice install --crds=false | kubectl delete -f -",
            "5. Take the webhooks away",
            "kubectl delete mutatingwebhookconfiguration sluice",
            "6. Take the label off",
            "7. If nobody else serves them",
        ];
        check(&found, &install(None), &says);
    }

    #[test]
    fn where_nothing_is_held_and_nothing_is_there_little_is_to_be_done() {
        let says = [
            "No workload is held",
            "1. Remove the operator",
            "2. Take the webhooks away",
            "3. If nobody else",
        ];
        let text = check(&Found::default(), &install(None), &says);
        assert!(!text.contains("disabled"), "{text}");
    }

    #[test]
    fn what_nobody_releases_any_more_is_given_back_by_hand() {
        for (kind, says) in [
            (Kind::Deployment, "patch deployment web"),
            (Kind::StatefulSet, "\"partition\":0"),
            (Kind::DaemonSet, "\"type\":\"RollingUpdate\""),
            (Kind::CloneSet, "\"updateStrategy\":{\"partition\":0}"),
            (Kind::AdvancedDaemonSet, "patch daemonset.apps.kruise.io web"),
        ] {
            let workloads = vec![(kind, workload("web", true))];
            let found = Found { workloads, ..Found::default() };
            let says = ["by nobody any more", "Give back by hand", says];
            check(&found, &install(None), &says);
        }
    }

    #[test]
    fn in_one_namespace_there_is_no_webhook_and_no_definition_to_remove() {
        let says = [
            "1. Remove the operator",
            "sluice install --namespace-only=shop | kubectl delete -f -",
        ];
        let text = check(&Found::default(), &install(Some("shop")), &says);
        assert!(!text.contains("webhook") && !text.contains("crds"), "{text}");
    }
}
