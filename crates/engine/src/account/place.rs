//! The places that ought to have a Pod, whatever the kind of workload: its number, the name of its Pod,
//! and the Pod if there is one.

use std::collections::BTreeMap;

use crate::ground::Facts;
use crate::nature::Places;
use crate::world::Pod;

/// A place.
pub(super) struct Place<'a> {
    /// The ordinal; where names are never used again, a running number.
    pub(super) number: u32,
    pub(super) name: String,
    pub(super) pod: Option<&'a Pod>,
}

/// All of them, in order.
pub(super) fn places<'a>(facts: &Facts<'a>) -> Vec<Place<'a>> {
    match facts.nature.places {
        Places::Ordinals => ordinals(facts),
        Places::Names => names(facts),
    }
}

/// Pods that bear the same names again.
fn ordinals<'a>(facts: &Facts<'a>) -> Vec<Place<'a>> {
    let by_ordinal: BTreeMap<u32, &Pod> = facts.pods.iter().map(|pod| (pod.ordinal, pod)).collect();
    let place = |number| Place {
        number,
        name: format!("{}-{number}", facts.name),
        pod: by_ordinal.get(&number).copied(),
    };
    facts.workload.ordinals().map(place).collect()
}

/// Pods by name, and what is still to come.
fn names<'a>(facts: &Facts<'a>) -> Vec<Place<'a>> {
    let mut pods: Vec<&Pod> = facts.pods.iter().collect();
    let wanted = usize::try_from(facts.workload.replicas).unwrap_or(usize::MAX);
    // A successor may come before its predecessor is gone, and takes its place; after what goes because fewer
    // are wanted none comes.
    pods.sort_by_key(|pod| (pod.deletion.is_some(), &pod.name));
    let stay = pods.iter().filter(|pod| pod.deletion.is_none()).count();
    pods.truncate(stay.max(wanted));
    let missing = wanted.saturating_sub(pods.len());
    pods.sort_by_key(|pod| &pod.name);
    let there = pods.into_iter().map(|pod| (pod.name.clone(), Some(pod)));
    let to_come = || (format!("of {} {}", facts.nature.name, facts.name), None);
    let none = std::iter::repeat_with(to_come).take(missing);
    let place = |(number, (name, pod))| Place { number, name, pod };
    (0..).zip(there.chain(none)).map(place).collect()
}
