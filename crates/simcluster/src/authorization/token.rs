//! Tokens of ServiceAccounts. They say who holds them and until when, and are known again by a sum
//! that only this cluster makes; nothing is kept.
//!
//! A cluster that runs in a test needs no secrets: the sum keeps tokens of two clusters apart, and
//! would keep nobody out who wanted in.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;

use super::User;
use crate::json::{Value, json};

const HEADER: &str = r#"{"alg":"none","kid":"simcluster"}"#;

/// A token for a ServiceAccount until a time.
pub fn mint(seed: u64, namespace: &str, name: &str, uid: &str, until: Timestamp) -> String {
    let claims = json!({
        "iss": "https://kubernetes.default.svc",
        "aud": ["https://kubernetes.default.svc"],
        "sub": format!("system:serviceaccount:{namespace}:{name}"),
        "exp": until.as_second(),
        "kubernetes.io": {"namespace": namespace, "serviceaccount": {"name": name, "uid": uid}},
    });
    let body = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(HEADER),
        URL_SAFE_NO_PAD.encode(claims.to_string())
    );
    let sum = URL_SAFE_NO_PAD.encode(sum(seed, &body).to_be_bytes());
    format!("{body}.{sum}")
}

/// Who holds a token; `None` when it is not of this cluster, or its time is over.
pub fn holder(seed: u64, token: &str, now: Timestamp) -> Option<User> {
    let (body, given) = token.rsplit_once('.')?;
    let given = URL_SAFE_NO_PAD.decode(given).ok()?;
    if given != sum(seed, body).to_be_bytes() {
        return None;
    }
    let (_, claims) = body.split_once('.')?;
    let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
    if claims["exp"].as_i64()? <= now.as_second() {
        return None;
    }
    let uid = claims["kubernetes.io"]["serviceaccount"]["uid"].as_str().unwrap_or_default();
    Some(User { uid: uid.to_owned(), ..User::named(claims["sub"].as_str()?, Vec::new()) })
}

/// FNV-1a over the seed and the text.
fn sum(seed: u64, text: &str) -> u64 {
    seed.to_be_bytes()
        .into_iter()
        .chain(text.bytes())
        .fold(0xcbf2_9ce4_8422_2325, |sum, b| (sum ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}
