//! `sluice undo`: the template of an earlier revision becomes the one that is asked for.

use serde::Serialize;
use serde_json::json;

use crate::exit::{Exit, Failure, Outcome};
use crate::facts::{Facts, Revision, rollouts_path};
use crate::out::{Out, PlainFormat};
use crate::session::{Connection, Session};

/// Roll back to an earlier revision: its Pod template, at 100 percent
#[derive(clap::Args, Debug)]
pub(crate) struct Flags {
    /// The rollout
    #[arg(value_name = "NAME", value_parser = crate::name::object)]
    name: String,

    /// Number of the revision, as `sluice history` shows it; without it the one before this rollout
    #[arg(long, value_name = "NUMBER")]
    to_revision: Option<i64>,

    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,

    /// How the result is written
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: PlainFormat,

    #[command(flatten)]
    connection: Connection,
}

/// What was done.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Done {
    namespace: String,
    name: String,
    action: &'static str,
    dry_run: bool,
    from_version: String,
    to_revision: i64,
    to_version: String,
    to_image: String,
    /// Pods that do not run it.
    moves: usize,
    generation: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    undo(&flags.connection.open().await?, flags, out).await
}

async fn undo(session: &Session, flags: &Flags, out: &mut Out) -> Outcome {
    let facts = Facts::read(session, &flags.name).await?;
    let to = target(&facts, flags.to_revision).map_err(|why| {
        let words =
            format!("statefulsetrollout {}/{}: {}", session.namespace, flags.name, why.words);
        if why.absent { Failure::NotFound(words) } else { Failure::Failed(words) }
    })?;
    let mut generation = facts.rollout.metadata.generation.unwrap_or(0);
    if !flags.dry_run {
        generation = write(session, flags, &facts, to).await?;
    }
    let now = facts.rollout.spec.statefulset.template().map(api::bedrock::pod_version);
    let done = Done {
        namespace: session.namespace.clone(),
        name: flags.name.clone(),
        action: "undo",
        dry_run: flags.dry_run,
        from_version: now.map(|now| now.version).unwrap_or_default(),
        to_revision: to.number,
        to_version: to.version.clone(),
        to_image: to.image.clone(),
        moves: facts.pods.iter().filter(|pod| pod.revision != to.name).count(),
        generation,
        warning: facts.rollout.spec.pause_requested().then(|| {
            format!("it is paused and moves nothing before `sluice resume {}`", flags.name)
        }),
    };
    out.document(flags.output.into(), &done, |_| words(&done, facts.pods.len()))?;
    Ok(Exit::Done)
}

fn words(done: &Done, pods: usize) -> String {
    let Done { namespace, name, from_version, to_revision, to_version, to_image, moves, .. } = done;
    let verb = if done.dry_run { "would roll back" } else { "rolls back" };
    let mut text = format!(
        "statefulsetrollout {namespace}/{name} {verb} from {from_version} to revision {to_revision} \
         ({to_version}, {to_image}) at 100%; {moves} of {pods} Pods move\n"
    );
    if let Some(warning) = &done.warning {
        text.push_str(&format!("warning: {warning}\n"));
    }
    text
}

/// Why there is nothing to go back to.
#[derive(Debug, PartialEq)]
struct Nothing {
    absent: bool,
    words: String,
}

fn target(facts: &Facts, wanted: Option<i64>) -> Result<&Revision, Nothing> {
    let nothing = |words: String| Err(Nothing { absent: false, words });
    let Some(set) = &facts.set else {
        return nothing("its StatefulSet does not exist, so there is nothing to undo".to_owned());
    };
    let status = facts.rollout.status.as_ref();
    let stable =
        status.map(|status| status.stable_revision.as_str()).filter(|name| !name.is_empty());
    let to = match wanted {
        Some(number) => {
            let Some(found) = facts.revisions.iter().find(|one| one.number == number) else {
                let numbers: Vec<String> =
                    facts.revisions.iter().map(|one| one.number.to_string()).collect();
                let words =
                    format!("there is no revision {number}; there are {}", numbers.join(", "));
                return Err(Nothing { absent: true, words });
            };
            found
        }
        None => {
            let before = |one: &&Revision| one.name != set.update_revision;
            let stable =
                facts.revisions.iter().filter(before).find(|one| Some(one.name.as_str()) == stable);
            match stable.or_else(|| facts.revisions.iter().find(before)) {
                Some(found) => found,
                None => {
                    return nothing(
                        "it has had one revision only, so there is nothing to undo".to_owned(),
                    );
                }
            }
        }
    };
    let asked = facts.rollout.spec.statefulset.template();
    let same = asked.is_some_and(|asked| {
        // The revision has the API server's defaults besides.
        let spec = |template: &serde_json::Value| json!({"spec": {"template": template}});
        api::bedrock::matches(&spec(&to.template), &spec(asked)) && to.name == set.update_revision
    });
    if same && facts.rollout.spec.percent() == 100 {
        let words = format!(
            "it asks for revision {} at 100% already, so there is nothing to undo",
            to.number
        );
        return nothing(words);
    }
    Ok(to)
}

async fn write(
    session: &Session,
    flags: &Flags,
    facts: &Facts,
    to: &Revision,
) -> Result<i64, Failure> {
    let patch = json!([
        // Whoever changed the rollout since is not undone unseen.
        {"op": "replace", "path": "/metadata/resourceVersion",
         "value": facts.raw["metadata"]["resourceVersion"]},
        {"op": "add", "path": "/spec/statefulset/spec/template", "value": to.template},
        {"op": "add", "path": "/spec/percent", "value": 100},
    ]);
    let path = format!("{}/{}", rollouts_path(Some(&session.namespace)), flags.name);
    let object = format!("statefulsetrollout {}/{}", session.namespace, flags.name);
    let now = session.patch(&path, &patch, &object).await?;
    Ok(now["metadata"]["generation"].as_i64().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::far_side::{FarSide, Paper, flags};

    async fn undone(arguments: &[&str]) -> (Result<Exit, String>, String, FarSide) {
        let (paper, far_side) = (Paper::default(), FarSide::rolling_out());
        let flags = flags(arguments);
        let outcome = undo(&far_side.session(), &flags, &mut Out::to(paper.clone())).await;
        (
            outcome.map_err(|failure| format!("{:?} {failure}", failure.exit())),
            paper.text(),
            far_side,
        )
    }

    #[tokio::test(start_paused = true)]
    async fn the_template_before_this_rollout_comes_back_at_all_pods() {
        let (outcome, text, far_side) = undone(&["tester"]).await;
        assert_eq!(outcome, Ok(Exit::Done));
        assert_eq!(
            text,
            "statefulsetrollout default/tester rolls back from v2 to revision 1 (v1, tester:v1) at 100%; \
             3 of 4 Pods move\n"
        );
        let patches = far_side.patches();
        assert_eq!(patches.len(), 1);
        assert_eq!(
            patches[0][0]["value"], "77",
            "the version that was read is the one that is changed"
        );
        let template = &patches[0][1]["value"];
        assert_eq!(template["spec"]["containers"][0]["image"], "tester:v1");
        assert!(
            template.get("$patch").is_none()
                && template["metadata"].get("creationTimestamp").is_none()
        );
        assert_eq!(patches[0][2]["value"], 100);
    }

    #[tokio::test(start_paused = true)]
    async fn a_dry_run_writes_nothing() {
        let (outcome, text, far_side) = undone(&["tester", "--dry-run"]).await;
        assert_eq!(outcome, Ok(Exit::Done));
        assert!(text.contains("would roll back"), "{text}");
        assert_eq!(far_side.patches().len(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_revision_that_is_not_there_is_not_found() {
        let (outcome, _, far_side) = undone(&["tester", "--to-revision=9"]).await;
        let words = outcome.unwrap_err();
        assert!(
            words.starts_with("Absent") && words.contains("no revision 9; there are 2, 1"),
            "{words}"
        );
        assert_eq!(far_side.patches().len(), 0);
    }
}
