//! The certificate that the webhook serves, and its replacement without a restart.

use super::{Validity, wrong};
use crate::Error;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::sync::{Arc, PoisonError, RwLock};

/// A certificate with its key, ready to be served.
#[derive(Debug, Clone)]
pub(crate) struct Serving {
    pub(crate) validity: Validity,
    certified: Arc<CertifiedKey>,
}

impl Serving {
    pub(super) fn new(
        certificate: CertificateDer<'static>,
        key: Vec<u8>,
        validity: Validity,
    ) -> Result<Self, Error> {
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key));
        let certified = CertifiedKey::from_der(vec![certificate], key, &ring::default_provider())
            .map_err(|error| wrong(&error))?;
        Ok(Self { validity, certified: Arc::new(certified) })
    }
}

/// Where a TLS server finds its certificate at each handshake.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shown {
    current: Arc<RwLock<Option<Arc<CertifiedKey>>>>,
}

impl Shown {
    /// From the next handshake on, this one.
    pub(crate) fn show(&self, serving: &Serving) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Some(serving.certified.clone());
    }

    /// What is shown, to be compared.
    #[cfg(test)]
    pub(crate) fn certificate(&self) -> Option<Vec<u8>> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.as_ref().and_then(|it| it.cert.first().map(|it| it.to_vec()))
    }

    /// The configuration of a server that shows what is shown here; HTTP/2 and 1.1.
    ///
    /// # Errors
    /// [`Error::Certificate`] when ring offers no TLS version, which it does.
    pub(crate) fn server_config(&self) -> Result<ServerConfig, Error> {
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong(&error))?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(self.clone()));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }
}

impl ResolvesServerCert for Shown {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
