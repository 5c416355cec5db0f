//! Taking part in the election while the controller runs, and giving the Lease back after it.

use crate::Error;
use crate::flags::Flags;
use crate::identity;
use cluster::Clock;
use cluster::elector::{self, Elector, Leadership};
use cluster::lease::Durations;
use jiff::SignedDuration;
use kube::Client;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::info;

/// What the controller hears about the Lease, and the task that takes part in the election.
pub(crate) enum Election {
    /// No election: this process leads from the start. The sender is kept, or the leadership would
    /// be over.
    Off(watch::Sender<Leadership>),
    /// A candidate.
    On {
        hears: watch::Receiver<Leadership>,
        /// `namespace/name` of the Lease, for messages.
        lease: String,
        task: JoinHandle<()>,
        give_back: CancellationToken,
    },
}

impl Election {
    /// Joins the election as `me`; nothing is sent with `--leader-elect=false`.
    pub(crate) fn join(
        flags: &Flags,
        client: &Client,
        clock: &Clock,
        me: &str,
        namespace: &str,
    ) -> Self {
        if !flags.leader_elect {
            info!("no election: leading from the start");
            return Self::Off(watch::channel(Leadership::ALONE).0);
        }
        let lease = format!("{namespace}/{}", elector::NAME);
        info!("lease {lease}: taking part in the election as {me}");
        let durations = Durations {
            lease: signed(flags.leader_elect_lease_duration),
            renew_deadline: signed(flags.leader_elect_renew_deadline),
            retry: signed(flags.leader_elect_retry_period),
        };
        let (elector, hears) = Elector::new(
            client.clone(),
            clock.clone(),
            me,
            namespace,
            durations,
            identity::seed(me),
        );
        let give_back = CancellationToken::new();
        // A task of its own: no look at a rollout may keep a renewal waiting.
        let task = tokio::spawn(elector.run(give_back.clone().cancelled_owned()));
        Self::On { hears, lease, task, give_back }
    }

    /// Whether this process leads, for the controller.
    pub(crate) fn leadership(&self) -> watch::Receiver<Leadership> {
        match self {
            Self::Off(tell) => tell.subscribe(),
            Self::On { hears, .. } => hears.clone(),
        }
    }

    /// What to say when the Lease is lost.
    pub(crate) fn lost(&self) -> Error {
        let lease = match self {
            Self::Off(_) => "none".to_owned(),
            Self::On { lease, .. } => lease.clone(),
        };
        Error::LeaseLost { lease }
    }

    /// Gives the Lease back. By now nothing may act any more: whoever stands by takes over at once.
    pub(crate) async fn leave(self) -> Result<(), Error> {
        let Self::On { task, give_back, .. } = self else { return Ok(()) };
        give_back.cancel();
        task.await.map_err(Error::Task)
    }
}

fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}
