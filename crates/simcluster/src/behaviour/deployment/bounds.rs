//! How many Pods a Deployment may have too many or too few while it rolls.

use crate::behaviour::share::scaled;
use crate::json::Value;

/// The numbers that a Deployment's strategy comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// `spec.replicas`.
    pub replicas: i64,
    /// Above `replicas`.
    pub surge: i64,
    /// Below `replicas`.
    pub unavailable: i64,
    /// `spec.strategy.type` is RollingUpdate.
    pub rolling: bool,
}

impl Bounds {
    /// Of a Deployment. A percentage of surge is rounded up, one of unavailability down; if both
    /// come to nothing, one Pod may be unavailable.
    pub fn of(deployment: &Value) -> Self {
        let spec = &deployment["spec"];
        let replicas = spec["replicas"].as_i64().unwrap_or(1);
        let rolling = spec["strategy"]["type"] == "RollingUpdate";
        if !rolling {
            return Self { replicas, surge: 0, unavailable: 0, rolling };
        }
        let part = &spec["strategy"]["rollingUpdate"];
        let surge = scaled(&part["maxSurge"], replicas, true);
        let mut unavailable = scaled(&part["maxUnavailable"], replicas, false);
        if surge == 0 && unavailable == 0 {
            unavailable = 1;
        }
        Self { replicas, surge, unavailable: unavailable.min(replicas), rolling }
    }

    /// The most Pods that there may be.
    pub fn most(self) -> i64 {
        self.replicas + self.surge
    }

    /// The fewest available Pods that there have to be.
    pub fn fewest(self) -> i64 {
        self.replicas - self.unavailable
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    fn check(
        replicas: i64,
        surge: impl Into<Value>,
        unavailable: impl Into<Value>,
        expect: (i64, i64),
    ) {
        let (surge, unavailable) = (surge.into(), unavailable.into());
        let bounds = Bounds::of(&json!({"spec": {"replicas": replicas, "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable},
        }}}));
        assert_eq!((bounds.surge, bounds.unavailable), expect, "{replicas} {surge} {unavailable}");
    }

    #[test]
    fn surge_is_rounded_up_and_unavailability_down() {
        check(10, "25%", "25%", (3, 2));
        check(1, "25%", "25%", (1, 0));
        check(3, 2, 1, (2, 1));
        check(4, "50%", "50%", (2, 2));
    }

    #[test]
    fn with_no_room_at_all_one_may_be_unavailable() {
        check(2, "0%", "1%", (0, 1));
        check(2, 0, 0, (0, 1));
    }

    #[test]
    fn no_more_can_be_unavailable_than_there_are() {
        check(2, 0, 5, (0, 2));
        check(0, "25%", "25%", (0, 0));
    }

    #[test]
    fn under_recreate_there_is_no_room() {
        let bounds =
            Bounds::of(&json!({"spec": {"replicas": 3, "strategy": {"type": "Recreate"}}}));
        assert_eq!((bounds.most(), bounds.fewest()), (3, 3));
    }
}
