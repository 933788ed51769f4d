//! Certificates.

use base64::{Engine as _, prelude::BASE64_STANDARD};

use super::Fault;
use crate::decode::parsed;

/// One or more certificates in PEM form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    pem: String,
}

impl Certificate {
    const BEGIN: &'static str = "-----BEGIN CERTIFICATE-----";
    const END: &'static str = "-----END CERTIFICATE-----";

    /// Reads PEM, or PEM in base64 as EKS hands it out.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let wrong = |what: &str| {
            Fault::new(
                format!("this is no certificate: {what}"),
                "paste the PEM block, or the base64 of it that `aws eks describe-cluster` prints",
            )
        };
        let text = text.trim();
        let pem = if text.starts_with("-----BEGIN") {
            text.to_owned()
        } else {
            let packed: String = text.split_whitespace().collect();
            let bytes = BASE64_STANDARD.decode(packed).map_err(|_| wrong("neither PEM nor base64"))?;
            String::from_utf8(bytes).map_err(|_| wrong("the base64 does not hold PEM"))?.trim().to_owned()
        };
        if pem.contains("PRIVATE KEY") {
            return Err(Fault::new(
                "this holds a private key",
                "paste the certificate only, and treat the key as disclosed",
            ));
        }
        if !pem.starts_with(Self::BEGIN) || !pem.ends_with(Self::END) {
            return Err(wrong("no PEM block of a certificate"));
        }
        for block in pem.split(Self::BEGIN).skip(1) {
            let body: String = block.split(Self::END).next().unwrap_or_default().split_whitespace().collect();
            if body.is_empty() || BASE64_STANDARD.decode(&body).is_err() {
                return Err(wrong("the body of a PEM block is no base64"));
            }
        }
        Ok(Self { pem: format!("{}\n", pem.replace("\r\n", "\n")) })
    }

    /// The PEM text, LF at the end.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// The PEM text in base64, as kubeconfig files hold it.
    pub fn base64(&self) -> String {
        BASE64_STANDARD.encode(&self.pem)
    }
}

parsed!(Certificate, {"type": "string", "contentMediaType": "application/x-pem-file", "description": "Certificates in PEM form, or the base64 of that."});

/// The authority of an API server: certificates, or what else somebody hands out in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authority {
    text: String,
    fault: Option<Fault>,
}

impl Authority {
    /// Reads certificates. The base64 of another text is taken as it is, with the fault of it: whoever reads the whole
    /// document knows whether that will do.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let fault = match Certificate::parse(text) {
            Ok(certificate) => return Ok(Self { text: certificate.pem, fault: None }),
            Err(fault) => fault,
        };
        let packed: String = text.split_whitespace().collect();
        let other = BASE64_STANDARD.decode(packed).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        match other {
            Some(other) if !other.is_empty() && !other.contains("PRIVATE KEY") => {
                Ok(Self { text: other, fault: Some(fault) })
            }
            _ => Err(fault),
        }
    }

    /// The text: PEM with LF at the end, where it holds certificates.
    pub fn pem(&self) -> &str {
        &self.text
    }

    /// The text in base64, as kubeconfig files hold it.
    pub fn base64(&self) -> String {
        BASE64_STANDARD.encode(&self.text)
    }

    /// What is wrong with it, if it holds no certificates.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }
}

impl From<Certificate> for Authority {
    fn from(certificate: Certificate) -> Self {
        Self { text: certificate.pem, fault: None }
    }
}

parsed!(Authority, {"type": "string", "contentMediaType": "application/x-pem-file", "description": "Certificates in PEM form, or the base64 of that."});

#[cfg(test)]
mod tests {
    use super::{Authority, Certificate};

    /// `printf 'ca-bundle\n' | base64` is what follows.
    #[test]
    fn another_text_in_base64_is_an_authority_with_a_fault() {
        let authority = Authority::parse("Y2EtYnVuZGxlCg==").unwrap();
        assert_eq!((authority.pem(), authority.base64().as_str()), ("ca-bundle\n", "Y2EtYnVuZGxlCg=="));
        assert!(authority.fault().is_some_and(|fault| fault.message.starts_with("this is no certificate")));
        assert_eq!(Authority::parse(PEM).unwrap(), Certificate::parse(PACKED).unwrap().into());
        let key = PEM.replace("CERTIFICATE", "PRIVATE KEY");
        let packed = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, &key);
        for wrong in ["", "cluster-ca", "-----BEGIN CERTIFICATE-----", &key, &packed] {
            assert!(Authority::parse(wrong).is_err(), "{wrong}");
        }
    }

    const PEM: &str = "-----BEGIN CERTIFICATE-----\nMIIB\nAAAA\n-----END CERTIFICATE-----\n";
    /// `printf -- '-----BEGIN CERTIFICATE-----\nMIIB\nAAAA\n-----END CERTIFICATE-----\n' | base64 -w0`
    const PACKED: &str =
        "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKQUFBQQotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg==";

    #[test]
    fn pem_and_its_base64_are_the_same_certificate() {
        let certificate = Certificate::parse(PEM).unwrap();
        assert_eq!(certificate.pem(), PEM);
        assert_eq!(certificate.base64(), PACKED);
        assert_eq!(Certificate::parse(PACKED).unwrap(), certificate);
        assert_eq!(Certificate::parse(&PEM.replace('\n', "\r\n")).unwrap(), certificate);
        assert!(Certificate::parse(&format!("{PEM}{PEM}")).is_ok());
    }

    #[test]
    fn what_is_no_certificate_is_refused_without_repeating_it() {
        for wrong in ["", "MIIB", "!!", "-----BEGIN CERTIFICATE-----", &PEM.replace("MIIB", "M I!")] {
            assert!(
                Certificate::parse(wrong).unwrap_err().message.starts_with("this is no certificate"),
                "{wrong}"
            );
        }
        let key = PEM.replace("CERTIFICATE", "PRIVATE KEY");
        let fault = Certificate::parse(&key).unwrap_err();
        assert_eq!(fault.message, "this holds a private key");
        assert!(!fault.hint.contains("MIIB"));
    }
}
