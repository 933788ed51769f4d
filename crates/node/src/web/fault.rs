//! Why there is no answer.

use bringup_progress::{Failure, FailureKind};
use rustls::CertificateError;

/// Why there is no answer, and whether there may be one later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebFault {
    pub(crate) kind: FailureKind,
    /// To be put after the name of whoever was asked and a colon.
    pub(crate) why: String,
    pub(crate) fix: String,
}

impl WebFault {
    pub(crate) fn permanent(why: &str) -> Self {
        Self { kind: FailureKind::Permanent, why: why.to_owned(), fix: String::new() }
    }

    fn transient(why: impl Into<String>) -> Self {
        Self { kind: FailureKind::Transient, why: why.into(), fix: String::new() }
    }

    fn operator(why: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { kind: FailureKind::Operator, why: why.into(), fix: fix.into() }
    }

    pub(super) fn proxy() -> Self {
        Self {
            kind: FailureKind::Permanent,
            why: "the proxy's address cannot be understood".to_owned(),
            fix: "write it as `http://HOST:PORT` under `proxy`".to_owned(),
        }
    }

    /// Of one who was asked through a proxy.
    pub(super) fn through(self, proxy: &str) -> Self {
        Self { why: format!("through the proxy `{proxy}`: {}", self.why), ..self }
    }

    pub(crate) fn of(fault: &ureq::Error) -> Self {
        use ureq::Error;
        match fault {
            Error::Timeout(_) => Self::transient("it did not answer in time"),
            Error::HostNotFound => Self::transient("its name is not known"),
            Error::ConnectionFailed => Self::transient("it cannot be reached"),
            Error::Io(fault) => Self::of_io(fault),
            Error::Rustls(fault) => Self::of_tls(fault),
            Error::ConnectProxyFailed(why) => {
                Self::transient(format!("the proxy does not let us through: {why}"))
            }
            Error::InvalidProxyUrl => Self::proxy(),
            Error::BadUri(_) | Error::Http(_) => Self::permanent("the address cannot be understood"),
            other => Self::transient(other.to_string()),
        }
    }

    pub(crate) fn of_io(fault: &std::io::Error) -> Self {
        if let Some(inner) = fault.get_ref() {
            if let Some(fault) = inner.downcast_ref::<rustls::Error>() {
                return Self::of_tls(fault);
            }
            if let Some(fault) = inner.downcast_ref::<ureq::Error>() {
                return Self::of(fault);
            }
        }
        let text = fault.to_string();
        let plain = text.rfind(" (os error ").and_then(|at| text.get(..at)).unwrap_or(&text);
        Self::transient(plain.to_lowercase())
    }

    fn of_tls(fault: &rustls::Error) -> Self {
        let rustls::Error::InvalidCertificate(why) = fault else {
            return Self::transient(format!("TLS: {fault}"));
        };
        match why {
            // The second is said of an authority with the right name and another key.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => Self::operator(
                "its certificate is signed by an authority that is not trusted",
                "add the authority under `certificateAuthorities`, or to the system's bundle",
            ),
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                Self::operator(
                    "its certificate is for another name",
                    "give the server a certificate of its own",
                )
            }
            // Early in a boot the clock may not have been set yet.
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => Self {
                fix: "see that the clock of this machine is right, and renew the certificate if it is"
                    .to_owned(),
                ..Self::transient("its certificate is not valid at this time")
            },
            other => Self::operator(
                format!("its certificate is not accepted: {other}"),
                "give the server another certificate",
            ),
        }
    }

    /// The failure of whoever asked this server.
    pub(crate) fn failure(self, whom: &str) -> Failure {
        Failure::new(self.kind, format!("{whom}: {}", self.why), self.fix)
    }
}
