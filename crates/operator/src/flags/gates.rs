//! `--feature-gates`, in the syntax of Kubernetes: `Name=true,Other=false`.

use super::go;
use controller::Gates;
use std::collections::BTreeMap;

/// Gates that the original knew once and that change nothing here, with why.
const WITHOUT_EFFECT: [(&str, &str); 1] =
    [("AppendPodSelector", "it is about the Services of canary releases")];

/// Sets all that are not set by name; every gate is alpha.
const ALL_ALPHA: &str = "AllAlpha";
/// There is none to be set.
const ALL_BETA: &str = "AllBeta";

/// Where a gate stands among the others.
type Place = fn(&mut Gates) -> &mut bool;

/// The gates by name.
const NAMES: [(&str, Place); 4] = [
    ("AdvancedDeployment", |gates| &mut gates.advanced_deployment),
    ("KeepWorkloadPausedOnRolloutDeletion", |gates| {
        &mut gates.keep_workload_paused_on_rollout_deletion
    }),
    ("MinReadySecondsStrategy", |gates| &mut gates.min_ready_seconds_strategy),
    ("RolloutHistory", |gates| &mut gates.rollout_history),
];

/// One of the items: a gate and what it is set to; `None` for an empty one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item(Option<(String, bool)>);

/// An item of the list.
///
/// # Errors
/// Says what is wrong with it, and which gates there are; clap adds the flag and the value.
pub(super) fn item(text: &str) -> Result<Item, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(Item(None));
    }
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| format!("a value is missing, as in {text}=true; known are {}", known()))?;
    let (name, value) = (name.trim(), value.trim());
    let special = [ALL_ALPHA, ALL_BETA].contains(&name);
    let named = NAMES.iter().any(|(known, _)| *known == name);
    if !special && !named && !WITHOUT_EFFECT.iter().any(|(known, _)| *known == name) {
        return Err(format!("{name} is not known; known are {}", known()));
    }
    let value = go::boolean(value).map_err(|wanted| format!("{name} is {wanted}"))?;
    Ok(Item(Some((name.to_owned(), value))))
}

fn known() -> String {
    NAMES.map(|(name, _)| name).join(", ")
}

/// All items together, the last of a name counting; with what ought to be said about them.
pub(super) fn gates(items: &[Item]) -> (Gates, Vec<String>) {
    let set: BTreeMap<&str, bool> = items
        .iter()
        .filter_map(|Item(item)| item.as_ref().map(|(name, value)| (name.as_str(), *value)))
        .collect();
    let mut gates = Gates::default();
    for (name, gate) in NAMES {
        if let Some(value) = set.get(name).or(set.get(ALL_ALPHA)) {
            *gate(&mut gates) = *value;
        }
    }
    let remarks = WITHOUT_EFFECT.iter().filter(|(name, _)| set.contains_key(name));
    let remarks = remarks.map(|(name, why)| format!("gate {name} has no effect: {why}"));
    let mut remarks: Vec<String> = remarks.collect();
    if gates.min_ready_seconds_strategy {
        // Not silently: whoever asks for it counts on it.
        remarks.push(
            "gate MinReadySecondsStrategy has no effect yet: Deployments are held by pausing them, as without it"
                .to_owned(),
        );
    }
    (gates, remarks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Gates, Vec<String>), String> {
        let items: Result<Vec<Item>, String> = text.split(',').map(item).collect();
        Ok(gates(&items?))
    }

    #[test]
    fn gates_are_set_by_name_and_the_last_one_counts() {
        fn check(text: &str, expect: Gates) {
            assert_eq!(read(text).unwrap().0, expect, "{text}");
        }
        let all = Gates {
            advanced_deployment: true,
            min_ready_seconds_strategy: true,
            keep_workload_paused_on_rollout_deletion: true,
            rollout_history: true,
        };
        check("", Gates::default());
        check("AdvancedDeployment=true", Gates::default());
        check("AllBeta=true", Gates::default());
        check(
            "AdvancedDeployment=true,RolloutHistory=true",
            Gates { rollout_history: true, ..Gates::default() },
        );
        check(
            " AdvancedDeployment = F , ",
            Gates { advanced_deployment: false, ..Gates::default() },
        );
        check("RolloutHistory=true,RolloutHistory=false", Gates::default());
        check("AllAlpha=1", all);
        check(
            "MinReadySecondsStrategy=false,AllAlpha=true",
            Gates { min_ready_seconds_strategy: false, ..all },
        );
    }

    #[test]
    fn what_no_version_knew_is_refused_and_what_is_known_is_named() {
        fn check(text: &str, says: &str) {
            let error = read(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        check("Advanced=true", "Advanced is not known; known are AdvancedDeployment, ");
        check("AdvancedDeployment", "a value is missing, as in AdvancedDeployment=true");
        check("AdvancedDeployment=yes", "AdvancedDeployment is true or false");
        check("=true", "known are");
    }

    #[test]
    fn a_gate_that_means_nothing_here_is_taken_and_said() {
        let (gates, remarks) = read("AppendPodSelector=true").unwrap();
        assert_eq!(gates, Gates::default());
        assert_eq!(remarks.len(), 1);
        assert!(remarks[0].contains("AppendPodSelector has no effect"), "{remarks:?}");
        let (_, remarks) = read("MinReadySecondsStrategy=true").unwrap();
        assert!(remarks[0].contains("has no effect yet"), "{remarks:?}");
    }
}
