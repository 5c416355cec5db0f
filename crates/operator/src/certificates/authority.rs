//! The authority that signs the webhook's certificates; its key never leaves the Secret.

use super::{Serving, Validity, wrong};
use crate::Error;
use jiff::{SignedDuration, Timestamp};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

const LIFETIME: SignedDuration = SignedDuration::from_hours(24 * 365 * 10);
const SERVING_LIFETIME: SignedDuration = SignedDuration::from_hours(24 * 30);

/// A certificate authority of our own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Authority {
    pub(crate) certificate_pem: String,
    pub(crate) key_pem: String,
    pub(crate) validity: Validity,
    /// What the API server is told to trust: this authority, and the one before it while
    /// certificates of that one may still be served.
    pub(crate) bundle_pem: String,
}

impl Authority {
    /// A new authority, good for ten years from `now`.
    ///
    /// # Errors
    /// [`Error::Certificate`] when no key can be made.
    pub(crate) fn create(now: Timestamp) -> Result<Self, Error> {
        let validity = Validity::of(now, LIFETIME)?;
        let key = KeyPair::generate().map_err(|error| wrong(&error))?;
        let certificate = parameters(validity)?.self_signed(&key).map_err(|error| wrong(&error))?;
        let certificate_pem = certificate.pem();
        let bundle_pem = certificate_pem.clone();
        Ok(Self { certificate_pem, key_pem: key.serialize_pem(), validity, bundle_pem })
    }

    /// The next authority; the present one stays trusted beside it.
    ///
    /// # Errors
    /// As [`Authority::create`].
    pub(crate) fn succeed(&self, now: Timestamp) -> Result<Self, Error> {
        let mut next = Self::create(now)?;
        next.bundle_pem.push_str(&self.certificate_pem);
        Ok(next)
    }

    /// A certificate for a server of these names (DNS names or IP addresses), good for thirty days.
    ///
    /// # Errors
    /// [`Error::Certificate`] for a name that no certificate can hold, or a damaged key.
    pub(crate) fn issue(&self, names: &[String], now: Timestamp) -> Result<Serving, Error> {
        let validity = Validity::of(now, SERVING_LIFETIME)?;
        let own_key = KeyPair::from_pem(&self.key_pem).map_err(|error| wrong(&error))?;
        // The issuer's part of a certificate is its name and key alone, so the authority's own
        // certificate need not be parsed.
        let issuer = Issuer::new(parameters(self.validity)?, own_key);

        let mut wanted = CertificateParams::new(names).map_err(|error| wrong(&error))?;
        set(&mut wanted, validity);
        wanted.distinguished_name.push(DnType::CommonName, "sluice webhook");
        wanted.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        wanted.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        wanted.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().map_err(|error| wrong(&error))?;
        let certificate = wanted.signed_by(&key, &issuer).map_err(|error| wrong(&error))?;
        Serving::new(certificate.der().clone(), key.serialize_der(), validity)
    }
}

fn parameters(validity: Validity) -> Result<CertificateParams, Error> {
    let mut parameters = CertificateParams::new(Vec::new()).map_err(|error| wrong(&error))?;
    set(&mut parameters, validity);
    parameters.distinguished_name = rcgen::DistinguishedName::new();
    // The moment in the name keeps an authority apart from its successor in one bundle.
    let name = format!("sluice webhook authority {}", validity.from.as_second());
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(parameters)
}

/// rcgen speaks of time in another crate's type; it is reached by counting from the epoch.
fn set(parameters: &mut CertificateParams, validity: Validity) {
    let since =
        |at: Timestamp| std::time::Duration::from_secs(at.as_second().max(0).unsigned_abs());
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    parameters.not_before = epoch + since(validity.from);
    parameters.not_after = epoch + since(validity.until);
}
