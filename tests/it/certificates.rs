//! Certificates of the tests' own.

use rcgen::{BasicConstraints, CertificateParams, DnType, DnValue, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use rustls::pki_types::CertificateDer;

/// A certificate authority.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its own certificate.
    pub pem: String,
}

/// A certificate with its key, both PEM.
#[derive(Clone)]
pub struct Pair {
    pub certificate: String,
    pub key: String,
    pub der: CertificateDer<'static>,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let params = authority(name);
        let pem = params.self_signed(&key).unwrap().pem();
        Authority { issuer: Issuer::new(params, key), pem }
    }

    /// A certificate for a server of these names and addresses.
    pub fn server(&self, names: &[&str]) -> Pair {
        let names: Vec<_> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.signed(params)
    }

    /// A certificate for a client: a user of this name, in these groups.
    pub fn client(&self, name: &str, groups: &[&str]) -> Pair {
        self.signed(client(name, groups))
    }

    fn signed(&self, params: CertificateParams) -> Pair {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Pair { certificate: certificate.pem(), key: key.serialize_pem(), der: certificate.der().clone() }
    }
}

fn authority(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    // As Go writes names; issuers and subjects are compared byte by byte.
    params.distinguished_name.push(DnType::CommonName, DnValue::PrintableString(name.try_into().unwrap()));
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}

fn client(name: &str, groups: &[&str]) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    for group in groups {
        params.distinguished_name.push(DnType::OrganizationName, *group);
    }
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    params
}
