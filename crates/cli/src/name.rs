//! Names of objects as arguments: checked before they become part of a path.

use std::fmt;

use cluster::Kind as Workload;

use crate::facts::kind;

/// What somebody calls a rollout: `NAME` or `TYPE/NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// Which kind, if it is said.
    pub(crate) kind: Option<Kind>,
    /// The name.
    pub(crate) name: String,
}

/// A kind that can be said before a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    StatefulsetRollout,
    Rollout,
    BatchRelease,
    /// The rollout that leads this workload is meant.
    Workload(Workload),
}

impl Kind {
    /// As kubectl writes it before a name.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::StatefulsetRollout => "statefulsetrollout",
            Self::Rollout => "rollout",
            Self::BatchRelease => "batchrelease",
            Self::Workload(workload) => kind::word(workload),
        }
    }

    fn of(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        // `rollouts.kruise.io` is a group and no part of a word: the first dot ends the word.
        let (word, group) = text.split_once('.').unwrap_or((&text, ""));
        let (kind, of) = match word {
            "ssr" | "statefulsetrollout" | "statefulsetrollouts" => {
                (Self::StatefulsetRollout, "bedrock.operator.slack.com")
            }
            "ro" | "rollout" | "rollouts" => (Self::Rollout, "rollouts.kruise.io"),
            "br" | "batchrelease" | "batchreleases" => (Self::BatchRelease, "rollouts.kruise.io"),
            _ => return Self::workload(word, group),
        };
        is_in(group, of).then_some(kind)
    }

    /// A workload by the words that kubectl has for it; of one name without a group Kubernetes' own is meant.
    fn workload(word: &str, group: &str) -> Option<Self> {
        let of: &[Workload] = match word {
            "deploy" | "deployment" | "deployments" => &[Workload::Deployment],
            "statefulset" | "statefulsets" | "sts" => {
                &[Workload::StatefulSet, Workload::AdvancedStatefulSet]
            }
            "daemonset" | "daemonsets" | "ds" => {
                &[Workload::DaemonSet, Workload::AdvancedDaemonSet]
            }
            "clone" | "cloneset" | "clonesets" => &[Workload::CloneSet],
            "asts" => &[Workload::AdvancedStatefulSet],
            "ads" | "daemon" => &[Workload::AdvancedDaemonSet],
            _ => return None,
        };
        let kind = of.iter().find(|kind| is_in(group, kind.facts().group));
        kind.copied().map(Self::Workload)
    }
}

/// Whether what follows a kind means this group. kubectl takes a version in between as well.
fn is_in(said: &str, group: &str) -> bool {
    said.is_empty() || said == group || said.ends_with(&format!(".{group}"))
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Some(kind) => write!(f, "{}/{}", kind.word(), self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// A DNS subdomain, as names of rollouts are, perhaps with a kind before it.
///
/// # Errors
/// Says what a name looks like; clap adds the argument and the value.
pub(crate) fn object(text: &str) -> Result<Named, String> {
    let (kind, name) = match text.split_once('/') {
        Some((kind, name)) => match Kind::of(kind) {
            Some(kind) => (Some(kind), name),
            None => {
                return Err(format!(
                    "{kind:?} is no kind that Sluice releases; it is statefulsetrollout (ssr), rollout, \
                     batchrelease, deployment, statefulset, daemonset, cloneset, \
                     statefulset.apps.kruise.io or daemonset.apps.kruise.io"
                ));
            }
        },
        None => (None, text),
    };
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    let ends = |c: char| c == '-' || c == '.';
    if name.is_empty()
        || name.len() > 253
        || !name.chars().all(inner)
        || name.starts_with(ends)
        || name.ends_with(ends)
    {
        return Err("a name has lower-case letters, digits, and inner dashes and dots".to_owned());
    }
    Ok(Named { kind, name: name.to_owned() })
}

/// A DNS label, as names of namespaces are.
///
/// # Errors
/// Says what a name looks like; clap adds the argument and the value.
pub(crate) fn namespace(text: &str) -> Result<String, String> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let dashed = text.starts_with('-') || text.ends_with('-');
    if text.is_empty() || text.len() > 63 || !text.chars().all(inner) || dashed {
        return Err(
            "a namespace has lower-case letters, digits and inner dashes, at most 63".to_owned()
        );
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_with_or_without_its_kind() {
        fn check(text: &str, expect: Option<&str>) {
            let found = object(text).ok().map(|named| named.to_string());
            assert_eq!(found.as_deref(), expect, "{text}");
        }
        check("tester", Some("tester"));
        check("ssr/tester", Some("statefulsetrollout/tester"));
        check("StatefulsetRollout/a.b-c", Some("statefulsetrollout/a.b-c"));
        check("statefulsetrollouts.bedrock.operator.slack.com/a", Some("statefulsetrollout/a"));
        check("ro/web", Some("rollout/web"));
        check("rollouts.rollouts.kruise.io/web", Some("rollout/web"));
        check("rollouts.v1beta1.rollouts.kruise.io/web", Some("rollout/web"));
        check("rollouts.argoproj.io/web", None);
        check("br/web", Some("batchrelease/web"));
        check("deploy/web", Some("deployment/web"));
        check("deployments.apps/web", Some("deployment/web"));
        check("sts/db", Some("statefulset/db"));
        check("ds/agent", Some("daemonset/agent"));
        check("clone/shop", Some("cloneset/shop"));
        check("clonesets.v1alpha1.apps.kruise.io/shop", Some("cloneset/shop"));
        check("cloneset.apps/shop", None);
        check("asts/store", Some("statefulset.apps.kruise.io/store"));
        check("statefulsets.apps.kruise.io/store", Some("statefulset.apps.kruise.io/store"));
        check("statefulset.apps/db", Some("statefulset/db"));
        check("ads/probe", Some("daemonset.apps.kruise.io/probe"));
        check("ds.apps.kruise.io/probe", Some("daemonset.apps.kruise.io/probe"));
        check("pod/tester", None);
        check("../secrets", None);
        check("a b", None);
        check("", None);
        check("-a", None);
        check("Tester", None);
    }

    #[test]
    fn a_namespace_has_no_dots() {
        fn check(text: &str, expect: bool) {
            assert_eq!(namespace(text).is_ok(), expect, "{text}");
        }
        check("sluice-system", true);
        check("a", true);
        check("", false);
        check("a.b", false);
        check("-a", false);
        check("a-", false);
        check("Shop", false);
        check(&"a".repeat(64), false);
    }
}
