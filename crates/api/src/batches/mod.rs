//! The group `rollouts.kruise.io`: `Rollout`, `BatchRelease`, `RolloutHistory`.
//!
//! [`names`] has what stands on other objects; [`rollout`], [`rollout_status`], [`batch_release`] and
//! [`rollout_history`] are the types, in the stored version, [`v1alpha1`] the older one. [`replicas`]
//! and [`plan`] read what they say; [`convert()`] goes between the versions, [`engine`] into the
//! engine's values and out of them; [`validate()`] says what is wrong with an object, [`defaults`] what
//! the API server would fill in.

pub mod batch_release;
pub mod convert;
mod crds;
pub mod defaults;
pub mod engine;
pub mod names;
pub mod plan;
pub mod replicas;
pub mod rollout;
pub mod rollout_history;
pub mod rollout_status;
mod schema;
pub mod v1alpha1;
pub mod validate;

pub use self::engine::batch_release::{engine_release, engine_release_status, release_status};
pub use batch_release::{
    Batch, BatchRelease, BatchReleaseSpec, BatchReleaseStatus, BatchStatus, ReleasePlan,
};
pub use convert::{ConvertError, Version, convert, convert_review, to_stored};
pub use crds::{CONVERT_PATH, crds};
pub use defaults::defaulted;
pub use plan::{Plan, PlanError, PlanStep, StepPause, plan_hash, release_plan_hash};
pub use replicas::{IntOrString, NotACount, count};
pub use rollout::{Canary, Pause, Rollout, RolloutSpec, Step, Strategy, WorkloadRef};
pub use rollout_history::{RolloutHistory, RolloutHistorySpec, RolloutHistoryStatus};
pub use rollout_status::{CanaryStatus, Condition, RolloutStatus};
pub use validate::{Claim, Context, Rules, validate};
