//! The metadata service: what is asked, and what every kind of answer leads to.
#![expect(clippy::panic, reason = "a test stops at the first surprise")]

use bringup_aws::Response;
use bringup_aws::metadata::{
    self, Answer, IdentityDocument, MetadataFault, Passing, Question, SessionToken, Tried,
};
use proptest::prelude::*;

fn tried(status: u16, body: &str) -> Tried<'_> {
    Tried::Response(Response { status, body: body.as_bytes() })
}

fn session() -> SessionToken {
    match metadata::token(tried(200, "AQAEAHiddenToken==")) {
        Answer::Value(token) => token,
        other => panic!("{other:?}"),
    }
}

/// The form of EC2's user guide, with other values.
const DOCUMENT: &str = r#"{
    "devpayProductCodes" : null,
    "marketplaceProductCodes" : [ "1abc2defghijklm3nopqrs4tu" ],
    "availabilityZone" : "us-west-2b",
    "privateIp" : "10.158.112.84",
    "version" : "2017-09-30",
    "instanceId" : "i-1234567890abcdef0",
    "billingProducts" : null,
    "instanceType" : "m5.metal-24xl",
    "accountId" : "123456789012",
    "imageId" : "ami-5fb8c835",
    "pendingTime" : "2016-11-19T16:32:11Z",
    "architecture" : "x86_64",
    "kernelId" : null,
    "ramdiskId" : null,
    "region" : "us-west-2"
}"#;

#[test]
fn questions_have_their_places() {
    let token = session();
    let request = metadata::token_request(metadata::ADDRESS, 99_999);
    assert_eq!(request.method.as_str(), "PUT");
    assert_eq!(request.url, "http://169.254.169.254/latest/api/token");
    assert_eq!(request.header("x-aws-ec2-metadata-token-ttl-seconds"), Some("21600"));

    let request = metadata::identity_document().request(metadata::ADDRESS, &token);
    assert_eq!(request.method.as_str(), "GET");
    assert_eq!(request.header("x-aws-ec2-metadata-token"), Some("AQAEAHiddenToken=="));
    assert!(!format!("{request:?} {token:?}").contains("Hidden"));

    let base = "http://[fd00:ec2::254]";
    let url = |request: bringup_aws::Request| request.url;
    for (found, path) in [
        (url(metadata::identity_document().request(base, &token)), "dynamic/instance-identity/document"),
        (url(metadata::identity_signature().request(base, &token)), "dynamic/instance-identity/signature"),
        (url(metadata::lifecycle().request(base, &token)), "meta-data/instance-life-cycle"),
        (url(metadata::hostname().request(base, &token)), "meta-data/hostname"),
        (url(metadata::local_ipv4().request(base, &token)), "meta-data/local-ipv4"),
        (url(metadata::ipv6().request(base, &token)), "meta-data/ipv6"),
        (url(metadata::mac().request(base, &token)), "meta-data/mac"),
        (
            url(metadata::vpc_ipv4_cidrs("02:29:96:8f:6a:2d").request(base, &token)),
            "meta-data/network/interfaces/macs/02:29:96:8f:6a:2d/vpc-ipv4-cidr-blocks",
        ),
        (url(metadata::tag_names().request(base, &token)), "meta-data/tags/instance"),
        (url(metadata::tag("a/../b?").request(base, &token)), "meta-data/tags/instance/a%2F..%2Fb%3F"),
        (url(metadata::role_name().request(base, &token)), "meta-data/iam/security-credentials/"),
        (
            url(metadata::role_credentials("nodes@x").request(base, &token)),
            "meta-data/iam/security-credentials/nodes@x",
        ),
    ] {
        assert_eq!(found, format!("{}/latest/{path}", metadata::ADDRESS_IPV6));
    }
}

#[test]
fn the_identity_document_is_read() {
    let answer = metadata::identity_document().judge(tried(200, DOCUMENT), false);
    let expected = IdentityDocument {
        instance_id: "i-1234567890abcdef0".to_owned(),
        instance_type: "m5.metal-24xl".to_owned(),
        region: "us-west-2".to_owned(),
        zone: "us-west-2b".to_owned(),
        address: Some([10, 158, 112, 84].into()),
        text: DOCUMENT.to_owned(),
    };
    assert_eq!(answer, Answer::Value(expected));
}

#[test]
fn a_document_that_is_not_sound_is_garbage() {
    for (from, to) in [
        ("i-1234567890abcdef0", "i-12345"),
        ("i-1234567890abcdef0", "../../etc/passwd"),
        ("i-1234567890abcdef0", "i-1234567890ABCDEF0"),
        ("m5.metal-24xl", "m5"),
        ("m5.metal-24xl", "m5.large\\nx"),
        ("m5.metal-24xl", "m5.large.x"),
        ("us-west-2b", "eu-west-2b"),
        ("us-west-2b", "us-west-2"),
        ("us-west-2b", "us-west-2 b"),
        ("\"us-west-2\"", "\"us-west-2/\""),
        ("instanceType", "other"),
        ("}", ""),
    ] {
        let document = DOCUMENT.replace(from, to);
        let answer = metadata::identity_document().judge(tried(200, &document), false);
        assert_eq!(answer, Answer::Transient(Passing::Garbage { what: "the identity document" }), "{to}");
    }
    let address = |document: &str| match metadata::identity_document().judge(tried(200, document), false) {
        Answer::Value(document) => document.address,
        other => panic!("{other:?}"),
    };
    // What nobody needs may be of any kind, or missing.
    for (from, to) in
        [("\"10.158.112.84\"", "null"), ("10.158.112.84", "10.158.112"), ("\"privateIp\"", "\"other\"")]
    {
        assert_eq!(address(&DOCUMENT.replace(from, to)), None, "{to}");
    }
    for (from, to) in [
        ("123456789012", "12345678901x"),
        ("\"123456789012\"", "123456789012"),
        ("\"accountId\"", "\"other\""),
        ("\"architecture\"", "\"more\""),
    ] {
        assert!(address(&DOCUMENT.replace(from, to)).is_some(), "{to}");
    }
    // A local zone and a wavelength zone; the id of an old instance.
    for (from, to) in [
        ("us-west-2b", "us-west-2-lax-1a"),
        ("us-west-2b", "us-west-2-wl1-den-wlz-1"),
        ("i-1234567890abcdef0", "i-1a2b3c4d"),
        ("m5.metal-24xl", "u7in-16tb.224xlarge"),
    ] {
        address(&DOCUMENT.replace(from, to));
    }
}

/// What a body is worth as an answer to this question.
fn read<T>(question: &Question<T>, body: &str) -> Option<T> {
    match question.judge(tried(200, body), false) {
        Answer::Value(value) => Some(value),
        _ => None,
    }
}

#[test]
fn texts_are_read_strictly() {
    for (body, value) in [
        ("spot", Some("spot")),
        ("on-demand\n", Some("on-demand")),
        ("capacity-block", Some("capacity-block")),
        ("", None),
        ("Spot", None),
        ("<html>", None),
        ("a b", None),
    ] {
        assert_eq!(read(&metadata::lifecycle(), body).as_deref(), value, "{body}");
    }
    for (body, value) in [
        ("ip-10-0-0-1.eu-central-1.compute.internal", Some("ip-10-0-0-1.eu-central-1.compute.internal")),
        ("IP-10-0-0-1.Example.COM\n", Some("ip-10-0-0-1.example.com")),
        ("i-0123456789abcdef0.ec2.internal", Some("i-0123456789abcdef0.ec2.internal")),
        ("", None),
        ("-a.b", None),
        ("a-.b", None),
        ("a..b", None),
        ("a_b", None),
        ("a/b", None),
        ("\u{fc}", None),
    ] {
        assert_eq!(read(&metadata::hostname(), body).as_deref(), value, "{body}");
    }
    let mac = metadata::mac();
    assert_eq!(read(&mac, "02:29:96:8F:6a:2d\n").as_deref(), Some("02:29:96:8f:6a:2d"));
    assert_eq!(read(&mac, "02:29:96:8f:6a"), None);
    assert_eq!(read(&mac, "02:29:96:8f:6a:+d"), None);
    assert_eq!(read(&metadata::local_ipv4(), "10.0.0.1"), Some([10, 0, 0, 1].into()));
    assert_eq!(read(&metadata::local_ipv4(), "10.0.0.256"), None);
    assert_eq!(
        read(&metadata::ipv6(), "2600:1f14::1").map(|address| address.to_string()).as_deref(),
        Some("2600:1f14::1")
    );
    let cidrs = metadata::vpc_ipv4_cidrs("02:29:96:8f:6a:2d");
    assert_eq!(
        read(&cidrs, "10.0.0.0/16\n192.168.0.0/24"),
        Some(vec!["10.0.0.0/16".to_owned(), "192.168.0.0/24".to_owned()])
    );
    assert_eq!(read(&cidrs, "10.0.0.0/33"), None);
    assert_eq!(read(&cidrs, "2600::/56"), None);
    assert_eq!(read(&cidrs, "\n"), None);
    let cidrs = metadata::vpc_ipv6_cidrs("02:29:96:8f:6a:2d");
    assert_eq!(read(&cidrs, "2600:1f14::/56"), Some(vec!["2600:1f14::/56".to_owned()]));
    assert_eq!(
        read(&metadata::tag_names(), "Name\nkubernetes.io:x\n"),
        Some(vec!["Name".to_owned(), "kubernetes.io:x".to_owned()])
    );
    assert_eq!(read(&metadata::tag("a"), " b \u{fc} ").as_deref(), Some(" b \u{fc} "));
    assert_eq!(read(&metadata::tag("a"), "").as_deref(), Some(""));
    assert_eq!(read(&metadata::tag("a"), "b\u{1b}[0m"), None);
    assert_eq!(read(&metadata::role_name(), "eks-nodes\n").as_deref(), Some("eks-nodes"));
    assert_eq!(read(&metadata::role_name(), "../x"), None);
    let signature = metadata::identity_signature();
    assert_eq!(read(&signature, "AAEC\nAwQF\n").as_deref(), Some("AAECAwQF"));
    assert_eq!(read(&signature, "<html>"), None);
    assert_eq!(read(&metadata::lifecycle(), &" ".repeat(65 * 1024)), None);
}

#[test]
fn a_status_says_what_to_do() {
    let what = "the identity document";
    let judged = |status, renewed| metadata::identity_document().judge(tried(status, "x"), renewed);
    assert_eq!(judged(401, false), Answer::RenewToken);
    assert_eq!(judged(401, true), Answer::Permanent(MetadataFault::TokenRefused { what }));
    assert_eq!(judged(403, false), Answer::Permanent(MetadataFault::Forbidden));
    assert_eq!(judged(404, false), Answer::Permanent(MetadataFault::Missing { what }));
    assert_eq!(judged(400, false), Answer::Permanent(MetadataFault::Misunderstood { what, status: 400 }));
    assert_eq!(judged(429, false), Answer::Transient(Passing::Throttled { what }));
    for status in [500, 502, 503, 504, 408, 301, 204] {
        assert_eq!(judged(status, false), Answer::Transient(Passing::Unwell { what, status }));
    }
    assert_eq!(judged(200, false), Answer::Transient(Passing::Garbage { what }));
    let silence = metadata::identity_document().judge(Tried::Silence("timed out"), false);
    assert_eq!(silence, Answer::Transient(Passing::Silent { what, why: "timed out".to_owned() }));

    assert_eq!(metadata::lifecycle().judge(tried(404, ""), false), Answer::Absent);
    assert_eq!(metadata::ipv6().judge(tried(404, ""), false), Answer::Absent);
    assert_eq!(metadata::tag("x").judge(tried(404, ""), false), Answer::Absent);
    assert_eq!(metadata::role_name().judge(tried(404, ""), false), Answer::Absent);
    assert!(matches!(metadata::hostname().judge(tried(404, ""), false), Answer::Permanent(_)));
}

#[test]
fn without_a_token_nothing_is_asked() {
    let judged = |status| metadata::token(tried(status, "x y"));
    assert_eq!(judged(403), Answer::Permanent(MetadataFault::Forbidden));
    assert_eq!(judged(404), Answer::Permanent(MetadataFault::NoVersion2 { status: 404 }));
    assert_eq!(judged(405), Answer::Permanent(MetadataFault::NoVersion2 { status: 405 }));
    assert!(matches!(judged(400), Answer::Permanent(MetadataFault::Misunderstood { .. })));
    assert!(matches!(judged(401), Answer::Permanent(MetadataFault::Misunderstood { .. })));
    for status in [200, 429, 500, 503] {
        assert!(matches!(judged(status), Answer::Transient(_)), "{status}");
    }
    let silence = metadata::token(Tried::Silence("timed out"));
    let Answer::Transient(passing) = silence else { panic!("{silence:?}") };
    assert_eq!(passing.to_string(), "the metadata service gave no session token: timed out");
    assert!(passing.hint().contains("HttpPutResponseHopLimit"));
    assert!(MetadataFault::Forbidden.hint().contains("HttpEndpoint: enabled"));
}

#[test]
fn a_list_of_names_is_for_a_person_to_mend() {
    let answer = metadata::hostname().judge(tried(200, "ip-10-0-0-1.example.com example.org"), false);
    assert_eq!(answer, Answer::Permanent(MetadataFault::SeveralNames));
    let answer = metadata::hostname().judge(tried(200, "<html> <body>"), false);
    assert!(matches!(answer, Answer::Transient(_)));
}

#[test]
fn a_role_that_gives_nothing_is_for_a_person_to_mend() {
    let body = r#"{"Code":"AssumeRoleUnauthorizedAccess"}"#;
    let answer = metadata::role_credentials("nodes").judge(tried(200, body), false);
    let Answer::Permanent(fault) = answer else { panic!("{answer:?}") };
    assert_eq!(
        fault.to_string(),
        "the metadata service cannot get credentials of the instance's role: `AssumeRoleUnauthorizedAccess`"
    );
    assert!(fault.hint().contains("ec2.amazonaws.com"));
}

proptest! {
    #[test]
    fn any_bytes_can_be_judged(status in prop_oneof![Just(200_u16), any::<u16>()], body: Vec<u8>, renewed: bool) {
        let tried = Tried::Response(Response { status, body: &body });
        let _ = metadata::token(tried);
        let _ = metadata::identity_document().judge(tried, renewed);
        let _ = metadata::identity_signature().judge(tried, renewed);
        let _ = metadata::lifecycle().judge(tried, renewed);
        if let Answer::Value(name) = metadata::hostname().judge(tried, renewed) {
            prop_assert!(name.len() <= 253);
        }
        let _ = metadata::mac().judge(tried, renewed);
        let _ = metadata::vpc_ipv4_cidrs("").judge(tried, renewed);
        let _ = metadata::vpc_ipv6_cidrs("").judge(tried, renewed);
        let _ = metadata::tag_names().judge(tried, renewed);
        if let Answer::Value(value) = metadata::tag("x").judge(tried, renewed) {
            prop_assert!(!value.chars().any(char::is_control));
        }
        let _ = metadata::role_name().judge(tried, renewed);
        let _ = metadata::role_credentials("x").judge(tried, renewed);
    }
}
