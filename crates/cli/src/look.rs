//! One look at a rollout, whichever resource it is: as much as a row and a verdict need.

use api::batches::{BatchRelease, Rollout};

use crate::command::verdict::{self, Goal, Verdict};
use crate::exit::Failure;
use crate::facts::decoded;
use crate::find::{Found, Front, workload};
use crate::session::Session;
use crate::show::brief::Row;
use crate::show::{batch, release};
use crate::standing::Standing;

/// What was seen.
pub(crate) struct Look {
    pub(crate) uid: Option<String>,
    pub(crate) row: Row,
    pub(crate) verdict: Verdict,
    /// Which way a release by steps goes or went.
    pub(crate) way: Way,
}

/// Which way it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Through its steps.
    Forward,
    /// The last release ended at the stable revision.
    Back,
    /// Neither, or that is not told apart.
    Neither,
}

impl Look {
    /// Of what was read, with what has to be read besides.
    pub(crate) async fn at(
        session: &Session,
        found: &Found,
        goals: &[Goal],
    ) -> Result<Self, Failure> {
        let uid = found.raw["metadata"]["uid"].as_str().map(str::to_owned);
        match found.front {
            Front::Percent => {
                let rollout = decoded(&found.raw, "statefulsetrollout")?;
                let (row, verdict) = (Row::of(&rollout), verdict::judge(&rollout, goals));
                Ok(Self { uid, row, verdict, way: Way::Neither })
            }
            Front::Steps => {
                let rollout: Rollout = decoded(&found.raw, "rollout")?;
                let reference = &rollout.spec.workload_ref;
                let workload = workload(session, &found.namespace, reference).await?;
                let summary = release::Summary::of(&rollout, workload.as_ref());
                Ok(Self {
                    uid,
                    row: release::row(&rollout, workload.as_ref()),
                    way: way(&rollout, &summary),
                    verdict: verdict::steps::judge(&rollout, workload.as_ref(), &summary, goals),
                })
            }
            Front::Release => {
                let seen: BatchRelease = decoded(&found.raw, "batchrelease")?;
                let reference = seen.spec.workload_ref.clone().unwrap_or_default();
                let workload = workload(session, &found.namespace, &reference).await?;
                let summary = batch::Summary::of(&seen, workload.as_ref());
                Ok(Self {
                    uid,
                    row: batch::row(&seen, workload.as_ref()),
                    verdict: verdict::steps::judge_release(&summary, goals),
                    way: Way::Neither,
                })
            }
        }
    }
}

fn way(rollout: &Rollout, summary: &release::Summary) -> Way {
    let ended_back = crate::facts::release::condition(rollout, "Succeeded")
        .is_some_and(|condition| condition.status == "False");
    match summary.standing {
        Standing::Healthy if ended_back => Way::Back,
        // A template that nobody has seen yet may be a roll back.
        _ if summary.current && summary.standing.is_under_way() => Way::Forward,
        _ => Way::Neither,
    }
}
