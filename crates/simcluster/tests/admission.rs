//! What admission gives a new object and refuses, and what is done to a Pod beside writing it.

#[allow(dead_code, reason = "each test binary uses a part of it")]
mod client;

use client::{call, cluster, table};
use simcluster::json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";

/// A Pod that only says what is asked of it here.
fn pod(name: &str, resources: &Value) -> Value {
    json!({"metadata": {"name": name}, "spec": {"schedulerName": "nobody",
        "containers": [{"name": "main", "image": "app:v1", "resources": resources}]}})
}

#[track_caller]
fn check((code, body): (u16, Value), expect: u16, words: &str) {
    assert_eq!(code, expect, "{body}");
    assert!(body.to_string().contains(words), "{words:?} is not in {body}");
}

#[tokio::test(start_paused = true)]
async fn a_range_gives_and_refuses() {
    let router = cluster(100).router();
    let range = json!({"metadata": {"name": "small"}, "spec": {"limits": [
        {"type": "Container", "max": {"cpu": "1"}, "min": {"cpu": "10m"},
         "default": {"cpu": "500m"}, "defaultRequest": {"cpu": "100m"}},
        {"type": "Pod", "max": {"cpu": "2"}},
        {"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}},
    ]}});
    let ranges = "/api/v1/namespaces/default/limitranges";
    check(call(&router, "POST", ranges, range).await, 201, "small");
    let (_, given) = call(&router, "POST", PODS, pod("quiet", &json!({}))).await;
    let container = &given["spec"]["containers"][0];
    let expect = json!({"limits": {"cpu": "500m"}, "requests": {"cpu": "100m"}});
    assert_eq!(container["resources"], expect);
    let note =
        "LimitRanger plugin set: cpu request for container main; cpu limit for container main";
    assert_eq!(given["metadata"]["annotations"]["kubernetes.io/limit-ranger"], note);
    assert_eq!(given["status"]["qosClass"], "Burstable");
    let why = "pods \\\"greedy\\\" is forbidden: [maximum cpu usage per Container is 1, but limit \
               is 3, maximum cpu usage per Pod is 2, but limit is 3]";
    let greedy = pod("greedy", &json!({"limits": {"cpu": "3"}}));
    check(call(&router, "POST", PODS, greedy).await, 403, why);
    let tiny = pod("tiny", &json!({"requests": {"cpu": "1m"}}));
    let why = "minimum cpu usage per Container is 10m, but request is 1m";
    check(call(&router, "POST", PODS, tiny).await, 403, why);
    let claim = json!({"metadata": {"name": "disk"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}});
    let why = "maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi";
    let claims = "/api/v1/namespaces/default/persistentvolumeclaims";
    check(call(&router, "POST", claims, claim).await, 403, why);
}

#[tokio::test(start_paused = true)]
async fn the_classes_of_a_pod_have_to_be_there() {
    let router = cluster(100).router();
    let classed = |name: &str, field: &str, class: &str| {
        let mut pod = pod(name, &json!({}));
        pod["spec"][field] = json!(class);
        pod
    };
    let why = "no PriorityClass with name high was found";
    let high = || classed("a", "priorityClassName", "high");
    check(call(&router, "POST", PODS, high()).await, 403, why);
    let class = json!({"metadata": {"name": "high"}, "value": 7, "preemptionPolicy": "Never"});
    let classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
    check(call(&router, "POST", classes, class).await, 201, "\"generation\":1");
    let (_, made) = call(&router, "POST", PODS, high()).await;
    assert_eq!(made["spec"]["priority"], 7);
    assert_eq!(made["spec"]["preemptionPolicy"], "Never");
    let system = classed("b", "priorityClassName", "system-node-critical");
    check(call(&router, "POST", PODS, system).await, 201, "2000001000");
    let why = "pod rejected: RuntimeClass \\\"slow\\\" not found";
    check(call(&router, "POST", PODS, classed("c", "runtimeClassName", "slow")).await, 403, why);
}

#[tokio::test(start_paused = true)]
async fn a_pod_is_bound_once_by_either_path() {
    let router = cluster(100).router();
    let binding = |pod: &str| {
        json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod},
               "target": {"kind": "Node", "name": "node-1"}})
    };
    for name in ["a", "b"] {
        check(call(&router, "POST", PODS, pod(name, &json!({}))).await, 201, "");
    }
    let path = format!("{PODS}/a/binding");
    check(call(&router, "POST", &path, binding("b")).await, 400, "does not match name");
    check(call(&router, "POST", &path, binding("a")).await, 201, "Success");
    let (_, bound) = call(&router, "GET", &format!("{PODS}/a"), Value::Null).await;
    assert_eq!(bound["spec"]["nodeName"], "node-1");
    assert_eq!(bound["status"]["conditions"][0]["type"], "PodScheduled");
    let why = "pods/binding \\\"a\\\": pod a is already assigned to node \\\"node-1\\\"";
    check(call(&router, "POST", &path, binding("a")).await, 409, why);
    let bindings = "/api/v1/namespaces/default/bindings";
    check(call(&router, "POST", bindings, binding("b")).await, 201, "Success");
    check(call(&router, "POST", bindings, binding("none")).await, 404, "not found");
    let nowhere = json!({"metadata": {"name": "b"}, "target": {"kind": "Boat"}});
    check(call(&router, "POST", bindings, nowhere).await, 422, "Unsupported value");
    check(call(&router, "GET", bindings, Value::Null).await, 405, "");
}

#[tokio::test(start_paused = true)]
async fn a_pod_is_looked_into_and_added_to() {
    let router = cluster(100).router();
    check(call(&router, "POST", PODS, pod("a", &json!({}))).await, 201, "");
    let at = |sub: &str| format!("{PODS}/a/{sub}");
    assert_eq!(call(&router, "GET", &at("log"), Value::Null).await, (200, Value::Null));
    check(call(&router, "POST", &at("exec"), Value::Null).await, 400, "not have a host assigned");
    let bind = json!({"metadata": {"name": "a"}, "target": {"name": "node-0"}});
    check(call(&router, "POST", &at("binding"), bind).await, 201, "");
    let why =
        "/containerLogs/default/a/main?previous=true&tailLines=3\\\": dial tcp: lookup node-0";
    check(call(&router, "GET", &at("log?tailLines=3&previous=true"), Value::Null).await, 500, why);
    let why = "container x is not valid for pod a";
    check(call(&router, "GET", &at("log?container=x"), Value::Null).await, 400, why);
    check(call(&router, "POST", &at("exec"), Value::Null).await, 400, "Upgrade request required");
    let look = |target: &str| {
        json!({"spec": {"ephemeralContainers": [
            {"name": "look", "image": "tools:v1", "targetContainerName": target}]}})
    };
    let path = at("ephemeralcontainers");
    let why = "spec.ephemeralContainers[0].targetContainerName: Not found: \\\"x\\\"";
    check(call(&router, "PATCH", &path, look("x")).await, 422, why);
    check(call(&router, "PATCH", &path, look("main")).await, 200, "\"imagePullPolicy\"");
    let why = "existing ephemeral containers \\\"look\\\" may not be changed";
    check(call(&router, "PATCH", &path, look("")).await, 422, why);
    let resize = json!({"spec": {"containers": [{"name": "main", "image": "app:v1"}]}});
    let why = "Pod running on node without support for resize";
    check(call(&router, "PATCH", &at("resize"), resize).await, 422, why);
    let nodes = "/api/v1/nodes";
    let path = format!("{nodes}/node-0/proxy/healthz");
    check(call(&router, "GET", &path, Value::Null).await, 400, "lookup node-0: no such host");
    check(call(&router, "GET", &format!("{nodes}/x/proxy"), Value::Null).await, 404, "x");
}

#[tokio::test(start_paused = true)]
async fn who_asks_for_a_certificate_is_noted_and_it_can_be_approved() {
    let router = cluster(100).router();
    let requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let request = json!({"metadata": {"name": "a"}, "spec": {
        "request": "YQ==", "signerName": "example.com/one", "usages": ["client auth"],
        "username": "somebody else"}});
    check(call(&router, "POST", requests, request).await, 201, "\"username\":\"kubernetes-admin\"");
    let approve = json!({"spec": {"signerName": "other"}, "status": {"certificate": "YQ==",
        "conditions": [{"type": "Approved", "status": "True"}]}});
    let path = format!("{requests}/a/approval");
    let (code, approved) = call(&router, "PATCH", &path, approve).await;
    assert_eq!(code, 200, "{approved}");
    assert_eq!(approved["spec"]["signerName"], "example.com/one");
    assert!(approved["status"].get("certificate").is_none());
    let (_, rows) = table(&router, requests).await;
    assert_eq!(rows["rows"][0]["cells"][5], "Approved");
}

#[tokio::test(start_paused = true)]
async fn an_account_of_a_binding_is_shown_with_its_namespace_even_without_one() {
    let router = cluster(100).router();
    let bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
    let group = "rbac.authorization.k8s.io";
    let binding = json!({"metadata": {"name": "a"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "User", "name": "jane", "apiGroup": group},
                     {"kind": "ServiceAccount", "name": "robot"},
                     {"kind": "ServiceAccount", "name": "builder", "namespace": "default"}]});
    call(&router, "POST", bindings, binding).await;
    let (_, rows) = table(&router, bindings).await;
    assert_eq!(rows["rows"][0]["cells"][3], "jane");
    assert_eq!(rows["rows"][0]["cells"][5], "/robot, default/builder");
}

#[tokio::test(start_paused = true)]
async fn components_are_read_and_each_check_has_a_path() {
    let router = cluster(100).router();
    let components = "/api/v1/componentstatuses";
    check(call(&router, "GET", components, Value::Null).await, 200, "controller-manager");
    let path = format!("{components}/etcd-0");
    check(call(&router, "GET", &path, Value::Null).await, 200, "Healthy");
    let why = "componentstatus \\\"none\\\" not found";
    check(call(&router, "GET", &format!("{components}/none"), Value::Null).await, 404, why);
    check(call(&router, "DELETE", components, Value::Null).await, 405, "");
    for (path, expect) in [("/livez/ping", 200), ("/readyz/etcd", 200), ("/readyz/none", 404)] {
        assert_eq!(call(&router, "GET", path, Value::Null).await.0, expect, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_finds_its_pods_and_a_service_its_ports() {
    let router = cluster(100).router();
    let jobs = "/apis/batch/v1/namespaces/default/jobs";
    let template = json!({"spec": {"restartPolicy": "Never",
        "containers": [{"name": "main", "image": "app:v1"}]}});
    let job = json!({"metadata": {"name": "a"}, "spec": {"template": template}});
    let (_, made) = call(&router, "POST", jobs, job).await;
    let uid = &made["metadata"]["uid"];
    let label = "batch.kubernetes.io/controller-uid";
    assert_eq!(&made["spec"]["selector"]["matchLabels"][label], uid);
    assert_eq!(&made["spec"]["template"]["metadata"]["labels"][label], uid);
    let services = "/api/v1/namespaces/default/services";
    let service = |name: &str, of_type: &str, address: Value| {
        json!({"metadata": {"name": name}, "spec": {"type": of_type, "clusterIP": address,
               "ports": [{"port": 80}]}})
    };
    let (_, open) = call(&router, "POST", services, service("a", "NodePort", Value::Null)).await;
    let port = open["spec"]["ports"][0]["nodePort"].as_i64().expect("it was given one");
    assert!((30_000..32_768).contains(&port), "{port}");
    assert_eq!(open["spec"]["externalTrafficPolicy"], "Cluster");
    let why = "spec.clusterIPs[0]: Invalid value: \\\"x\\\": must be a valid IP address";
    let wrong = service("b", "ClusterIP", json!("x"));
    check(call(&router, "POST", services, wrong).await, 422, why);
}
