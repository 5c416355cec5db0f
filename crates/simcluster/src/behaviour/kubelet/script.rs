//! What a Pod's images and annotations tell the kubelet to do with it.

use jiff::SignedDuration;

use crate::json::Value;
use crate::object;

/// How long containers take to exit when nothing says otherwise.
const TERMINATE: SignedDuration = SignedDuration::from_millis(500);
/// How long a `slow` image takes to start.
const SLOW: SignedDuration = SignedDuration::from_secs(60);
/// How much longer than asked a start may take, in percent, when no annotation fixes it.
const JITTER_PERCENT: i64 = 5;

/// How a Pod's life goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The image of the first container that can't be pulled.
    pub broken: Option<String>,
    /// It starts and dies at once, again and again.
    pub crashes: bool,
    /// From the binding until the containers run.
    pub startup: SignedDuration,
    /// From running until ready.
    pub ready_after: SignedDuration,
    /// From running until the containers die, each time.
    pub crash_after: Option<SignedDuration>,
    /// From the deletion until the containers have exited; the grace period cuts it short.
    pub terminate_after: SignedDuration,
}

impl Script {
    /// Reads a Pod. `start_up` is what a Pod takes by default; what is left to chance depends on
    /// the seed and the Pod's UID alone, so every look at a Pod reads the same script.
    pub fn of(pod: &Value, start_up: SignedDuration, seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed ^ hash(object::uid(pod)));
        let span = |name: &str| {
            object::annotation(pod, &format!("simcluster.sluice.dev/{name}")).and_then(parse)
        };
        let chance = object::annotation(pod, "simcluster.sluice.dev/fail-probability")
            .and_then(|text| text.parse::<f64>().ok())
            .unwrap_or(0.0);
        let fails = rng.f64() < chance;
        let stretched = |span: SignedDuration, rng: &mut fastrand::Rng| {
            let millis = i64::try_from(span.as_millis()).unwrap_or(i64::MAX / 200);
            SignedDuration::from_millis(millis + millis * rng.i64(0..=JITTER_PERCENT * 10) / 1000)
        };
        let default = if has_word(pod, "slow") { SLOW.max(start_up) } else { start_up };
        Self {
            broken: broken_image(pod),
            crashes: fails || has_word(pod, "crash"),
            startup: span("startup").unwrap_or_else(|| stretched(default, &mut rng)),
            ready_after: span("ready-after").unwrap_or_default(),
            crash_after: span("crash-after"),
            terminate_after: span("terminate-after").unwrap_or(TERMINATE),
        }
    }
}

fn images(pod: &Value) -> impl Iterator<Item = &str> {
    pod["spec"]["containers"].as_array().into_iter().flatten().filter_map(|c| c["image"].as_str())
}

fn says(image: &str, word: &str) -> bool {
    image.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| part == word)
}

fn has_word(pod: &Value, word: &str) -> bool {
    images(pod).any(|image| says(image, word))
}

fn broken_image(pod: &Value) -> Option<String> {
    images(pod).find(|image| says(image, "broken")).map(str::to_owned)
}

/// FNV-1a over a UID, to seed what is left to chance about its Pod.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A duration as Go writes it (`1m30s`, `500ms`); a bare number is seconds.
pub fn parse(text: &str) -> Option<SignedDuration> {
    if let Ok(seconds) = text.parse::<f64>() {
        return SignedDuration::try_from_secs_f64(seconds).ok().filter(|span| !span.is_negative());
    }
    let mut rest = text;
    let mut total = SignedDuration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(digits);
        let unit = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit);
        let scale = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        let seconds = number.parse::<f64>().ok()? * scale;
        total = total.checked_add(SignedDuration::try_from_secs_f64(seconds).ok()?)?;
        rest = tail;
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    fn script(image: &str, annotations: &Value) -> Script {
        let pod = json!({
            "metadata": {"uid": "u", "annotations": annotations},
            "spec": {"containers": [{"name": "main", "image": image}]},
        });
        Script::of(&pod, SignedDuration::from_secs(2), 7)
    }

    #[test]
    fn durations_are_read_as_go_writes_them() {
        let check = |text: &str, millis: Option<i64>| {
            assert_eq!(parse(text), millis.map(SignedDuration::from_millis), "{text}");
        };
        check("8s", Some(8_000));
        check("1m30s", Some(90_000));
        check("1.5s", Some(1_500));
        check("250ms", Some(250));
        check("3", Some(3_000));
        check("", None);
        check("8 apples", None);
        check("s", None);
        check("-1", None);
    }

    #[test]
    fn words_in_image_names_decide() {
        assert_eq!(script("app:broken", &Value::Null).broken.as_deref(), Some("app:broken"));
        assert_eq!(script("app:unbroken", &Value::Null).broken, None);
        assert!(script("registry/crash-app:v2", &Value::Null).crashes);
        assert!(!script("crashes:v1", &Value::Null).crashes);
        assert!(script("slow:v1", &Value::Null).startup >= SLOW);
    }

    #[test]
    fn annotations_fix_times_exactly_and_the_default_varies_a_little() {
        let fixed = script("app:v1", &json!({"simcluster.sluice.dev/startup": "8s"}));
        assert_eq!(fixed.startup, SignedDuration::from_secs(8));
        let startup = script("app:v1", &Value::Null).startup;
        assert!(startup >= SignedDuration::from_secs(2) && startup.as_millis() <= 2_100);
    }

    #[test]
    fn a_fail_probability_of_one_always_fails_and_of_zero_never() {
        let fails = |chance: &str| {
            script("app:v1", &json!({"simcluster.sluice.dev/fail-probability": chance})).crashes
        };
        assert!(fails("1"));
        assert!(!fails("0"));
    }
}
