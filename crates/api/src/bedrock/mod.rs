//! The group `bedrock.operator.slack.com`: `StatefulsetRollout`.

use std::sync::LazyLock;

use kube::CustomResourceExt;
use serde_json::Value;

pub mod convert;
pub mod desired;
pub mod matches;
mod quantity;
pub mod replicas;
mod schema;
pub mod spec;
pub mod statefulset;
pub mod status;
pub mod validate;
pub mod version;

pub use convert::{engine_rollout, engine_status, status};
pub use desired::{Desired, DesiredError, OWNER_ANNOTATION, desired, update_strategy};
pub use matches::{drift, matches};
pub use quantity::amount;
pub use replicas::{hand_over_replicas, owns_replicas};
pub use spec::{
    Bapi, NotifyLevel, ServiceDiscovery, StatefulsetRollout, StatefulsetRolloutSpec, UnhealthyPods,
    VersionLeak,
};
pub use statefulset::RawStatefulSet;
pub use status::{
    BuildMetadata, Condition, Phase, Pod, SlackMessage, StatefulsetApplied,
    StatefulsetRolloutStatus,
};
pub use validate::{Capabilities, denies, immutable_changes, validate};
pub use version::{PodVersion, image_version, pod_version};

/// The schema of the only version, as JSON.
pub(crate) fn crd_schema() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        let crd = serde_json::to_value(StatefulsetRollout::crd()).expect("a CRD is JSON");
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
    });
    &SCHEMA
}
