//! Kruise's definitions as the server takes and serves them.

use axum::Router;
use simcluster::behaviour::kruise::definitions;
use simcluster::json::{Value, json};

use crate::client::{call, cluster, table};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A cluster to which Kruise has come over the API.
async fn defined() -> Router {
    let router = cluster(1_000).router();
    for definition in definitions::all() {
        let (code, body) = call(&router, "POST", CRDS, definition).await;
        assert_eq!(code, 201, "{body}");
    }
    router
}

fn path(version: &str, plural: &str) -> String {
    format!("/apis/apps.kruise.io/{version}/namespaces/default/{plural}")
}

fn object(kind: &str, version: &str, spec: &Value) -> Value {
    let mut object = json!({
        "apiVersion": format!("apps.kruise.io/{version}"), "kind": kind,
        "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "main", "image": "app:v1", "anything": true}]},
            },
        },
    });
    for (field, value) in spec.as_object().unwrap() {
        object["spec"][field] = value.clone();
    }
    object
}

/// What stands in the API of a spec beyond selector and template.
async fn filled(kind: &str, plural: &str, spec: Value) -> Value {
    let router = defined().await;
    let given = object(kind, "v1alpha1", &spec);
    let template = given["spec"]["template"].clone();
    let (code, body) = call(&router, "POST", &path("v1alpha1", plural), given).await;
    assert_eq!(code, 201, "{body}");
    assert_eq!(body["spec"]["template"], template, "templates are kept whole");
    let mut spec = body["spec"].as_object().unwrap().clone();
    spec.retain(|field, _| field != "selector" && field != "template");
    spec.into()
}

#[tokio::test(start_paused = true)]
async fn a_clone_set_is_filled_in_as_by_kruises_own_webhook() {
    let strategy = json!({
        "type": "ReCreate", "partition": 0, "maxUnavailable": "20%", "maxSurge": 0,
    });
    assert_eq!(
        filled("CloneSet", "clonesets", json!({})).await,
        json!({
            "replicas": 1, "revisionHistoryLimit": 10, "scaleStrategy": {},
            "updateStrategy": strategy,
        })
    );
}

#[tokio::test(start_paused = true)]
async fn an_advanced_stateful_set_is_filled_in_as_by_kruises_own_webhook() {
    let rolling = json!({
        "partition": 0, "maxUnavailable": 1, "minReadySeconds": 0, "podUpdatePolicy": "ReCreate",
    });
    let spec = |strategy: Value| {
        json!({
            "replicas": 1, "revisionHistoryLimit": 10, "podManagementPolicy": "OrderedReady",
            "volumeClaimUpdateStrategy": {}, "updateStrategy": strategy,
        })
    };
    assert_eq!(
        filled("StatefulSet", "statefulsets", json!({})).await,
        spec(json!({"type": "RollingUpdate", "rollingUpdate": rolling}))
    );
    let on_delete = json!({"type": "OnDelete"});
    let given = json!({"updateStrategy": on_delete});
    assert_eq!(filled("StatefulSet", "statefulsets", given).await, spec(on_delete));
}

#[tokio::test(start_paused = true)]
async fn an_advanced_daemon_set_is_filled_in_as_by_kruises_own_webhook() {
    let rolling = json!({"maxSurge": 0, "maxUnavailable": 1, "rollingUpdateType": "Standard"});
    assert_eq!(
        filled("DaemonSet", "daemonsets", json!({})).await,
        json!({
            "burstReplicas": 250, "revisionHistoryLimit": 10,
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
        })
    );
}

#[tokio::test(start_paused = true)]
async fn both_versions_are_of_one_object_and_scale_changes_it() {
    let router = defined().await;
    for (kind, plural) in [("CloneSet", "clonesets"), ("StatefulSet", "statefulsets")] {
        let given = object(kind, "v1alpha1", &json!({"replicas": 3}));
        call(&router, "POST", &path("v1alpha1", plural), given).await;
        let scale = format!("{}/web/scale", path("v1beta1", plural));
        let (code, body) = call(&router, "PATCH", &scale, json!({"spec": {"replicas": 7}})).await;
        assert_eq!((code, &body["spec"]["replicas"]), (200, &json!(7)));
        for version in ["v1alpha1", "v1beta1"] {
            let one = format!("{}/web", path(version, plural));
            let (_, body) = call(&router, "GET", &one, Value::Null).await;
            assert_eq!(body["apiVersion"], format!("apps.kruise.io/{version}"));
            assert_eq!(body["spec"]["replicas"], 7);
        }
    }
    let scale = format!("{}/web/scale", path("v1beta1", "daemonsets"));
    let given = object("DaemonSet", "v1beta1", &json!({}));
    call(&router, "POST", &path("v1beta1", "daemonsets"), given).await;
    assert_eq!(call(&router, "GET", &scale, Value::Null).await.0, 404);
}

#[tokio::test(start_paused = true)]
async fn a_word_that_is_none_of_the_strategys_is_refused() {
    let router = defined().await;
    let spec = json!({"updateStrategy": {"type": "Recreate"}});
    let given = object("CloneSet", "v1alpha1", &spec);
    let (code, body) = call(&router, "POST", &path("v1alpha1", "clonesets"), given).await;
    assert_eq!((code, &body["reason"]), (422, &json!("Invalid")));
}

#[tokio::test(start_paused = true)]
async fn kubectl_shows_the_columns_of_kruise() {
    let router = defined().await;
    let columns = async |plural: &str| -> Vec<String> {
        let (_, body) = table(&router, &path("v1beta1", plural)).await;
        let columns = body["columnDefinitions"].as_array().unwrap();
        let shown = columns.iter().filter(|column| column["priority"] == 0);
        shown.map(|column| column["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        columns("clonesets").await,
        [
            "Name",
            "DESIRED",
            "UPDATED",
            "UPDATED_READY",
            "UPDATED_AVAILABLE",
            "READY",
            "TOTAL",
            "AGE"
        ]
    );
    assert_eq!(
        columns("statefulsets").await,
        ["Name", "DESIRED", "CURRENT", "UPDATED", "READY", "AGE"]
    );
    assert_eq!(
        columns("daemonsets").await,
        ["Name", "DESIRED", "CURRENT", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]
    );
}
