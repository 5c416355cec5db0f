//! `sluice install`: all manifests for a cluster, for `kubectl apply -f -`; and how to take them away.

mod uninstall;

use std::path::PathBuf;

use operator::manifests::{IMAGE, Install, NAMESPACE};

use crate::exit::{Exit, Outcome};
use crate::name;
use crate::out::{Format, Out, PlainFormat};
use crate::session::Connection;

/// Print all manifests for a cluster
#[derive(clap::Args, Debug)]
pub(crate) struct Flags {
    /// Where the operator lives; by default sluice-system, or the namespace of --namespace-only
    #[arg(short, long, value_name = "NAME", value_parser = name::namespace)]
    namespace: Option<String>,

    /// Serve this namespace alone: no right at the scope of the cluster, no webhook, no CRDs
    #[arg(long, value_name = "NAME", value_parser = name::namespace)]
    namespace_only: Option<String>,

    /// The image; none is published, deploy/Dockerfile builds one
    #[arg(long, value_name = "IMAGE", default_value = IMAGE, value_parser = image)]
    image: String,

    /// Whether the CRDs are printed too; by default yes, with --namespace-only no
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = operator::flags::go::boolean,
    )]
    crds: Option<bool>,

    /// How the result is written; text is YAML, and json is one object a line
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "yaml")]
    output: PlainFormat,

    /// Print what to run, in which order, to take it away again, and what a release still holds; nothing
    /// is changed, and the exit code is 3 while something is held
    #[arg(long)]
    uninstall_plan: bool,

    /// With --uninstall-plan: kubeconfig of the cluster; without it KUBECONFIG or ~/.kube/config
    #[arg(long, value_name = "FILE", requires = "uninstall_plan")]
    kubeconfig: Option<PathBuf>,

    /// With --uninstall-plan: context of the kubeconfig; without it the current one
    #[arg(long, value_name = "NAME", requires = "uninstall_plan")]
    context: Option<String>,
}

/// What goes into a manifest as it is must at least be one word.
fn image(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("an image looks like registry.example.org/sluice:1.2.3".to_owned());
    }
    Ok(text.to_owned())
}

/// Runs it.
pub(crate) async fn run(flags: &Flags, out: &mut Out) -> Outcome {
    let install = flags.install();
    if flags.uninstall_plan {
        let (kubeconfig, context) = (flags.kubeconfig.clone(), flags.context.clone());
        let session = Connection { kubeconfig, context, namespace: None }.open().await?;
        let found = uninstall::look(&session, install.only.as_deref()).await?;
        let plan = uninstall::Plan::new(&found, &install);
        return uninstall::print(&plan, flags.output == PlainFormat::Json, out);
    }
    if flags.output == PlainFormat::Json {
        // No `kind: List`: kubectl (1.36) checks the items of one by itself, and takes the null in an
        // enum of our CRD for a mistake.
        for manifest in install.manifests() {
            out.change(Format::Json, &manifest)?;
        }
    } else {
        out.text(&install.yaml())?;
    }
    Ok(Exit::Done)
}

impl Flags {
    fn install(&self) -> Install {
        let only = self.namespace_only.clone();
        // Whoever has rights in one namespace alone can't make another one.
        let home = self.namespace.clone().or_else(|| only.clone());
        Install {
            namespace: home.unwrap_or_else(|| NAMESPACE.to_owned()),
            crds: self.crds.unwrap_or(only.is_none()),
            image: self.image.clone(),
            only,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        flags: Flags,
    }

    #[test]
    fn flags_say_where_it_lives_and_what_it_serves() {
        fn check(arguments: &[&str], namespace: &str, only: Option<&str>, crds: bool) {
            let line = Line::try_parse_from([&["install"], arguments].concat()).unwrap();
            let found = line.flags.install();
            assert_eq!(
                (found.namespace.as_str(), found.only.as_deref(), found.crds),
                (namespace, only, crds),
                "{arguments:?}"
            );
        }
        check(&[], "sluice-system", None, true);
        check(&["--namespace=ops", "--crds=false"], "ops", None, false);
        check(&["--namespace-only=shop"], "shop", Some("shop"), false);
        check(&["--namespace-only=shop", "--crds"], "shop", Some("shop"), true);
        check(&["--namespace-only=shop", "-n", "ops"], "ops", Some("shop"), false);
    }

    #[test]
    fn what_cannot_stand_in_a_manifest_is_refused() {
        for argument in ["--namespace=A", "--namespace=a.b", "--namespace-only=", "--image=a b"] {
            assert!(Line::try_parse_from(["install", argument]).is_err(), "{argument}");
        }
    }
}
