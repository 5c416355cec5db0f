use jiff::Timestamp;

use super::*;
use crate::json::json;
use crate::object::{Collection, Key};

const RBAC: &str = "rbac.authorization.k8s.io";

/// A store with the roles that every cluster has, a Role `reader` in `a` that two are bound to, and
/// a binding of theirs in `b` that leads nowhere.
fn store() -> Store {
    let mut store = Store::new(100);
    let mut put = |plural: &'static str, object: Value| {
        let collection = Collection::known(RBAC, plural);
        store.put(Key::of(collection, &object), object);
    };
    for object in bootstrap::objects() {
        let plural =
            if object["kind"] == "ClusterRole" { "clusterroles" } else { "clusterrolebindings" };
        put(plural, object);
    }
    put(
        "roles",
        json!({"metadata": {"name": "reader", "namespace": "a"}, "rules": [
            {"apiGroups": [""], "resources": ["pods", "*/status"], "verbs": ["get", "list"]},
            {"apiGroups": ["apps"], "resources": ["statefulsets"], "resourceNames": ["web"],
             "verbs": ["*"]},
        ]}),
    );
    let bind = |namespace: &str| {
        json!({
            "metadata": {"name": "reader", "namespace": namespace},
            "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "reader"},
            "subjects": [{"kind": "User", "name": "jane"}, {"kind": "ServiceAccount", "name": "robot"}],
        })
    };
    put("rolebindings", bind("a"));
    put("rolebindings", bind("b"));
    store
}

#[track_caller]
fn check(user: &str, wish: &Wish<'_>, expect: bool) {
    let verdict = decide(&store(), &User::named(user, Vec::new()), wish);
    assert_eq!(verdict.allowed, expect, "{user} {wish:?}: {}", verdict.reason);
}

#[test]
fn a_rule_allows_what_it_names_and_nothing_else() {
    let pods = |verb, namespace| Wish::about(verb, "", "pods", namespace, "");
    check("jane", &pods("get", "a"), true);
    check("jane", &pods("delete", "a"), false);
    check("jane", &pods("get", ""), false);
    check("joe", &pods("get", "a"), false);
    check("system:serviceaccount:a:robot", &pods("list", "a"), true);
    check("system:serviceaccount:b:robot", &pods("list", "a"), false);
    check("jane", &Wish::about("get", "", "services/status", "a", "x"), true);
    check("jane", &Wish::about("get", "", "pods/log", "a", "x"), false);
    check("jane", &Wish::about("delete", "apps", "statefulsets", "a", "web"), true);
    check("jane", &Wish::about("delete", "apps", "statefulsets", "a", "other"), false);
    check("jane", &Wish::about("list", "apps", "statefulsets", "a", ""), false);
    let path = |path| Wish { verb: "get".to_owned(), place: Place::Path(path) };
    check("jane", &path("/apis/apps/v1"), true);
    check("jane", &path("/metrics"), false);
}

#[test]
fn a_binding_without_its_role_is_told() {
    let user = User::named("jane", Vec::new());
    let wish = Wish::about("get", "", "pods", "b", "p");
    let verdict = decide(&store(), &user, &wish);
    assert_eq!(verdict.reason, "RBAC: role.rbac.authorization.k8s.io \"reader\" not found");
    assert_eq!(
        wish.refusal(&user, &verdict.reason).message,
        "pods \"p\" is forbidden: User \"jane\" cannot get resource \"pods\" in API group \"\" in \
         the namespace \"b\": RBAC: role.rbac.authorization.k8s.io \"reader\" not found"
    );
}

#[test]
fn nobody_gives_what_he_does_not_have() {
    let registry = crate::kind::Registry::built_in();
    let kind = registry.find(RBAC, "v1", "roles").expect("built in");
    let (store, jane) = (store(), User::named("jane", Vec::new()));
    let role = |verbs: Value| {
        json!({"metadata": {"name": "more", "namespace": "a"}, "rules": [
            {"apiGroups": [""], "resources": ["pods"], "verbs": verbs},
        ]})
    };
    let get = role(json!(["get"]));
    assert!(escalate::check(&store, &jane, kind, &get, None).is_ok());
    let more = role(json!(["get", "watch", "delete"]));
    let refused = escalate::check(&store, &jane, kind, &more, None).expect_err("more than hers");
    assert_eq!(
        refused.message,
        "roles.rbac.authorization.k8s.io \"more\" is forbidden: user \"jane\" \
         (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently \
         held:\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"watch\" \"delete\"]}"
    );
    assert!(escalate::check(&store, &jane, kind, &more, Some(&more)).is_ok(), "nothing changes");
    assert!(escalate::check(&store, &User::master("admin"), kind, &more, None).is_ok());
}

#[test]
fn a_token_is_good_for_its_cluster_and_its_time() {
    let at = |second| Timestamp::from_second(second).expect("in range");
    let token = token::mint(7, "a", "robot", "uid-1", at(100));
    let user = token::holder(7, &token, at(99)).expect("it holds");
    assert_eq!(user.name, "system:serviceaccount:a:robot");
    assert_eq!(
        user.groups,
        ["system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"]
    );
    assert_eq!(token::holder(7, &token, at(100)), None);
    assert_eq!(token::holder(8, &token, at(99)), None);
    assert_eq!(token::holder(7, "nobody", at(99)), None);
}
