//! `sluice crds`: the CustomResourceDefinitions, for `kubectl apply -f -`.

use crate::exit::{Exit, Outcome};
use crate::out::{Out, PlainFormat};

/// Print the CustomResourceDefinitions
#[derive(clap::Args, Debug)]
pub(crate) struct Flags {
    /// How the result is written; text is YAML
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "yaml")]
    output: PlainFormat,
}

/// Runs it.
pub(crate) fn run(flags: &Flags, out: &mut Out) -> Outcome {
    let crds = api::crds();
    if flags.output == PlainFormat::Json {
        let document = match crds.as_slice() {
            [one] => serde_json::json!(one),
            several => serde_json::json!({"apiVersion": "v1", "kind": "List", "items": several}),
        };
        out.document(flags.output.into(), &document, |_| String::new())?;
    } else {
        let documents: Vec<String> = crds.iter().map(api::to_yaml).collect();
        out.text(&documents.join("---\n"))?;
    }
    Ok(Exit::Done)
}
