//! Names of the group `rollouts.kruise.io` that stand on objects: annotations, labels, finalizers.
//!
//! They are the interface: other tools (`kubectl kruise`, Argo CD, scripts) read and write them.

/// The API group.
pub const GROUP: &str = "rollouts.kruise.io";

/// Annotation of a v1alpha1 Rollout (and of a BatchRelease): `partition` or `canary`, in any case;
/// none means canary for a Deployment and partition for all other kinds.
pub const ROLLING_STYLE: &str = "rollouts.kruise.io/rolling-style";

/// Annotation of a v1alpha1 Rollout: the TrafficRouting that v1beta1 has as `trafficRoutingRef`.
pub const TRAFFIC_ROUTING: &str = "rollouts.kruise.io/trafficrouting";

/// Annotation of ours: what the other version of an object cannot say, see [`super::convert`].
pub const CONVERSION: &str = "sluice.dev/conversion";

/// Annotation of a workload in release, JSON `{"rolloutName":"…"}`; its presence is what counts.
pub const IN_PROGRESSING: &str = "rollouts.kruise.io/in-progressing";

/// Annotation of a workload under a BatchRelease: its owner reference as JSON.
pub const CONTROL_INFO: &str = "batchrelease.rollouts.kruise.io/control-info";

/// Annotation of a Rollout: the hash of its plan.
pub const PLAN_HASH: &str = "rollouts.kruise.io/hash";

/// Label of a workload (a user's) and of its Pods: the id of a release. On a workload the original's
/// webhook reads an annotation of this name as well.
pub const ROLLOUT_ID: &str = "rollouts.kruise.io/rollout-id";

/// Label of a Pod: the batch that it was updated in, counted from 1.
pub const BATCH_ID: &str = "rollouts.kruise.io/rollout-batch-id";

/// Label of a Pod: the id of the release for which it needs no update, in a roll back in batches.
pub const NO_NEED_UPDATE: &str = "rollouts.kruise.io/no-need-update";

/// Annotation of a Rollout (a user's) and of its BatchRelease: `true` rolls back through the steps.
pub const ROLLBACK_IN_BATCH: &str = "rollouts.kruise.io/rollback-in-batch";

/// Label of a workload that a Rollout names: `deployment`, `statefulset`, `daemonset` or `cloneset`.
/// The webhooks select by it.
pub const WORKLOAD_TYPE: &str = "rollouts.kruise.io/workload-type";

/// Label of a Deployment in release: the pod-template-hash of its stable ReplicaSet.
pub const STABLE_REVISION: &str = "rollouts.kruise.io/stable-revision";

/// Annotation of a Deployment: `{rollingStyle, rollingUpdate, paused, partition}` as JSON.
pub const DEPLOYMENT_STRATEGY: &str = "rollouts.kruise.io/deployment-strategy";

/// Annotation of a Deployment: `{updatedReadyReplicas, expectedUpdatedReplicas}` as JSON.
pub const DEPLOYMENT_EXTRA_STATUS: &str = "rollouts.kruise.io/deployment-extra-status";

/// Label `true` of a Deployment whose ReplicaSets are sized by us.
pub const CONTROLLED_BY_ADVANCED: &str =
    "rollouts.kruise.io/controlled-by-advanced-deployment-controller";

/// Annotation of a native DaemonSet: `{"canary-revision", "stable-revision"}` as JSON.
pub const DAEMONSET_REVISION: &str = "rollouts.kruise.io/daemonset-revision";

/// Annotation of a native DaemonSet: `{"partition", "batch-revision"}` as JSON.
pub const DAEMONSET_ADVANCED_CONTROL: &str = "rollouts.kruise.io/daemonset-advanced-control";

/// Annotation of a native DaemonSet: the type of its update strategy before the release.
pub const DAEMONSET_ORIGINAL_STRATEGY: &str =
    "rollouts.kruise.io/daemonset-original-update-strategy";

/// Annotation of ours, of a workload in release that a partition holds: its `updateStrategy` before, as JSON.
pub const ORIGINAL_STRATEGY: &str = "sluice.dev/original-update-strategy";

/// Annotation of ours, of a workload in release: the partition that holds it, a number or a percentage.
/// Whoever releases it writes both at once; a partition that is lowered below this one is somebody else's doing,
/// and the webhook takes it back.
pub const HELD_PARTITION: &str = "sluice.dev/held-partition";

/// Annotation of ours, of a BatchRelease: `true` leaves everything where it is, the batch that is under way
/// too.
pub const PAUSED: &str = "sluice.dev/paused";

/// Label of a RolloutHistory: the Rollout that it is of.
pub const ROLLOUT_NAME: &str = "rollouts.kruise.io/rollout-name";

/// Finalizer of a Rollout.
pub const ROLLOUT_FINALIZER: &str = "rollouts.kruise.io/rollout";

/// Finalizer of a BatchRelease.
pub const BATCH_RELEASE_FINALIZER: &str = "rollouts.kruise.io/batch-release-finalizer";

/// Label of a Pod: the revision of a StatefulSet, DaemonSet or CloneSet; put on Pods of Deployments
/// too during a release.
pub const CONTROLLER_REVISION_HASH: &str = "controller-revision-hash";

/// Label of a Pod of a Deployment, by Kubernetes.
pub const POD_TEMPLATE_HASH: &str = "pod-template-hash";

/// The lease of the original's manager; while it is renewed, two would drive one workload.
pub const ORIGINAL_LEASE: &str = "71ddec2c.kruise.io";
