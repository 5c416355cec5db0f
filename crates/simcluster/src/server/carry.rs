//! What controllers write, past the webhooks that every client's writes go past.

use jiff::Timestamp;

use super::Server;
use super::events::{EVENTS, Said, Saying};
use crate::admission::{MUTATING, VALIDATING};
use crate::authorization::User;
use crate::behaviour::{View, Write};
use crate::error::ApiError;
use crate::object::{self, Key};
use crate::server::options::{DeleteOptions, WriteOptions};
use crate::server::part::Part;

impl Server {
    /// Commits what a component wants, when the webhooks that want to be asked about it have been.
    pub(crate) async fn carry(
        &self,
        write: Write,
        actor: &str,
        now: Timestamp,
    ) -> Result<(), ApiError> {
        if self.asks_nobody() {
            return self.commit(write, actor, now);
        }
        let user = self.component(actor, &write.target().1);
        let options = WriteOptions { user: user.clone(), ..WriteOptions::of(actor) };
        let (key, deletion) = match write {
            Write::Create { collection, object } => {
                let kind = self.lock().kind_of(&collection)?;
                let namespace = object::namespace(&object).to_owned();
                let prepare = |inner: &mut super::Inner| {
                    inner.prepare_create(&kind, &namespace, object.clone(), &options, now)
                };
                return self.submit(&kind, &options, now, prepare).await.map(drop);
            }
            Write::Update { key, subresource, object } => {
                let kind = self.lock().kind_of(&key.collection)?;
                let part = Part::parse(subresource.unwrap_or_default())
                    .ok_or_else(ApiError::no_such_resource)?;
                let prepare = |inner: &mut super::Inner| {
                    inner.prepare_update(&kind, &key, part, object.clone(), now)
                };
                return self.submit(&kind, &options, now, prepare).await.map(drop);
            }
            Write::Delete { key, uid, grace_period_seconds } => {
                (key, DeleteOptions { uid, grace_period_seconds, ..Default::default() })
            }
            Write::DeleteForeground { key, uid } => {
                let propagation = Some("Foreground".to_owned());
                (key, DeleteOptions { uid, propagation, ..Default::default() })
            }
            Write::Event { regarding, type_, reason, message, component } => {
                let said = Said { type_, reason, message: &message, component };
                let options = WriteOptions { user, ..WriteOptions::of(component) };
                let kind = self.lock().kind_of(&EVENTS)?;
                let prepare = |inner: &mut super::Inner| {
                    let Saying { key, again, event } = inner.saying(&regarding, &said, now)?;
                    if again {
                        inner.prepare_update(&kind, &key, Part::Main, event, now)
                    } else {
                        inner.prepare_create(&kind, &key.namespace, event, &options, now)
                    }
                };
                return self.submit(&kind, &options, now, prepare).await.map(drop);
            }
        };
        let kind = self.lock().kind_of(&key.collection)?;
        self.remove(&kind, &key, &deletion, &options.user, now).await.map(drop)
    }

    /// Whether there is nobody who could want to be asked: so it is in most clusters.
    fn asks_nobody(&self) -> bool {
        let none = |inner: &super::Inner| {
            [MUTATING, VALIDATING].iter().all(|all| inner.store.list(all, None).next().is_none())
        };
        self.webhook_caller().is_none() || none(&self.lock())
    }

    /// As whom a component writes about an object.
    fn component(&self, actor: &str, about: &Key) -> User {
        let account = match actor {
            "kubelet" => {
                let inner = self.lock();
                let found = inner.store.find(&about.collection, &about.namespace, &about.name);
                let node = found.and_then(|object| object["spec"]["nodeName"].as_str());
                let name = format!("system:node:{}", node.unwrap_or(&about.name));
                return User::named(&name, vec!["system:nodes".to_owned()]);
            }
            "kube-scheduler" => return User::named("system:kube-scheduler", Vec::new()),
            "customresourcedefinition-controller" => return User::master("system:apiserver"),
            "daemonset-controller" => "daemon-set-controller",
            other => other,
        };
        User::named(&format!("system:serviceaccount:kube-system:{account}"), Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use futures::FutureExt;
    use jiff::SignedDuration;

    use super::*;
    use crate::cluster::{Options, SimCluster};
    use crate::json::{Value, json};

    fn hook(name: &str, mutating: bool, operation: &str) -> Value {
        about("pods", name, mutating, operation)
    }

    fn about(resource: &str, name: &str, mutating: bool, operation: &str) -> Value {
        let kind = if mutating { "Mutating" } else { "Validating" };
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": format!("{kind}WebhookConfiguration"), "metadata": {"name": name},
            "webhooks": [{
                "name": format!("{name}.example.com"), "sideEffects": "None",
                "admissionReviewVersions": ["v1"], "failurePolicy": "Fail",
                "clientConfig": {"url": format!("https://localhost/{name}")},
                "rules": [{
                    "apiGroups": [""], "apiVersions": ["v1"], "resources": [resource],
                    "operations": [operation],
                }],
            }],
        })
    }

    /// A cluster with a StatefulSet of one Pod and these webhooks; what they were asked, and the Pods and
    /// Events after some seconds.
    fn lives(hooks: &[Value], allowed: bool) -> (Vec<Value>, Vec<Value>, Vec<String>) {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a constant");
        let now = Arc::new(Mutex::new(start));
        let read = now.clone();
        let clock = Arc::new(move || *read.lock().expect("nobody panics"));
        let cluster = SimCluster::new(Options::new(7, clock));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = asked.clone();
        cluster.register_webhook_service(Arc::new(move |call| {
            let request = call.review["request"].clone();
            heard.lock().expect("nobody panics").push(request.clone());
            let label =
                "W3sib3AiOiJhZGQiLCJwYXRoIjoiL21ldGFkYXRhL2xhYmVscy9zZWVuIiwidmFsdWUiOiJ5ZXMifV0=";
            let mut response = json!({
                "uid": request["uid"], "allowed": allowed, "status": {"message": "not today"},
            });
            if call.url.as_ref().is_some_and(|url| url.ends_with("/annotate")) {
                response["patchType"] = "JSONPatch".into();
                response["patch"] =
                    "W3sib3AiOiJyZXBsYWNlIiwicGF0aCI6Ii9tZXNzYWdlIiwidmFsdWUiOiJjaGFuZ2VkIn1d"
                        .into();
            }
            if call.url.is_some_and(|url| url.ends_with("/label")) {
                response["patchType"] = "JSONPatch".into();
                response["patch"] = label.into();
            }
            futures::future::ready(Ok(json!({"response": response}))).boxed()
        }));
        let set = json!({
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {
                "replicas": 1, "serviceName": "web", "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {"containers": [{"name": "main", "image": "app:v1"}]},
                },
            },
        });
        let server = cluster.server();
        for hook in hooks {
            let collection =
                if hook["kind"] == "MutatingWebhookConfiguration" { MUTATING } else { VALIDATING };
            let write = Write::Create { collection, object: hook.clone() };
            server.commit(write, "test", start).expect("is taken");
        }
        let write = Write::Create { collection: object::STATEFULSETS, object: set };
        server.commit(write, "test", start).expect("is taken");
        let mut driver = cluster.driver();
        for second in 0..10 {
            let time = start + SignedDuration::from_secs(second);
            *now.lock().expect("nobody panics") = time;
            driver.run_due(time);
        }
        let view = server.view();
        let pods = view.list(&object::PODS, None).map(|pod| (**pod).clone()).collect();
        let events = crate::object::Collection::known("", "events");
        let events = view.list(&events, None).filter_map(|e| e["message"].as_str());
        let said = events.map(str::to_owned).collect();
        (asked.lock().expect("nobody panics").clone(), pods, said)
    }

    #[tokio::test(start_paused = true)]
    async fn a_controllers_pod_is_changed_by_the_webhooks_that_want_it() {
        let (asked, pods, _) = lives(&[hook("label", true, "CREATE")], true);
        assert_eq!(pods[0]["metadata"]["labels"]["seen"], "yes");
        assert_eq!(
            asked[0]["userInfo"]["username"],
            "system:serviceaccount:kube-system:statefulset-controller"
        );
        assert_eq!(asked.len(), 1, "the scheduler and the kubelet create nothing");
    }

    #[tokio::test(start_paused = true)]
    async fn a_controllers_pod_that_a_webhook_refuses_is_spoken_of_in_an_event() {
        let (_, pods, said) = lives(&[hook("no", false, "CREATE")], false);
        assert_eq!(pods.len(), 0);
        assert_eq!(
            said,
            ["Create Pod web-0 in StatefulSet web failed error: admission webhook \
              \"no.example.com\" denied the request: not today"]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_controllers_say_goes_past_the_webhooks_too() {
        let (asked, pods, said) = lives(&[about("events", "no", false, "*")], false);
        assert_eq!((pods.len(), said.len()), (1, 0), "all is done, and nothing of it is told");
        let of = |who: &str| {
            asked.iter().find(|one| one["userInfo"]["username"] == who).expect("it was asked")
        };
        let set = of("system:serviceaccount:kube-system:statefulset-controller");
        assert_eq!(set["object"]["reason"], "SuccessfulCreate");
        assert_eq!(set["operation"], "CREATE");
        assert_eq!(of("system:kube-scheduler")["object"]["reason"], "Scheduled");
    }

    #[tokio::test(start_paused = true)]
    async fn an_event_carries_what_a_webhook_put_in() {
        let mut label = about("events", "label", true, "CREATE");
        label["webhooks"][0]["clientConfig"]["url"] = "https://localhost/annotate".into();
        let (_, _, said) = lives(&[label], true);
        assert!(said.iter().any(|message| message == "changed"), "{said:?}");
    }
}
