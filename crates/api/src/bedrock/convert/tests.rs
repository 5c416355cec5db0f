//! Tests of the way into the engine and out of it.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;

fn resource() -> StatefulsetRollout {
    serde_json::from_value(json!({
        "apiVersion": "bedrock.operator.slack.com/v1",
        "kind": "StatefulsetRollout",
        "metadata": {
            "name": "tester", "namespace": "default", "uid": "u-1", "generation": 7,
            "labels": {"app.kubernetes.io/version": "v2"},
            "annotations": {
                "slack.com/bedrock.git.branch": "master",
                "slack.com/bedrock.git.origin": "git:slack/tester",
            },
        },
        "spec": {
            "percent": 25, "pauseRequested": true, "rolloutIdentity": "abc", "channel": "#c",
            "minPodEvictionIntervalSeconds": 10, "progressDeadlineSeconds": 60,
            "versionLeak": "Prevent", "unhealthyPods": "Replace",
            "bapi": {"bapiUrl": "http://b", "stageId": "s"},
            "serviceDiscovery": {"dc": "cloud1", "serviceNames": ["one", "two"]},
            "statefulset": {
                "metadata": {"name": "web"},
                "spec": {
                    "replicas": 4,
                    "selector": {"matchLabels": {"app": "web"}},
                    "template": {"spec": {"containers": [{"name": "a", "image": "a:v1"}]}},
                },
            },
        },
    }))
    .unwrap()
}

fn full_status() -> inner::Status {
    let at = |text: &str| Some(text.parse().unwrap());
    inner::Status {
        phase: Some(inner::Phase::InProgress),
        percent_requested: Some(0),
        reason: "moving web-3".into(),
        reason_code: Some(inner::Reason::Evicting),
        ready_replicas: 3,
        discovery_ready: Some(0),
        paused: true,
        deleted: true,
        pods: vec![inner::PodRow {
            name: "web-3".into(),
            uid: Uid("p-3".into()),
            node: "n1".into(),
            revision: "web-2".into(),
            version: "v2".into(),
            ready: true,
            discovery_ready: Some(false),
            state: inner::PodState::Evicting,
            since: at("2026-01-01T00:00:00.123456789Z"),
            leaked: true,
        }],
        reconcile_after: at("2026-01-01T00:00:02Z"),
        last_updated: at("2026-01-01T00:00:00Z"),
        last_callback_stage: "s".into(),
        build: Build {
            version: "v2".into(),
            branch: "b".into(),
            commit: "c".into(),
            origin: "o".into(),
        },
        consul_services: vec!["one".into()],
        workload_name: "web".into(),
        spec_current: true,
        identity: "abc".into(),
        observed_generation: 7,
        conditions: vec![inner::Condition {
            kind: inner::ConditionKind::Progressing,
            holds: true,
            reason: "Evicting".into(),
            message: String::new(),
            since: "2026-01-01T00:00:00.5Z".parse().unwrap(),
            observed_generation: 7,
        }],
        update_revision: "web-2".into(),
        stable_revision: "web-1".into(),
        replicas: 4,
        target_replicas: 1,
        updated_replicas: 1,
        available_replicas: 3,
        leaked_replicas: 1,
        evicting: vec![Uid("p-3".into())],
        last_eviction: at("2026-01-01T00:00:00.25Z"),
        last_progress: at("2026-01-01T00:00:00.75Z"),
        progressed: 2,
        paused_seconds: 5,
        stopped_since: at("2026-01-01T00:00:01Z"),
        desired_hash: "0123456789abcdef".into(),
        applied: Some(Applied {
            uid: "set-uid".into(),
            hash: "0123456789abcdef".into(),
            generation: 3,
        }),
    }
}

/// Out, through JSON as the API server keeps it, and in again.
fn through_json(status: &inner::Status) -> inner::Status {
    let json = serde_json::to_string(&super::status(status, &resource())).unwrap();
    engine_status(&serde_json::from_str(&json).unwrap())
}

#[test]
fn what_is_asked_for_reaches_the_engine() {
    let (rollout, desired) = engine_rollout(&resource()).unwrap();
    assert_eq!(
        rollout,
        Rollout {
            namespace: "default".into(),
            name: "tester".into(),
            uid: "u-1".into(),
            generation: 7,
            workload_name: "web".into(),
            percent: Percent::new(25).unwrap(),
            pause_requested: true,
            identity: "abc".into(),
            min_eviction_interval: SignedDuration::from_secs(10),
            progress_deadline: SignedDuration::from_secs(60),
            unhealthy_pods: engine::world::UnhealthyPods::Replace,
            version_leak: engine::world::VersionLeak::Prevent,
            desired_hash: desired.hash().to_owned(),
            replicas: Some(4),
            channel: Some("#c".into()),
            callback_stage: Some("s".into()),
            services: vec!["one".into(), "two".into()],
            build: Build {
                version: "v2".into(),
                branch: "master".into(),
                commit: String::new(),
                origin: "git:slack/tester".into(),
            },
        }
    );
}

#[test]
fn what_is_left_out_reaches_the_engine_as_its_default() {
    let mut resource = resource();
    resource.metadata.labels = None;
    resource.spec = serde_json::from_value(json!({"statefulset": {"spec": {
        "template": {"spec": {"containers": [{"name": "a", "image": "a:v1"}]}},
    }}}))
    .unwrap();
    let (rollout, _) = engine_rollout(&resource).unwrap();
    assert_eq!(rollout.workload_name, "tester");
    assert!(rollout.percent.is_all());
    assert_eq!(rollout.progress_deadline, SignedDuration::from_secs(600));
    assert_eq!(rollout.min_eviction_interval, SignedDuration::ZERO);
    assert_eq!(rollout.version_leak, engine::world::VersionLeak::Report);
    assert_eq!((rollout.replicas, rollout.channel, rollout.callback_stage), (None, None, None));
    assert_eq!(rollout.build.version, "v1");
}

#[test]
fn a_status_comes_back_as_it_was() {
    assert_eq!(through_json(&full_status()), full_status());
    assert_eq!(through_json(&inner::Status::default()), inner::Status::default());
}

#[test]
fn the_status_has_the_published_names() {
    let json = serde_json::to_value(status(&full_status(), &resource())).unwrap();
    for name in [
        "phase",
        "percentDeployed",
        "reason",
        "readyReplicas",
        "readyReplicasRotor",
        "paused",
        "deleted",
        "Pods",
        "reconcileAfter",
        "lastUpdated",
        "lastCallbackStageId",
        "buildMetadata",
        "consulServices",
        "statefulsetName",
        "statefulsetSpecCurrent",
        "rolloutIdentity",
    ] {
        assert!(!json[name].is_null(), "{name} is missing in {json}");
    }
    assert_eq!(json["phase"], "RolloutInProgress");
    assert_eq!(json["progress"], "1/1/4");
    assert_eq!(json["selector"], "app=web");
    assert_eq!(json["conditions"][0]["type"], "Progressing");
}

#[test]
fn the_slack_message_is_carried_over() {
    let mut resource = resource();
    let message =
        crate::bedrock::SlackMessage { channel: "C1".into(), ts: "1.2".into(), pages: vec![] };
    resource.status = Some(StatefulsetRolloutStatus {
        slack_message: Some(message.clone()),
        ..StatefulsetRolloutStatus::default()
    });
    assert_eq!(status(&full_status(), &resource).slack_message, Some(message));
}

#[test]
fn a_thousand_pods_with_the_longest_names_fit_and_come_back() {
    let name = "w".repeat(52);
    let mut large = full_status();
    large.update_revision = format!("{name}-7b9f8d6c5f");
    large.stable_revision = format!("{name}-6c5f7b9f8d");
    large.pods = (0..1000)
        .map(|ordinal| {
            let updated = ordinal % 2 == 0;
            let (revision, state, version) = if updated {
                (&large.update_revision, inner::PodState::Updated, "v2")
            } else {
                (&large.stable_revision, inner::PodState::Old, "v1.custom-1709074522")
            };
            inner::PodRow {
                name: format!("{name}-{ordinal}"),
                uid: Uid(format!("00000000-0000-0000-0000-{ordinal:012}")),
                node: String::new(),
                revision: revision.clone(),
                version: version.to_owned(),
                ready: true,
                discovery_ready: None,
                state,
                since: None,
                leaked: false,
            }
        })
        .collect();
    // A row that does not fit the rule keeps what it has.
    large.pods[4].version = "v9".into();
    large.pods[5].revision = "another".into();
    large.pods[6].version = String::new();
    large.pods[7].version = String::new();
    let size = serde_json::to_string(&status(&large, &resource())).unwrap().len();
    assert!(size < 200 * 1024, "{size} bytes");
    let back = through_json(&large);
    for (back, row) in back.pods.iter().zip(&large.pods) {
        assert_eq!(back, row);
    }
    assert!(back == large);
}

#[test]
fn every_reason_has_its_heading_in_the_docs_and_no_other_has() {
    let page = include_str!("../../../../../docs/operations.md");
    let (_, rest) = page.split_once("\n## Reasons\n").expect("a chapter of reasons");
    let (chapter, _) = rest.split_once("\n## ").expect("a chapter after it");
    let heading = |line: &str| Some(line.strip_prefix("### `")?.strip_suffix('`')?.to_owned());
    let told: BTreeMap<String, bool> = chapter
        .split("\n### ")
        .skip(1)
        .filter_map(|part| Some((heading(&format!("### {}", part.lines().next()?))?, part)))
        .map(|(name, part)| (name, part.contains("Blocks")))
        .collect();
    let all = inner::Reason::ALL.iter().map(|it| (it.name().to_owned(), it.blocks())).collect();
    assert_eq!(told, all, "each with whether its paragraph says that it blocks");
}

#[test]
fn a_selector_is_written_as_the_scale_subresource_wants_it() {
    let check = |value: Value, expect: &str| assert_eq!(selector(Some(&value)), expect);
    check(json!({"matchLabels": {"b": "2", "a": "1"}}), "a=1,b=2");
    check(
        json!({"matchExpressions": [
            {"key": "t", "operator": "In", "values": ["x", "y"]},
            {"key": "u", "operator": "NotIn", "values": ["z"]},
            {"key": "v", "operator": "Exists"},
            {"key": "w", "operator": "DoesNotExist"},
        ]}),
        "t in (x,y),u notin (z),v,!w",
    );
    assert_eq!(selector(None), "");
}
