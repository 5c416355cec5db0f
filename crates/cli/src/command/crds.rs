//! `sluice crds`: the CustomResourceDefinitions, for `kubectl apply -f -`.

use crate::exit::{Exit, Outcome};
use crate::out::{Out, PlainFormat};

/// Print the CustomResourceDefinitions
#[derive(clap::Args, Debug)]
pub struct Flags {
    /// How the result is written; text is YAML
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "yaml")]
    output: PlainFormat,
}

/// Runs it.
pub fn run(flags: &Flags, out: &mut Out) -> Outcome {
    let crds = api::crds();
    match (flags.output, crds.as_slice()) {
        (PlainFormat::Json, [one]) => {
            out.document(PlainFormat::Json.into(), one, |_| String::new())?
        }
        (PlainFormat::Json, several) => {
            let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": several});
            out.document(PlainFormat::Json.into(), &list, |_| String::new())?;
        }
        (PlainFormat::Text | PlainFormat::Yaml, several) => {
            let documents: Vec<String> = several.iter().map(api::to_yaml).collect();
            out.text(&documents.join("---\n"))?;
        }
    }
    Ok(Exit::Done)
}
