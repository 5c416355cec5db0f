//! How many Pods a CloneSet has to make, may delete and may update, at one look.

use crate::behaviour::share::scaled;
use crate::json::Value;

/// The numbers that a CloneSet's spec comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// `spec.replicas`.
    pub replicas: i64,
    /// How many Pods stay at the old revision.
    pub partition: i64,
    /// How many there may be above `replicas` while Pods are replaced.
    pub surge: i64,
    /// How many may be unavailable while Pods are replaced or scaled in.
    pub unavailable: i64,
    /// How many may be unavailable while Pods are added; `None` for any number.
    pub unavailable_scaling: Option<i64>,
}

impl Bounds {
    /// Of a CloneSet.
    pub fn of(set: &Value) -> Self {
        let spec = &set["spec"];
        let replicas = spec["replicas"].as_i64().unwrap_or(1);
        let strategy = &spec["updateStrategy"];
        let paused = strategy["paused"] == true;
        let surge = if paused { 0 } else { scaled(&strategy["maxSurge"], replicas, true) };
        let unavailable = match &strategy["maxUnavailable"] {
            Value::Null => scaled(&"20%".into(), replicas, surge == 0),
            given => scaled(given, replicas, surge == 0),
        };
        let limit = &spec["scaleStrategy"]["maxUnavailable"];
        Self {
            replicas,
            partition: partition(&strategy["partition"], replicas),
            surge,
            unavailable,
            unavailable_scaling: (!limit.is_null()).then(|| scaled(limit, replicas, true)),
        }
    }
}

/// A percentage is rounded up, but below 100 % of more than one Pod it leaves one to update.
fn partition(value: &Value, replicas: i64) -> i64 {
    let partition = scaled(value, replicas, true).clamp(0, replicas);
    let partial = value.as_str().is_some_and(|text| text != "100%");
    if partial && replicas > 1 { partition.min(replicas - 1) } else { partition }
}

/// The Pods of one revision, or of all others together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// All.
    pub pods: i64,
    /// Marked for deletion.
    pub marked: i64,
    /// Unavailable and not marked.
    pub unavailable: i64,
}

/// What there is to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Pods missing.
    pub missing: i64,
    /// Pods to make now: less than are missing when too many are unavailable already.
    pub make: i64,
    /// How many of those to make come from the old revision.
    pub make_old: i64,
    /// Pods too many, marked ones not counted.
    pub surplus: i64,
    /// How many of those go from the old revision.
    pub surplus_old: i64,
    /// How many ready Pods may be deleted.
    pub delete_ready: i64,
    /// Old Pods to update.
    pub update: i64,
    /// How many Pods may be unavailable while they are updated.
    pub update_unavailable: i64,
}

impl Sizes {
    /// Given the Pods at the update revision, and all others.
    pub fn of(bounds: &Bounds, new: Group, old: Group) -> Self {
        let Bounds { replicas, partition, unavailable, .. } = *bounds;
        let pods = new.pods + old.pods;
        let marked = new.marked + old.marked;
        let gone = new.unavailable + old.unavailable;
        let too_old = (old.pods - partition).max(0);
        let too_few_new = (replicas - partition - new.pods).max(0);
        let update = too_old.min(too_few_new);
        let (surge, surge_old) = surge(bounds, new, old, update);

        let wanted = replicas + surge;
        let missing = (wanted - pods).max(0);
        let room = bounds.unavailable_scaling.map_or(missing, |limit| (limit - gone).max(0));
        let surplus = (pods - marked - wanted).max(0);
        let stay_old = partition + surge_old;
        let deletes = marked > 0 || surplus > 0;
        Self {
            missing,
            make: missing.min(room),
            make_old: if missing > 0 { (stay_old - old.pods).max(0) } else { 0 },
            surplus,
            surplus_old: if surplus > 0 { (old.pods - old.marked - stay_old).max(0) } else { 0 },
            delete_ready: if deletes { (unavailable + pods - replicas - gone).max(0) } else { 0 },
            update,
            update_unavailable: unavailable + pods - replicas,
        }
    }
}

/// How many Pods to have above `replicas`, and how many of those at the old revision: for those that
/// are marked and cannot be spared, or for those to update, whichever are more.
fn surge(bounds: &Bounds, new: Group, old: Group, update: i64) -> (i64, i64) {
    let marked = new.marked + old.marked;
    let gone = new.unavailable + old.unavailable;
    let replacing = (gone + marked - bounds.unavailable).clamp(0, marked);
    if replacing >= update {
        let surge = bounds.surge.min(replacing);
        (surge, surge.min((replacing - new.marked).max(0)))
    } else {
        (bounds.surge.min(update), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    #[test]
    fn a_partition_in_percent_is_rounded_up_and_leaves_one_to_update() {
        let check = |value: Value, replicas: i64, expect: i64| {
            assert_eq!(partition(&value, replicas), expect, "{value} of {replicas}");
        };
        check(json!("50%"), 5, 3);
        check(json!("80%"), 5, 4);
        check(json!("99%"), 5, 4);
        check(json!("100%"), 5, 5);
        check(json!("1%"), 5, 1);
        check(json!("50%"), 1, 1);
        check(json!("0%"), 5, 0);
        check(json!(7), 5, 5);
        check(json!(5), 5, 5);
        check(Value::Null, 5, 0);
    }

    fn group(pods: i64, marked: i64, unavailable: i64) -> Group {
        Group { pods, marked, unavailable }
    }

    fn bounds(replicas: i64, partition: i64) -> Bounds {
        Bounds { replicas, partition, surge: 0, unavailable: 1, unavailable_scaling: None }
    }

    #[test]
    fn a_set_that_is_scaled_fills_its_partition_first() {
        let sizes = Sizes::of(&bounds(10, 6), group(2, 0, 0), group(3, 0, 0));
        assert_eq!((sizes.make, sizes.make_old), (5, 3));
        let sizes = Sizes::of(&bounds(5, 3), group(4, 0, 0), group(6, 0, 0));
        assert_eq!((sizes.surplus, sizes.surplus_old), (5, 3));
    }

    #[test]
    fn a_partition_that_has_been_raised_asks_for_nothing() {
        let sizes = Sizes::of(&bounds(5, 4), group(4, 0, 0), group(1, 0, 0));
        assert_eq!((sizes.update, sizes.make, sizes.surplus), (0, 0, 0));
    }

    #[test]
    fn marked_pods_are_deleted_as_far_as_unavailable_ones_leave_room() {
        let sizes = Sizes::of(&bounds(5, 0), group(0, 0, 0), group(5, 2, 0));
        assert_eq!(sizes.delete_ready, 1);
        let sizes = Sizes::of(&bounds(5, 0), group(1, 0, 1), group(4, 2, 0));
        assert_eq!(sizes.delete_ready, 0);
    }

    #[test]
    fn surge_is_used_for_what_is_to_be_updated() {
        let bounds = Bounds { surge: 2, unavailable: 0, ..bounds(5, 3) };
        let sizes = Sizes::of(&bounds, group(0, 0, 0), group(5, 0, 0));
        assert_eq!((sizes.make, sizes.make_old, sizes.update), (2, 0, 2));
        let sizes = Sizes::of(&bounds, group(2, 0, 0), group(5, 0, 0));
        assert_eq!((sizes.surplus, sizes.surplus_old), (2, 2));
    }

    #[test]
    fn pods_are_added_no_faster_than_the_scale_strategy_allows() {
        let bounds = Bounds { unavailable_scaling: Some(2), ..bounds(10, 0) };
        let sizes = Sizes::of(&bounds, group(5, 0, 1), group(0, 0, 0));
        assert_eq!((sizes.missing, sizes.make), (5, 1));
    }
}
