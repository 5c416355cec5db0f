//! Whatever is sent, the server answers: with a success, or with a `Status` that says what is wrong.

#[allow(dead_code, reason = "each test binary uses a part of it")]
mod client;

use axum::body::Body;
use http::Request;
use http_body_util::BodyExt;
use proptest::prelude::*;
use simcluster::json::{Value, json};
use tower::ServiceExt;

const PATHS: &[&str] = &[
    "/api/v1/namespaces",
    "/api/v1/namespaces/default/finalize",
    "/api/v1/namespaces/default/configmaps",
    "/api/v1/namespaces/default/configmaps/there",
    "/api/v1/namespaces/default/pods",
    "/api/v1/namespaces/default/pods/there/eviction",
    "/api/v1/namespaces/default/pods/there/status",
    "/apis/apps/v1/namespaces/default/statefulsets",
    "/apis/apps/v1/namespaces/default/statefulsets/there",
    "/apis/apps/v1/namespaces/default/statefulsets/there/scale",
    "/apis/apps/v1/namespaces/default/statefulsets/there/status",
    "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    "/apis/events.k8s.io/v1/namespaces/default/events",
];

const MEDIA_TYPES: &[&str] = &[
    "application/json",
    "application/yaml",
    "application/merge-patch+json",
    "application/json-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/vnd.kubernetes.protobuf",
];

/// Names that lead somewhere, so that odd values meet code that reads them.
const FIELDS: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "name",
    "namespace",
    "labels",
    "finalizers",
    "spec",
    "status",
    "replicas",
    "selector",
    "matchLabels",
    "template",
    "containers",
    "image",
    "conditions",
    "type",
    "versions",
    "schema",
    "openAPIV3Schema",
    "properties",
    "names",
    "plural",
    "group",
    "webhooks",
    "rules",
    "deleteOptions",
    "data",
    "op",
    "path",
    "value",
    "managedFields",
    "ownerReferences",
    "updateStrategy",
    "maxUnavailable",
    "$patch",
    "involvedObject",
    "resourceAttributes",
];

fn field() -> impl Strategy<Value = String> {
    prop_oneof![proptest::sample::select(FIELDS).prop_map(str::to_owned), "[a-z]{0,3}"]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        proptest::sample::select(FIELDS).prop_map(Value::from),
        "[ -~]{0,6}".prop_map(Value::from),
        Just(json!("v1")),
        Just(json!("there")),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(field(), inner, 0..6)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

async fn answer(method: &str, path: &str, media_type: &str, body: String) -> (u16, Value) {
    let router = client::cluster(100).router();
    let set = json!({
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "there"},
        "spec": {
            "serviceName": "there",
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
            },
        },
    });
    let mut pod = set["spec"]["template"].clone();
    pod["metadata"]["name"] = json!("there");
    let in_default = "/namespaces/default";
    client::call(&router, "POST", &format!("/apis/apps/v1{in_default}/statefulsets"), set).await;
    client::call(&router, "POST", &format!("/api/v1{in_default}/pods"), pod).await;
    let map = json!({"metadata": {"name": "there"}});
    client::call(&router, "POST", &format!("/api/v1{in_default}/configmaps"), map).await;
    let request = Request::builder()
        .method(method)
        .uri(format!("{path}?fieldManager=me"))
        .header("content-type", media_type)
        .body(Body::from(body))
        .expect("a request");
    let response = router.oneshot(request).await.expect("the router never fails");
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.expect("no body fails").to_bytes();
    (code, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}

/// Good objects, each with where it is posted; one value in them is then replaced.
fn good() -> Vec<(&'static str, Value)> {
    let template = json!({
        "metadata": {"labels": {"a": "b"}},
        "spec": {
            "terminationGracePeriodSeconds": 1,
            "nodeName": "node-0",
            "tolerations": [{"key": "k", "operator": "Exists"}],
            "containers": [{
                "name": "main",
                "image": "app:v1",
                "env": [{"name": "A", "value": "1"}],
                "ports": [{"containerPort": 80}],
                "resources": {"requests": {"cpu": "100m"}, "limits": {"cpu": "1"}},
            }],
        },
    });
    let mut pod = template.clone();
    pod["apiVersion"] = json!("v1");
    pod["kind"] = json!("Pod");
    pod["metadata"]["name"] = json!("there");
    pod["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "u", "controller": true}]);
    pod["metadata"]["managedFields"] = json!([{
        "manager": "m",
        "operation": "Update",
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": {"f:labels": {".": {}, "f:a": {}}}},
    }]);
    vec![
        ("/api/v1/namespaces/default/pods", pod),
        (
            "/apis/apps/v1/namespaces/default/statefulsets",
            json!({
                "apiVersion": "apps/v1",
                "kind": "StatefulSet",
                "metadata": {"name": "there", "finalizers": ["a.b/c"], "annotations": {"x": "y"}},
                "spec": {
                    "replicas": 2,
                    "serviceName": "there",
                    "minReadySeconds": 1,
                    "ordinals": {"start": 1},
                    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}},
                    "selector": {"matchLabels": {"a": "b"}, "matchExpressions": [
                        {"key": "a", "operator": "In", "values": ["b"]},
                    ]},
                    "template": template,
                    "volumeClaimTemplates": [{"metadata": {"name": "v"}, "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "1Gi"}},
                    }}],
                },
            }),
        ),
        (
            "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            json!({
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": "there"},
                "spec": {"maxUnavailable": "30%", "selector": {"matchLabels": {"a": "b"}}},
            }),
        ),
        (
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            json!({
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": "gadgets.example.com"},
                "spec": {
                    "group": "example.com",
                    "scope": "Namespaced",
                    "names": {"plural": "gadgets", "kind": "Gadget", "shortNames": ["gd"]},
                    "versions": [{
                        "name": "v1",
                        "served": true,
                        "storage": true,
                        "subresources": {"status": {}, "scale": {
                            "specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n",
                        }},
                        "additionalPrinterColumns": [
                            {"name": "N", "type": "integer", "jsonPath": ".spec.n"},
                        ],
                        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                            "spec": {
                                "type": "object",
                                "required": ["n"],
                                "properties": {
                                    "n": {"type": "integer", "minimum": 0, "default": 1},
                                    "l": {"type": "array", "items": {"type": "string"}},
                                    "q": {"x-kubernetes-int-or-string": true},
                                },
                                "x-kubernetes-validations": [{"rule": "self.n < 10", "message": "m"}],
                            },
                        }}},
                    }],
                },
            }),
        ),
        (
            "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
            json!({
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "ValidatingWebhookConfiguration",
                "metadata": {"name": "there"},
                "webhooks": [{
                    "name": "a.b.c",
                    "admissionReviewVersions": ["v1"],
                    "sideEffects": "None",
                    "clientConfig": {"url": "https://localhost/x"},
                    "rules": [{
                        "apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"],
                        "resources": ["pods"],
                    }],
                }],
            }),
        ),
        (
            "/api/v1/namespaces/default/events",
            json!({
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": "there"},
                "involvedObject": {"kind": "Pod", "name": "x", "namespace": "default"},
                "reason": "R",
                "message": "m",
                "type": "Normal",
                "count": 1,
                "source": {"component": "c"},
            }),
        ),
    ]
}

/// JSON pointers to everything in a value.
fn places(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    match value {
        Value::Object(map) => {
            for (key, child) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(child, &format!("{at}/{key}"), out);
            }
        }
        Value::Array(items) => {
            for (index, child) in items.iter().enumerate() {
                places(child, &format!("{at}/{index}"), out);
            }
        }
        _ => {}
    }
}

/// Posts the spoilt object, puts and patches it over the good one, and reads it as a table.
async fn spoil(
    which: usize,
    place: prop::sample::Index,
    value: Value,
) -> Result<(), TestCaseError> {
    let cluster = client::cluster(1000);
    let (path, object) = good().swap_remove(which);
    let mut all = Vec::new();
    places(&object, "", &mut all);
    let place = place.get(&all);
    let mut spoilt = object.clone();
    *spoilt.pointer_mut(place).expect("one of its places") = value;
    let router = cluster.router();
    let name = format!("{path}/{}", object["metadata"]["name"].as_str().expect("a name"));
    let mut said = vec![client::call(&router, "POST", path, spoilt.clone()).await];
    let (code, body) = client::call(&router, "POST", path, object).await;
    prop_assert!(matches!(code, 201 | 409), "{}", body);
    for method in ["PUT", "PATCH"] {
        said.push(client::call(&router, method, &name, spoilt.clone()).await);
        let status = format!("{name}/status");
        said.push(client::call(&router, method, &status, spoilt.clone()).await);
    }
    said.push(client::table(&router, path).await);
    // The controllers have to stand what was let in.
    let drive = tokio::spawn(cluster.drive());
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    prop_assert!(!drive.is_finished(), "a behaviour panicked");
    drive.abort();
    for (code, body) in said {
        if code >= 400 {
            prop_assert_eq!(&body["kind"], "Status");
            prop_assert!(body["message"].as_str().is_some_and(|message| !message.is_empty()));
        }
    }
    Ok(())
}

fn run(case: impl Future<Output = Result<(), TestCaseError>>) -> Result<(), TestCaseError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime")
        .block_on(case)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn one_odd_value_in_a_good_object_breaks_neither_the_server_nor_the_controllers(
        which in 0..good().len(),
        place in any::<prop::sample::Index>(),
        value in value(),
    ) {
        run(spoil(which, place, value))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_request_is_answered_and_every_refusal_says_why(
        method in proptest::sample::select(&["POST", "PUT", "PATCH", "DELETE"][..]),
        path in proptest::sample::select(PATHS),
        media_type in proptest::sample::select(MEDIA_TYPES),
        body in prop_oneof![9 => value().prop_map(|value| value.to_string()), 1 => "[ -~]{0,20}"],
    ) {
        run(async {
            let (code, said) = answer(method, path, media_type, body).await;
            if code >= 400 {
                prop_assert_eq!(&said["kind"], "Status");
                prop_assert_eq!(&said["code"], code);
                prop_assert!(said["message"].as_str().is_some_and(|message| !message.is_empty()));
            }
            Ok(())
        })?;
    }
}
