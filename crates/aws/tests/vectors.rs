//! AWS' own test vectors of Signature Version 4, and values that botocore gives for whole requests.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use bringup_aws::sign::{Draft, Payload, Signer};
use bringup_aws::signal::{LifecycleAction, Outcome, StackSignal};
use bringup_aws::{Credentials, Method, Moment, Request, Secret, store, token};

fn credentials(token: Option<&str>) -> Credentials {
    Credentials {
        access_key_id: "AKIDEXAMPLE".to_owned(),
        secret_access_key: Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned()),
        session_token: token.map(|token| Secret::new(token.to_owned())),
        expires: None,
    }
}

struct Vector {
    name: &'static str,
    method: Method,
    path: &'static str,
    query: &'static [(&'static str, &'static str)],
    headers: &'static [(&'static str, &'static str)],
    token: Option<&'static str>,
    body: &'static str,
    header_signature: &'static str,
    query_signature: &'static str,
}

const GET: Vector = Vector {
    name: "get-vanilla",
    method: Method::Get,
    path: "/",
    query: &[],
    headers: &[],
    token: None,
    body: "",
    header_signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
    query_signature: "e93c787ed7f371d5c6b165c1b38ede9550f4dce4144713e844b25b7192d3865d",
};

const POST: Vector = Vector {
    name: "post-vanilla",
    method: Method::Post,
    header_signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
    query_signature: "2ce6e6d2e0cf2f9d1b55fafec88cd20574c31dc2e7631979f71ba2310083e95b",
    ..GET
};

const UNRESERVED: &str = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const LONG_TOKEN: &str = "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";

/// The published suite (also in awslabs/aws-c-auth), but for what none of our requests has: a header twice, one over
/// several lines, dots in paths of services other than S3.
const VECTORS: &[Vector] = &[
    GET,
    POST,
    Vector {
        name: "get-vanilla-query-order-key-case",
        query: &[("Param2", "value2"), ("Param1", "value1")],
        header_signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
        query_signature: "86012e2c9ad4d77369f5d81c11f75158aae4f895a085212cc6d3f923d300bed5",
        ..GET
    },
    Vector {
        name: "get-vanilla-query-order-encoded",
        query: &[("Param-3", "Value3"), ("Param", "Value2"), ("ሴ", "Value1")],
        header_signature: "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac",
        query_signature: "c5f1848ceec943ac2ca68ee720460c23aaae30a2300586597ada94c4a65e4787",
        ..GET
    },
    Vector {
        name: "get-vanilla-query-unreserved",
        query: &[(UNRESERVED, UNRESERVED)],
        header_signature: "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197",
        query_signature: "8e76a88a7433637b12778d5592799b29ad21ecd6cf6325051c21d86f0acda2bf",
        ..GET
    },
    Vector {
        name: "get-vanilla-utf8-query",
        query: &[("ሴ", "bar")],
        header_signature: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04",
        query_signature: "0bdd809b1519ac4f0c1dc3540e2cc46bd0c7f778eda408b2ebf3b913d21ff600",
        ..GET
    },
    Vector {
        name: "get-unreserved",
        path: "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        header_signature: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f",
        query_signature: "95968482db1b9e0fadef6efc1bd24689f77c77d9ef56919c96a28cc92e0d6005",
        ..GET
    },
    Vector {
        name: "get-utf8",
        path: "/ሴ",
        header_signature: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85",
        query_signature: "10eae3f14a260bd3911cc6d008d3c576d143b05b62f09782a7a4b37f52178e44",
        ..GET
    },
    Vector {
        name: "get-space-unnormalized",
        path: "/example space/",
        header_signature: "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741",
        query_signature: "7a1f416954786484c9824d93c1f26ef64acb9b1b6c9154d08c9f07d0e394abf6",
        ..GET
    },
    Vector {
        name: "get-slash-pointless-dot-unnormalized",
        path: "/./example",
        header_signature: "beb03f223f7deae4146464f06e29eebbee9c8afbe15c290cf07aa8b119e14cff",
        query_signature: "72b11f16d9530b18204bfb71f2d6ab085894c0ed8d352730a6e76234c58b5e10",
        ..GET
    },
    Vector {
        name: "get-slashes-unnormalized",
        path: "//example//",
        header_signature: "87cca117541a147f6df867677d98a7d80dff226d2bfca9e4ffa899665623c7e5",
        query_signature: "822a5a9ba28072c5ab2bb4a6307d0c88276d40e49fec6b724c03fb4d4ba60fc2",
        ..GET
    },
    Vector {
        name: "get-relative-unnormalized",
        path: "/example/..",
        header_signature: "eca7ead57bb5aa5c8e28007acd4ff04e1ff9a0ff3b237ec1554a184887ff9282",
        query_signature: "cbcb213b928a077e43275df47b500f1dfaa864ab3f5a18f6b95f4ff0938167ee",
        ..GET
    },
    Vector {
        name: "get-header-value-trim",
        headers: &[("my-header1", " value1"), ("my-header2", " \"a   b   c\"")],
        header_signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
        query_signature: "e7bb0fd515e125e1aec2ecc4c0c17484fb06f6846b927c35e46005dd3df3acd4",
        ..GET
    },
    Vector {
        name: "get-vanilla-with-session-token",
        token: Some("6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267"),
        header_signature: "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8",
        query_signature: "7ff2b50b376cb4d151970630573d6291dc128cc5c2a12ffb237f73cc53f67b6c",
        ..GET
    },
    Vector {
        name: "post-sts-header-before",
        token: Some(LONG_TOKEN),
        header_signature: "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead",
        query_signature: "46c2e3c63c1dbe7d39f8ada16fe7f001c1f56c5791441565323677f96308871c",
        ..POST
    },
    Vector {
        name: "post-header-key-sort",
        headers: &[("my-header1", "value1")],
        header_signature: "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
        query_signature: "c09d07e0d55871f10f2a6d350d994acf6825a3cae70673d7def55616e6119dd7",
        ..POST
    },
    Vector {
        name: "post-header-value-case",
        headers: &[("my-header1", "VALUE1")],
        header_signature: "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d",
        query_signature: "0698bc9e4f7f9139065ba2909c0e99da257e8e2a42492a097bcd46d792391fed",
        ..POST
    },
    Vector {
        name: "post-vanilla-query",
        query: &[("Param1", "value1")],
        header_signature: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11",
        query_signature: "a9ef26247f293bffe40eeff86a0480ba8c14d31503b2e0c3399e3a16bf1a3682",
        ..POST
    },
];

/// These sign the hash of the body as a header, too, though only when the signature is in the headers.
const WITH_BODY: &[Vector] = &[
    Vector {
        name: "post-x-www-form-urlencoded",
        headers: &[("content-length", "13"), ("content-type", "application/x-www-form-urlencoded")],
        body: "Param1=value1",
        header_signature: "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b",
        query_signature: "89a40deed0f26f9461242825a082d2222717248abc7ab41f552ad84a94ad46e9",
        ..POST
    },
    Vector {
        name: "post-x-www-form-urlencoded-parameters",
        headers: &[
            ("content-length", "13"),
            ("content-type", "application/x-www-form-urlencoded; charset=utf-8"),
        ],
        body: "Param1=value1",
        header_signature: "328d1b9eaadca9f5818ef05e8392801e091653bafec24fcab71e7344e7f51422",
        query_signature: "0dbeb9b026c7b6675f266b8427efec9b4fa8b1f6ef1477d717aea231106eab4d",
        ..POST
    },
];

impl Vector {
    fn draft(&self) -> Draft {
        Draft {
            method: self.method,
            path: self.path.to_owned(),
            query: self.query.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            headers: self.headers.iter().map(|(name, value)| (*name, (*value).into())).collect(),
            body: self.body.into(),
            ..Draft::get("example.amazonaws.com")
        }
    }

    fn check(&self, in_headers: Draft) {
        let credentials = credentials(self.token);
        let at = Moment::from_unix(1_440_938_160);
        let signer = Signer { credentials: &credentials, region: "us-east-1", service: "service", at };
        let signed = signer.signed(in_headers);
        assert!(signed.header("authorization").unwrap().ends_with(self.header_signature), "{}", self.name);
        let presigned = signer.presigned(self.draft(), 3600);
        assert!(presigned.ends_with(self.query_signature), "{}", self.name);
    }
}

#[test]
fn the_published_vectors() {
    for vector in VECTORS {
        vector.check(vector.draft());
    }
}

#[test]
fn the_published_vectors_with_a_body() {
    for vector in WITH_BODY {
        let mut draft = vector.draft();
        let hash = "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e";
        draft.headers.push(("x-amz-content-sha256", hash.to_owned()));
        vector.check(draft);
    }
}

// From here on: botocore 1.44.0 (and awscli 1.46.2 for the token), its clock fixed at 2026-03-04T05:06:07Z, with the
// credentials above and this token. What it would send was caught in the event `before-send`; S3's client had
// `response_checksum_validation='when_required'`.

const TOKEN: &str = "IQoJb3JpZ2luX2VjE//token+with/slashes==";

fn now() -> Moment {
    Moment::from_unix(1_772_600_767)
}

fn assert_authorization(request: &Request, service: &str, headers: &str, signature: &str) {
    assert_eq!(
        request.header("authorization").unwrap(),
        format!(
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260304/{service}/aws4_request, SignedHeaders={headers}, Signature={signature}"
        )
    );
}

#[test]
fn the_token_is_that_of_aws_eks_get_token() {
    let token = token::bearer("demo", "eu-central-1", &credentials(Some(TOKEN)), now());
    assert_eq!(
        token.bearer.expose(),
        "k8s-aws-v1.aHR0cHM6Ly9zdHMuZXUtY2VudHJhbC0xLmFtYXpvbmF3cy5jb20vP0FjdGlvbj1HZXRDYWxsZXJJZGVudGl0eSZWZXJzaW9uPTIwMTEtMDYtMTUmWC1BbXotQWxnb3JpdGhtPUFXUzQtSE1BQy1TSEEyNTYmWC1BbXotQ3JlZGVudGlhbD1BS0lERVhBTVBMRSUyRjIwMjYwMzA0JTJGZXUtY2VudHJhbC0xJTJGc3RzJTJGYXdzNF9yZXF1ZXN0JlgtQW16LURhdGU9MjAyNjAzMDRUMDUwNjA3WiZYLUFtei1FeHBpcmVzPTYwJlgtQW16LVNpZ25lZEhlYWRlcnM9aG9zdCUzQngtazhzLWF3cy1pZCZYLUFtei1TZWN1cml0eS1Ub2tlbj1JUW9KYjNKcFoybHVYMlZqRSUyRiUyRnRva2VuJTJCd2l0aCUyRnNsYXNoZXMlM0QlM0QmWC1BbXotU2lnbmF0dXJlPThlMzVlNDI0NDBlMzk3MjA4ZjNkODQ3NWFlYzRiMzdkMzM4NmI1NzliMGFmOTU1ZmZiZDgwZDUzMDAxNzYxZTM"
    );
    assert_eq!(token.expires.rfc3339(), "2026-03-04T05:20:07Z");
    let china = token::bearer("demo", "cn-north-1", &credentials(None), now());
    assert_eq!(
        china.bearer.expose(),
        "k8s-aws-v1.aHR0cHM6Ly9zdHMuY24tbm9ydGgtMS5hbWF6b25hd3MuY29tLmNuLz9BY3Rpb249R2V0Q2FsbGVySWRlbnRpdHkmVmVyc2lvbj0yMDExLTA2LTE1JlgtQW16LUFsZ29yaXRobT1BV1M0LUhNQUMtU0hBMjU2JlgtQW16LUNyZWRlbnRpYWw9QUtJREVYQU1QTEUlMkYyMDI2MDMwNCUyRmNuLW5vcnRoLTElMkZzdHMlMkZhd3M0X3JlcXVlc3QmWC1BbXotRGF0ZT0yMDI2MDMwNFQwNTA2MDdaJlgtQW16LUV4cGlyZXM9NjAmWC1BbXotU2lnbmVkSGVhZGVycz1ob3N0JTNCeC1rOHMtYXdzLWlkJlgtQW16LVNpZ25hdHVyZT04ZTgzM2I5MGM1YmY3NzJiNGM0ODZkYTNhNzcxZWVlNzY3MTk0Mjg3ZDlkYjFhYjIyODY1ZWJlMGE3ZDliODNl"
    );
}

#[test]
fn forms_are_those_of_botocore() {
    let credentials = credentials(Some(TOKEN));
    let headers = "content-type;host;x-amz-date;x-amz-security-token";

    let role = "arn:aws:iam::123456789012:role/nodes";
    let request = token::assume_role(role, "eu-central-1", &credentials, now());
    assert_eq!(request.url, "https://sts.eu-central-1.amazonaws.com/");
    assert_eq!(
        String::from_utf8(request.body.clone()).unwrap(),
        "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Fnodes&RoleSessionName=bringup-node"
    );
    assert_authorization(
        &request,
        "eu-central-1/sts",
        headers,
        "fa49bf49a69199fea15dfac3fc4b00052e0abf7a3a58c3d26e136c595e349ea7",
    );

    let signal = StackSignal {
        region: "eu-central-1",
        stack: "demo-workers",
        resource: "Group",
        instance: "i-0123456789abcdef0",
        outcome: Outcome::Success,
    };
    let request = signal.with_credentials(&credentials, now());
    assert_eq!(request.url, "https://cloudformation.eu-central-1.amazonaws.com/");
    assert_authorization(
        &request,
        "eu-central-1/cloudformation",
        headers,
        "5a3e6b2094ff7118443c598549c9a136cd00f2f084f1d05da8b2e0ca4c0651b2",
    );

    let action = LifecycleAction {
        region: "eu-central-1",
        group: "demo-workers",
        hook: "launching",
        instance: "i-0123456789abcdef0",
        outcome: Outcome::Success,
    };
    let request = action.with_credentials(&credentials, now());
    assert_eq!(request.url, "https://autoscaling.eu-central-1.amazonaws.com/");
    assert_authorization(
        &request,
        "eu-central-1/autoscaling",
        headers,
        "a807100fd9f3aa6241f2e9c39e55e4a346d7be682f592ff2f07ed83c9b1c02c0",
    );
}

/// botocore puts blanks into its JSON: here its `SigV4Auth` was given the body without them.
#[test]
fn json_is_signed_as_botocore_signs_it() {
    let credentials = credentials(Some(TOKEN));
    let headers = "content-type;host;x-amz-date;x-amz-security-token;x-amz-target";
    let request = store::parameter("/demo/token", "eu-central-1", &credentials, now());
    assert_eq!(request.header("x-amz-target"), Some("AmazonSSM.GetParameter"));
    assert_eq!(request.body, br#"{"Name":"/demo/token","WithDecryption":true}"#);
    assert_authorization(
        &request,
        "eu-central-1/ssm",
        headers,
        "8b77be9ecf60eb5102fa84d118719b96d06b7628eabd2d8d2d8d921d0e178816",
    );
    let request = store::secret("demo/token", "eu-central-1", &credentials, now());
    assert_authorization(
        &request,
        "eu-central-1/secretsmanager",
        headers,
        "7e1c98665420d7d663044c16548ff6f4f1ba9e71e2a8d8bb207b1e1ff4c0d434",
    );
}

#[test]
fn objects_are_read_as_botocore_reads_them() {
    let session = credentials(Some(TOKEN));
    let object = |address| store::Object::parse(address).unwrap();

    let request = object("s3://artefacts/plans/a b+c/ü=1.json").get("eu-central-1", 0, &session, now());
    assert_eq!(
        request.url,
        "https://artefacts.s3.eu-central-1.amazonaws.com/plans/a%20b%2Bc/%C3%BC%3D1.json"
    );
    assert_authorization(
        &request,
        "eu-central-1/s3",
        "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
        "e395258077835130c7cf6a4fb9886913946403c8e37390dd627a711e0b632b76",
    );

    let request = object("s3://my.artefacts/agent/bringup-node").get("eu-central-1", 1024, &session, now());
    assert_eq!(request.url, "https://s3.eu-central-1.amazonaws.com/my.artefacts/agent/bringup-node");
    assert_eq!(request.header("range"), Some("bytes=1024-"));
    assert_authorization(
        &request,
        "eu-central-1/s3",
        "host;range;x-amz-content-sha256;x-amz-date;x-amz-security-token",
        "a36ede5aed5ebd231c0560332f170410a02ed2ec75967169b13844d14b1e5cab",
    );

    let request = object("s3://artefacts/./a/../b//c~").get("cn-north-1", 0, &credentials(None), now());
    assert_eq!(request.url, "https://artefacts.s3.cn-north-1.amazonaws.com.cn/./a/../b//c~");
    assert_authorization(
        &request,
        "cn-north-1/s3",
        "host;x-amz-content-sha256;x-amz-date",
        "fe624a60f5e43732f30eb02bcbe29e62ce733486ae490537751341edffc35588",
    );
}

/// Signed by the `S3SigV4Auth` of botocore 1.43.11, the body with it.
#[test]
fn an_object_is_made_only_where_there_is_none() {
    let object = store::Object::parse("s3://artefacts/harbour/first").unwrap();
    let session = credentials(Some(TOKEN));
    let request = object.put_if_absent("eu-central-1", b"i-0123456789abcdef0\n", &session, now());
    assert_eq!(request.method.as_str(), "PUT");
    assert_eq!(request.url, "https://artefacts.s3.eu-central-1.amazonaws.com/harbour/first");
    assert_eq!(request.header("if-none-match"), Some("*"));
    assert_eq!(request.body, b"i-0123456789abcdef0\n");
    assert_authorization(
        &request,
        "eu-central-1/s3",
        "host;if-none-match;x-amz-content-sha256;x-amz-date;x-amz-security-token",
        "df6f1d8b229f30b049cd3e7cd33ec25bd4e5a5e2a06401fb4e53b3ecd154c1c1",
    );
}

#[test]
fn a_presigned_object_is_that_of_botocore() {
    let credentials = credentials(Some(TOKEN));
    let signer = Signer { credentials: &credentials, region: "eu-central-1", service: "s3", at: now() };
    let draft = Draft {
        path: "/a b".to_owned(),
        payload: Payload::Unsigned,
        ..Draft::get("artefacts.s3.amazonaws.com")
    };
    assert_eq!(
        signer.presigned(draft, 300),
        "https://artefacts.s3.amazonaws.com/a%20b?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20260304%2Feu-central-1%2Fs3%2Faws4_request&X-Amz-Date=20260304T050607Z&X-Amz-Expires=300&X-Amz-SignedHeaders=host&X-Amz-Security-Token=IQoJb3JpZ2luX2VjE%2F%2Ftoken%2Bwith%2Fslashes%3D%3D&X-Amz-Signature=0edd1c4466a27e3546bdad6a721c0a1bcd46ccbeeaec92272cbf5adbd6bb76a5"
    );
}

/// A key of more than one block: the value is Python's `hmac` over the same derivation.
#[test]
fn a_long_secret_is_hashed_first() {
    let credentials = Credentials { secret_access_key: Secret::new("k".repeat(80)), ..credentials(None) };
    let signer = Signer {
        credentials: &credentials,
        region: "us-east-1",
        service: "service",
        at: Moment::from_unix(1_440_938_160),
    };
    let request = signer.signed(Draft::get("example.amazonaws.com"));
    assert!(
        request
            .header("authorization")
            .unwrap()
            .ends_with("97459b82bdd95282f4c73ce8af4cd583cf1958fc01d652b02d260d8fe1f5661c")
    );
}
