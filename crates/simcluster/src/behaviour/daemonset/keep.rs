//! One Pod on each node that wants one: what is missing, what is too many, what has failed.

use jiff::Timestamp;

use super::fit::Fit;

/// One Pod of a DaemonSet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Its name.
    pub name: String,
    /// It is of the template of today.
    pub updated: bool,
    /// Its Ready condition is True.
    pub ready: bool,
    /// When it has been ready for minReadySeconds, if it is ready.
    pub available_at: Option<Timestamp>,
    /// It has a deletion timestamp.
    pub terminating: bool,
    /// Its phase is Failed.
    pub failed: bool,
    /// Its phase is Succeeded.
    pub succeeded: bool,
}

impl Seen {
    /// Ready for long enough.
    pub fn available(&self, now: Timestamp) -> bool {
        self.available_at.is_some_and(|at| at <= now)
    }
}

/// What there is on a node. Pods that are bound come first, then by age and name.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// What the node is to the DaemonSet.
    pub fit: Fit,
    /// Its Pods.
    pub pods: Vec<Seen>,
}

/// What is to be done, by node and by Pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Nodes that get a Pod.
    pub create: Vec<String>,
    /// Pods that go.
    pub delete: Vec<String>,
    /// Failed Pods on their node: they go, too, unless the last one there failed a moment ago.
    pub failed: Vec<String>,
    /// Pods that have come to an end: they go, too.
    pub succeeded: Vec<String>,
}

/// What a node needs. With surge a node may have two Pods for a while, an old one and a new one.
pub fn keep(node: &str, place: &Place, surges: bool, now: Timestamp, plan: &mut Plan) {
    let Place { fit, pods } = place;
    if fit.runs && pods.is_empty() {
        plan.create.push(node.to_owned());
        return;
    }
    if !fit.keeps {
        let staying = pods.iter().filter(|pod| !pod.terminating);
        plan.delete.extend(staying.map(|pod| pod.name.clone()));
        return;
    }
    let mut running: Vec<&Seen> = Vec::new();
    for pod in pods.iter().filter(|pod| !pod.terminating) {
        if pod.failed {
            plan.failed.push(pod.name.clone());
        } else if pod.succeeded {
            plan.succeeded.push(pod.name.clone());
        } else {
            running.push(pod);
        }
    }
    if !surges {
        plan.delete.extend(running.iter().skip(1).map(|pod| pod.name.clone()));
        return;
    }
    if running.is_empty() && fit.runs {
        plan.create.push(node.to_owned());
    }
    if running.len() > 1 {
        plan.delete.extend(surplus(&running, now));
    }
}

/// Of an old and a new Pod both stay while the old one is ready and the new one not yet available.
fn surplus(running: &[&Seen], now: Timestamp) -> Vec<String> {
    let mut out = Vec::new();
    let first = |updated: bool| running.iter().position(|pod| pod.updated == updated);
    let (new, old) = (first(true), first(false));
    for (i, pod) in running.iter().enumerate() {
        if Some(i) != new && Some(i) != old {
            out.push(pod.name.clone());
        }
    }
    if let (Some(new), Some(old)) = (new, old)
        && (!running[old].ready || running[new].available(now))
    {
        out.push(running[old].name.clone());
    }
    out
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Pods from words: `r` ready, `u` unready, `t` terminating, `f` failed, `s` succeeded; a
    /// capital letter is of the template of today. Named `{node}{index}`.
    pub(crate) fn place(node: &str, runs: bool, keeps: bool, words: &str) -> Place {
        let pod = |(i, c): (usize, char)| {
            let kind = c.to_ascii_lowercase();
            Seen {
                name: format!("{node}{i}"),
                updated: c.is_uppercase(),
                ready: kind == 'r',
                available_at: (kind == 'r').then_some(Timestamp::MIN),
                terminating: kind == 't',
                failed: kind == 'f',
                succeeded: kind == 's',
            }
        };
        Place { fit: Fit { runs, keeps }, pods: words.chars().enumerate().map(pod).collect() }
    }

    #[track_caller]
    fn check(surges: bool, runs: bool, keeps: bool, words: &str, create: bool, delete: &[&str]) {
        let mut plan = Plan::default();
        keep("n", &place("n", runs, keeps, words), surges, Timestamp::UNIX_EPOCH, &mut plan);
        assert_eq!(
            (!plan.create.is_empty(), plan.delete.clone()),
            (create, delete.iter().map(|&d| d.to_owned()).collect()),
            "{words} {plan:?}"
        );
    }

    #[test]
    fn a_node_gets_one_pod_and_keeps_the_oldest() {
        check(false, true, true, "", true, &[]);
        check(false, true, true, "R", false, &[]);
        check(false, true, true, "RR", false, &["n1"]);
        check(false, false, true, "", false, &[]);
        check(false, false, true, "R", false, &[]);
        check(false, false, false, "Rt", false, &["n0"]);
    }

    #[test]
    fn without_surge_a_pod_on_its_way_out_holds_its_place() {
        check(false, true, true, "t", false, &[]);
        check(true, true, true, "t", true, &[]);
    }

    #[test]
    fn with_surge_the_old_pod_goes_when_the_new_one_can_stand_in() {
        check(true, true, true, "rU", false, &[]);
        check(true, true, true, "rR", false, &["n0"]);
        check(true, true, true, "uU", false, &["n0"]);
        check(true, true, true, "rUU", false, &["n2"]);
        check(true, true, true, "rr", false, &["n1"]);
    }

    #[test]
    fn ended_pods_are_told_apart() {
        let mut plan = Plan::default();
        keep("n", &place("n", true, true, "FS"), false, Timestamp::UNIX_EPOCH, &mut plan);
        assert_eq!((plan.failed, plan.succeeded), (vec!["n0".to_owned()], vec!["n1".to_owned()]));
    }
}
