//! Where a server listens: `:8080`, `127.0.0.1:8080`, `[::1]:8080`, or off.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use tokio::net::TcpListener;

/// An address to listen on. Without a host it is every address of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Address {
    /// No server; written as the empty string or `0`.
    Off,
    /// A port on every address.
    Everywhere(u16),
    /// A port on one address.
    At(SocketAddr),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if matches!(text, "" | "0") {
            return Ok(Self::Off);
        }
        let wrong = || "an address looks like :8080 or 127.0.0.1:8080; 0 is off".to_owned();
        if let Some(port) = text.strip_prefix(':') {
            return port.parse().map(Self::Everywhere).map_err(|_| wrong());
        }
        if let Some(port) = text.strip_prefix("localhost:") {
            let port = port.parse().map_err(|_| wrong())?;
            return Ok(Self::At(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)));
        }
        text.parse().map(Self::At).map_err(|_| wrong())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("0"),
            Self::Everywhere(port) => write!(f, ":{port}"),
            Self::At(address) => address.fmt(f),
        }
    }
}

impl Address {
    /// A listener, or `None` when the server is off.
    ///
    /// # Errors
    /// What the operating system says.
    pub(crate) async fn listen(self) -> std::io::Result<Option<TcpListener>> {
        match self {
            Self::Off => Ok(None),
            Self::At(address) => TcpListener::bind(address).await.map(Some),
            Self::Everywhere(port) => {
                // The unspecified IPv6 address takes IPv4 too, where the machine has IPv6 at all.
                match TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).await {
                    Err(error) if error.kind() != std::io::ErrorKind::AddrInUse => {
                        TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).await.map(Some)
                    }
                    bound => bound.map(Some),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_manifests_write_it() {
        fn check(text: &str, expect: Option<Address>) {
            assert_eq!(text.parse::<Address>().ok(), expect, "{text}");
        }
        check("", Some(Address::Off));
        check("0", Some(Address::Off));
        check(":8080", Some(Address::Everywhere(8080)));
        check("127.0.0.1:0", Some(Address::At("127.0.0.1:0".parse().unwrap())));
        check("localhost:81", Some(Address::At("127.0.0.1:81".parse().unwrap())));
        check("[::1]:8080", Some(Address::At("[::1]:8080".parse().unwrap())));
        check("8080", None);
        check(":70000", None);
        check("example.org:80", None);
    }

    #[test]
    fn an_address_is_written_as_it_was_read() {
        for text in ["0", ":8080", "127.0.0.1:9", "[::1]:9"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
    }

    #[tokio::test]
    async fn a_port_that_is_taken_is_an_error() {
        let first = "127.0.0.1:0".parse::<Address>().unwrap().listen().await.unwrap().unwrap();
        let again = Address::At(first.local_addr().unwrap());
        assert_eq!(again.listen().await.unwrap_err().kind(), std::io::ErrorKind::AddrInUse);
    }

    #[tokio::test]
    async fn no_server_listens_when_it_is_off() {
        assert!(Address::Off.listen().await.unwrap().is_none());
    }
}
