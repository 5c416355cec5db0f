//! The change of a workload on its way in: held where a Rollout releases it, kept held where somebody else
//! lets go of it in mid-release, and otherwise let be.
//!
//! The same for every kind; what is written for it on each is `cluster::workload`'s.
//!
//! Nobody is told by his name: an account may have several, and a user may run the operator under his own.
//! What gives a workload back is told by what it takes away, and by whether anybody has a release of it
//! that goes on.

/// An update of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// Kind, namespace and name, for messages: `Deployment shop/web`.
    pub name: String,
    /// Pods that are asked for.
    pub replicas: u32,
    /// Whether the workload is being deleted.
    pub deleting: bool,
    /// Whether the template changes, in anything but the label `pod-template-hash`.
    pub template: bool,
    /// Whether the annotation `rollouts.kruise.io/rollout-id` changes to another id.
    pub id: bool,
    /// What stood on it for a release.
    pub before: Marks,
    /// What would stand on it.
    pub after: Marks,
    /// How its own controller would carry the change out.
    pub strategy: Strategy,
    /// Deployments: whether a ReplicaSet of it has Pods; `None` of other kinds, and where it is not known.
    pub running: Option<bool>,
}

/// What stands on a workload for a release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// `rollouts.kruise.io/in-progressing`.
    pub in_progressing: bool,
    /// `batchrelease.rollouts.kruise.io/control-info`.
    pub control: bool,
}

impl Update {
    /// What stood on it, and would not stand on it any more.
    fn gone(&self) -> Marks {
        Marks {
            in_progressing: self.before.in_progressing && !self.after.in_progressing,
            control: self.before.control && !self.after.control,
        }
    }
}

impl Marks {
    fn any(self) -> bool {
        self.in_progressing || self.control
    }
}

/// How a workload's own controller carries a change out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Some Pods after the others.
    Rolling,
    /// All at once.
    Recreate,
    /// Not by itself.
    OnDelete,
}

/// Who has a release of the workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Around {
    /// It cannot be said yet: why, in words.
    Unknown(String),
    /// By what the caches hold.
    Known {
        /// The Rollout that names it and has come first.
        leader: Option<Leader>,
        /// The BatchRelease of its control-info.
        release: Release,
    },
}

/// A BatchRelease that a workload bears the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// There is none, or none any more.
    None,
    /// It is being deleted, or is to let the workload go.
    Ending,
    /// It holds the workload.
    GoesOn,
}

/// A Rollout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leader {
    /// Its name.
    pub name: String,
    /// Whether it does not hold changes: `disabled`, or being deleted.
    pub idle: bool,
    /// Whether it gives the workload back just now: its phase is Terminating or Disabling, or its release is
    /// Finalising or Cancelling.
    pub ending: bool,
    /// Why it cannot release anything, in words.
    pub obstacle: Option<String>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Let in as it is.
    Pass,
    /// Let in with the mark of this Rollout, and held before anything moves.
    Hold {
        /// Its name.
        rollout: String,
    },
    /// Let in, with what lets go of it taken back.
    KeepHeld {
        /// The template has changed again: whatever was opened is closed.
        restart: bool,
        /// The in-progressing mark stays.
        mark: bool,
        /// Control-info stays.
        control: bool,
    },
    /// Kept out.
    Deny {
        /// Whether it may be let in when asked again.
        later: bool,
        /// Object, reason and remedy.
        message: String,
    },
}

/// Judges the update of a workload.
pub fn judge(update: &Update, around: &Around) -> Verdict {
    if update.deleting {
        return Verdict::Pass;
    }
    match around {
        Around::Unknown(why) => unknown(update, why),
        Around::Known { leader, release } => known(update, leader.as_ref(), *release),
    }
}

fn known(update: &Update, leader: Option<&Leader>, release: Release) -> Verdict {
    let (before, gone) = (update.before, update.gone());
    let holds = leader.filter(|leader| !leader.idle);
    if !before.any() {
        return match holds {
            Some(leader) if update.template || update.id => begin(update, leader),
            _ => Verdict::Pass,
        };
    }
    if leader.is_none() && release == Release::None {
        // Whoever held it is gone: it is its owner's again.
        return Verdict::Pass;
    }
    let (led, releasing) = (holds.is_some_and(|leader| !leader.ending), release == Release::GoesOn);
    if update.template && (holds.is_some() || releasing) {
        // Not even one that is about to be given back: it would be given back with another template.
        return Verdict::KeepHeld {
            restart: true,
            mark: gone.in_progressing && holds.is_some(),
            control: gone.control && releasing,
        };
    }
    // The mark is the last that goes, and with whoever set it.
    let mark = gone.in_progressing && (led || (releasing && leader.is_some()));
    let control = gone.control && releasing;
    let given_back = gone.control || (gone.in_progressing && !before.control);
    if given_back && !mark && !control {
        return Verdict::Pass;
    }
    Verdict::KeepHeld { restart: false, mark, control }
}

/// The first change of a workload that nothing is on the way for.
fn begin(update: &Update, leader: &Leader) -> Verdict {
    if update.replicas == 0 || update.running == Some(false) {
        // Nothing runs that could be replaced in batches.
        return Verdict::Pass;
    }
    let (workload, rollout) = (&update.name, &leader.name);
    if let Some(why) = &leader.obstacle {
        // Let in, it would go to all Pods without the steps that were asked for; held, it would stay so.
        let message = format!(
            "{workload} is to be released by Rollout {rollout}, which cannot do it ({why}): mend the Rollout, \
             or disable it first"
        );
        return Verdict::Deny { later: false, message };
    }
    if update.strategy == Strategy::Recreate && update.template {
        let message = format!(
            "{workload} is released in batches by Rollout {rollout}, and its strategy Recreate replaces all \
             Pods at once: set spec.strategy.type to RollingUpdate, or disable the Rollout first"
        );
        return Verdict::Deny { later: false, message };
    }
    Verdict::Hold { rollout: rollout.clone() }
}

/// By what stands on the workload alone.
fn unknown(update: &Update, why: &str) -> Verdict {
    let (before, gone) = (update.before, update.gone());
    if !before.any() && (update.template || update.id) {
        let message = format!(
            "{} bears the label rollouts.kruise.io/workload-type, and whether a Rollout is to release this \
             change cannot be said yet ({why}): try again",
            update.name
        );
        return Verdict::Deny { later: true, message };
    }
    // Both at once is how a write of the whole object looks; one of them is how it is given back.
    let given_back = gone.in_progressing != gone.control;
    if !before.any() || (given_back && !update.template) {
        return Verdict::Pass;
    }
    Verdict::KeepHeld { restart: update.template, mark: gone.in_progressing, control: gone.control }
}
