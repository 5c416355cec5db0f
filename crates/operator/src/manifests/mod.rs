//! The manifests of an installation: what `sluice install` prints and `deploy/install.yaml` holds.
//!
//! Plain values in, plain values out; nothing is asked of a cluster. What the account may do comes
//! from [`crate::permissions`].

mod access;
mod deployment;
mod network;

use serde_json::{Value, json};

/// Name of everything that is ours alone: account, roles, Deployment, budget.
const NAME: &str = "sluice";
/// Where the operator lives unless told otherwise.
pub const NAMESPACE: &str = "sluice-system";
/// The image unless told otherwise: what `deploy/Dockerfile` is built as.
pub const IMAGE: &str = concat!("sluice:", env!("CARGO_PKG_VERSION"));

/// What is to be installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Install {
    /// Where the operator lives.
    pub namespace: String,
    /// The one namespace that is served, without any right at the scope of the cluster; `None`
    /// serves all.
    pub only: Option<String>,
    /// The image of `sluice`.
    pub image: String,
    /// Whether the CustomResourceDefinitions belong to it. Only an administrator can install them.
    pub crds: bool,
}

impl Install {
    /// The objects, in the order in which they are to be made.
    pub fn manifests(&self) -> Vec<Value> {
        let mut all = Vec::new();
        if self.crds {
            let service = (self.namespace.as_str(), network::WEBHOOK);
            all.extend(api::crds_converted_by(service).iter().map(|crd| json!(crd)));
        }
        // Whoever has no right outside of namespaces can't make one.
        if self.is_cluster_wide() {
            all.push(self.home());
        }
        all.extend(access::manifests(self));
        all.extend(network::manifests(self));
        all.push(deployment::budget(self));
        all.push(deployment::deployment(self));
        all
    }

    /// The same as YAML documents, with what has to be known before they are applied.
    pub fn yaml(&self) -> String {
        let documents: Vec<String> = self.manifests().iter().map(api::to_yaml).collect();
        format!("{}{}", self.preface(), documents.join("---\n"))
    }

    /// Whether all namespaces are served, and the webhook is on.
    fn is_cluster_wide(&self) -> bool {
        self.only.is_none()
    }

    fn preface(&self) -> String {
        let mut lines = vec![format!(
            "No image is published: build {} from deploy/Dockerfile, or name yours with --image.",
            self.image
        )];
        if let Some(only) = &self.only {
            lines.push(format!(
                "Serves namespace {only} alone, without the admission webhook and without any right \
                 outside of namespaces."
            ));
        }
        if !self.crds {
            lines.push(
                "The CustomResourceDefinitions are not in here; an administrator installs them: \
                 sluice crds | kubectl apply -f -"
                    .to_owned(),
            );
        }
        lines.iter().map(|line| format!("# {line}\n")).collect()
    }

    fn home(&self) -> Value {
        let mut labels = labels();
        // What the Deployment asks for fits the strictest of the Pod Security Standards.
        labels["pod-security.kubernetes.io/enforce"] = json!("restricted");
        json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": self.namespace, "labels": labels},
        })
    }

    /// `metadata` of an object beside the operator.
    fn metadata(&self, name: &str) -> Value {
        json!({"name": name, "namespace": self.namespace, "labels": labels()})
    }
}

/// What selects the operator's Pods; may never change, or a Deployment can't be applied over.
fn selector() -> Value {
    json!({"app.kubernetes.io/name": NAME, "app.kubernetes.io/component": "operator"})
}

fn labels() -> Value {
    let mut labels = selector();
    labels["app.kubernetes.io/version"] = json!(env!("CARGO_PKG_VERSION"));
    labels
}

/// Files that are generated from this crate: (path relative to the repository, contents).
pub fn generated_files() -> Vec<(String, String)> {
    // The CRDs have files of their own.
    let install = Install {
        namespace: NAMESPACE.to_owned(),
        only: None,
        image: IMAGE.to_owned(),
        crds: false,
    };
    let text = format!("# Made by `cargo xtask generate`; do not edit.\n{}", install.yaml());
    vec![("deploy/install.yaml".to_owned(), text)]
}

#[cfg(test)]
mod tests;
