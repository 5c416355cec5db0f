//! What a Pod template runs, in the words that people use for it: image and version.

use serde_json::Value;

/// Image and version of a Pod template.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PodVersion {
    /// Image of the first container, as written; empty if there is none.
    pub image: String,
    /// The label `app.kubernetes.io/version`, else the image's tag, else the first 12 digits of its
    /// digest; empty if there is none of these.
    pub version: String,
}

/// Reads a Pod template, or a Pod: both have `metadata.labels` and `spec.containers`.
pub fn pod_version(template: &Value) -> PodVersion {
    let image = template
        .pointer("/spec/containers/0/image")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let label = template
        .get("metadata")
        .and_then(|metadata| metadata.get("labels"))
        .and_then(|labels| labels.get("app.kubernetes.io/version"))
        .and_then(Value::as_str)
        .filter(|label| !label.is_empty());
    let version = label.map_or_else(|| image_version(&image).to_owned(), str::to_owned);
    PodVersion { image, version }
}

/// Tag of an image, else the first 12 digits of its digest, else nothing.
pub fn image_version(image: &str) -> &str {
    let (name, digest) = match image.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (image, None),
    };
    // A colon before the last slash is a port of the registry.
    let last = name.rsplit('/').next().unwrap_or(name);
    if let Some((_, tag)) = last.split_once(':') {
        return tag;
    }
    let digits = digest.and_then(|digest| digest.split_once(':')).map_or("", |(_, digits)| digits);
    digits.get(..12).unwrap_or(digits)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(image: &str, expect: &str) {
        assert_eq!(image_version(image), expect, "{image}");
    }

    #[test]
    fn the_tag_of_an_image_is_its_version() {
        check("bedrock-tester:v2", "v2");
        check("registry:5000/team/app:1.2", "1.2");
        check("registry:5000/team/app", "");
        check("app:v1@sha256:0123456789abcdef", "v1");
        check("app@sha256:0123456789abcdef", "0123456789ab");
        check("account.dkr.ecr.us-east-1.amazonaws.com/bedrock-tester@sha256:SHA", "SHA");
        check("app@broken", "");
        check("", "");
    }

    #[test]
    fn the_version_label_outranks_the_image() {
        let mut template = json!({
            "metadata": {"labels": {"app.kubernetes.io/version": "v1.custom"}},
            "spec": {"containers": [{"name": "a", "image": "app:v1"}]},
        });
        assert_eq!(
            pod_version(&template),
            PodVersion { image: "app:v1".into(), version: "v1.custom".into() }
        );
        template["metadata"]["labels"]["app.kubernetes.io/version"] = json!("");
        assert_eq!(pod_version(&template).version, "v1");
        assert_eq!(pod_version(&json!({})), PodVersion::default());
    }
}
