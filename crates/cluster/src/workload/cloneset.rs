//! CloneSets of Kruise: held and moved by their partition, a count of Pods or a part of them, whichever Pods
//! those are. They have no OnDelete.

use engine::front::batch_release::{Body, Machinery};
use engine::nature::{First, Nature};
use engine::world::Workload;
use serde_json::Value;

use super::partition::ByPartition;
use super::status::{self, Named};
use super::units::Units;
use super::{Adapter, Claimed, Counted, Eye, Sight, engine, number};

/// CloneSets.
pub(super) const ADAPTER: Adapter = Adapter { eye: &CloneSets, hand: &HAND };

static HAND: ByPartition = ByPartition {
    within: None,
    units: Units::Up,
    pauses: true,
    on_delete: false,
    replicas: |object| number(&object["spec"]["replicas"], 1),
};

struct CloneSets;

impl Eye for CloneSets {
    fn body(&self, sight: &Sight<'_>, claimed: Claimed) -> Body {
        let named = named(sight);
        let replicas = number(&sight.spec()["replicas"], 1);
        let workload = Workload {
            current_revision: named.current.clone(),
            ..engine(sight, replicas, HAND.strategy(&sight.object), &named.update)
        };
        let saved = HAND.own(&sight.object);
        let machinery = Machinery::Pods { nature: nature(sight.spec()), saved };
        let mut body = status::body(&HAND, sight, workload, &named, machinery, claimed);
        let others = [&sight.seen.status.update_revision, short(sight, &named.update)];
        let others = others.into_iter().filter(|it| **it != *named.update && !it.is_empty());
        body.also_called = others.map(|it| it.to_owned()).collect();
        body
    }

    /// In the status of a Rollout the original calls its revisions by what is behind the name.
    fn read(&self, sight: &Sight<'_>, stable: Option<&str>) -> Counted {
        let named = named(sight);
        let keeps = status::as_many_as_unmoved(sight, &named.update);
        let counted = status::read(&HAND, sight, named, stable, keeps);
        let called = |revision: &str| short(sight, revision).to_owned();
        Counted {
            stable: called(&counted.stable),
            update: called(&counted.update),
            hash: called(&counted.hash),
            ..counted
        }
    }
}

/// With an order of the user's own nobody knows which Pods go first.
fn nature(spec: &Value) -> Nature {
    let strategy = &spec["updateStrategy"];
    let asked = ["priorityStrategy", "scatterStrategy"].iter().any(|it| !strategy[*it].is_null());
    let first = if asked { First::Unknown } else { Nature::CLONE_SET.first };
    Nature { first, ..Nature::CLONE_SET }
}

/// Its revisions as its Pods are labelled with them: whole, or with Kruise's gate `CloneSetShortHash` what is
/// behind the name.
fn named(sight: &Sight<'_>) -> Named {
    let named = Named::of(sight);
    let shortened = [&named.update, &named.current].map(|it| short(sight, it).to_owned());
    let [update, current] = shortened;
    match sight.ran().any(|ran| ran == update || ran == current) {
        true => Named { update, current },
        false => named,
    }
}

/// What is behind the name of the CloneSet.
fn short<'a>(sight: &Sight<'_>, revision: &'a str) -> &'a str {
    let rest = revision.strip_prefix(sight.seen.meta.name.as_str());
    rest.and_then(|rest| rest.strip_prefix('-')).unwrap_or(revision)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn with_an_order_of_the_users_own_nobody_knows_which_pods_go_first() {
        fn check(strategy: &Value, expect: First) {
            let spec = json!({"updateStrategy": strategy});
            assert_eq!(nature(&spec).first, expect, "{spec}");
        }
        check(&json!({"type": "ReCreate"}), First::Unready);
        check(&json!({"scatterStrategy": null}), First::Unready);
        check(&json!({"priorityStrategy": {"weightPriority": []}}), First::Unknown);
        check(&json!({"scatterStrategy": [{"key": "zone", "value": "a"}]}), First::Unknown);
    }
}
