//! Fetching: mirrors, digests, what an earlier attempt has left.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::agent::Node;
use crate::metadata::well;
use crate::server::{Authority, Proxy, Reply, Server};

pub(crate) fn digest(content: &[u8]) -> String {
    Sha256::digest(content).iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

fn content() -> Vec<u8> {
    (0..300_000_u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
}

fn action(urls: &[String], content: &[u8]) -> Value {
    json!({
        "do": "fetch", "urls": urls, "sha256": digest(content), "path": "/opt/tool", "mode": "0755",
        "owner": "root:root", "unpack": "no",
    })
}

fn node(urls: &[String], content: &[u8]) -> Node {
    Node::new(&[("fetch", action(urls, content))])
}

fn left(node: &Node) -> Vec<String> {
    let folder = std::fs::read_dir(node.path("/var/lib/bringup/fetch"));
    folder.unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_file_is_fetched_once() {
    let whole = content();
    let server = Server::http({
        let whole = whole.clone();
        move |asked| Reply::file(asked, &whole)
    });
    let fetching = node(&[server.url("/tool?X-Amz-Signature=hidden")], &whole);
    let run = fetching.up();
    assert!(run.well(), "{}", run.said());
    assert!(fetching.read("/opt/tool").unwrap() == whole);
    assert_eq!(mode(&fetching), 0o755);
    assert_eq!(left(&fetching), [""; 0]);
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn a_file_that_is_right_is_not_fetched_and_its_mode_is_mended() {
    let node = node(&["http://127.0.0.1:9/tool".to_owned()], b"tool");
    node.write("/opt/tool", "tool");
    std::fs::set_permissions(node.path("/opt/tool"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let run = node.up();
    assert!(run.well(), "{}", run.said());
    assert_eq!(mode(&node), 0o755);
}

fn mode(node: &Node) -> u32 {
    std::fs::metadata(node.path("/opt/tool")).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_fetch_that_was_cut_off_goes_on_where_it_was() {
    let whole = content();
    let server = Server::http({
        let whole = whole.clone();
        move |asked| {
            let cut = (!asked.headers.contains_key("range")).then_some(500_000);
            Reply { cut, ..Reply::file(asked, &whole) }
        }
    });
    let node = node(&[server.url("/tool")], &whole);
    let run = node.up();
    assert_eq!(run.kind, "transient", "{}", run.said());
    assert_eq!(node.read("/opt/tool"), None);
    let run = node.up();
    assert!(run.well(), "{}", run.said());
    assert!(node.read("/opt/tool").unwrap() == whole);
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[1].header("range"), "bytes=500000-");
}

#[test]
fn what_is_left_of_something_else_is_begun_anew() {
    let whole = content();
    for (name, left, answers) in [
        ("other bytes", vec![b'x'; 1000], true),
        ("longer than the whole", vec![b'x'; 2_000_000], true),
        ("no ranges", whole[..1000].to_vec(), false),
    ] {
        let server = Server::http({
            let whole = whole.clone();
            move |asked| if answers { Reply::file(asked, &whole) } else { Reply::new(200, whole.clone()) }
        });
        let node = node(&[server.url("/tool")], &whole);
        node.write(&format!("/var/lib/bringup/fetch/{}", digest(&whole)), left);
        let run = node.up();
        assert!(run.well(), "{name}: {}", run.said());
        assert!(node.read("/opt/tool").unwrap() == whole, "{name}");
    }
}

#[test]
fn a_whole_part_is_published_without_asking_anybody() {
    let whole = content();
    let node = node(&["http://127.0.0.1:9/tool".to_owned()], &whole);
    node.write(&format!("/var/lib/bringup/fetch/{}", digest(&whole)), &whole);
    let run = node.up();
    assert!(run.well(), "{}", run.said());
    assert!(node.read("/opt/tool").unwrap() == whole);
}

#[test]
fn mirrors_are_tried_in_order() {
    let whole = content();
    let server = Server::http({
        let whole = whole.clone();
        move |asked| match asked.path.as_str() {
            "/gone" => Reply::new(404, ""),
            "/other" => Reply::new(200, "something else"),
            "/moved" => Reply { headers: vec![("location", "tool?x=1".to_owned())], ..Reply::new(302, "") },
            _ => Reply::file(asked, &whole),
        }
    });
    let urls = ["/gone", "/other", "/moved"].map(|path| server.url(path));
    let node = node(&urls, &whole);
    let run = node.up();
    assert!(run.well(), "{}", run.said());
    assert!(node.read("/opt/tool").unwrap() == whole);
    let paths: Vec<String> = server.asked().iter().map(|asked| asked.path.clone()).collect();
    assert_eq!(paths, ["/gone", "/other", "/moved", "/tool?x=1"]);
}

#[test]
fn failures_are_told_apart_and_nothing_is_published() {
    let whole = content();
    let server = Server::http(|asked| match asked.path.as_str() {
        "/gone" => Reply::new(404, ""),
        "/forbidden?secret=hidden" => Reply::new(403, ""),
        "/busy" => Reply::new(503, ""),
        "/circle" => Reply { headers: vec![("location", "/circle".to_owned())], ..Reply::new(301, "") },
        _ => Reply::new(200, "something else"),
    });
    let away = "http://127.0.0.1:9/tool".to_owned();
    let file = "file:///mnt/tool".to_owned();
    let at = |path: &str| server.url(path);
    for (urls, kind, said) in [
        (vec![at("/gone"), at("/gone")], "permanent", "answered with 404"),
        (vec![at("/other"), at("/gone")], "permanent", "has another digest"),
        (vec![at("/circle")], "permanent", "in circles"),
        (vec!["ftp://a.example/tool".to_owned()], "permanent", "cannot be fetched"),
        (vec![at("/forbidden?secret=hidden")], "operator", "answered with 403"),
        (vec![file], "operator", "`/mnt/tool` cannot be read"),
        (vec![at("/gone"), at("/busy")], "transient", "answered with 503"),
        (vec![at("/other"), away], "transient", "connection refused"),
    ] {
        let node = node(&urls, &whole);
        node.write("/opt/tool", "the old one");
        let run = node.up();
        assert_eq!(run.kind, kind, "{urls:?}: {}", run.said());
        assert!(run.why().contains(said), "{}", run.why());
        assert!(!format!("{}{}", run.said(), run.why()).contains("hidden"), "{}", run.said());
        assert_eq!(node.read("/opt/tool").unwrap(), b"the old one");
    }
}

#[test]
fn a_file_of_the_machine_itself_is_copied() {
    let node = node(&["file:///mnt/tool".to_owned()], b"tool");
    node.write("/mnt/tool", "tool");
    assert!(node.up().well());
    assert_eq!(node.read("/opt/tool").unwrap(), b"tool");
    assert_eq!(node.read("/mnt/tool").unwrap(), b"tool");
}

#[test]
fn servers_are_trusted_by_the_authorities_of_the_document() {
    let (authority, other) = (Authority::new(), Authority::new());
    let server = Server::https(&authority, &["127.0.0.1"], |_| Reply::new(200, "tool"));
    let url = format!("https://{}/tool", server.address);
    let trusting = node(std::slice::from_ref(&url), b"tool")
        .set("certificateAuthorities", json!([other.pem, authority.pem]));
    let run = trusting.up();
    assert!(run.well(), "{}", run.said());
    let doubting = node(&[url], b"tool").set("certificateAuthorities", json!([other.pem]));
    let run = doubting.up();
    assert_eq!(run.kind, "operator");
    assert!(
        run.why().contains("not trusted") && run.fix().contains("`certificateAuthorities`"),
        "{}",
        run.why()
    );
    let named = Server::https(&authority, &["elsewhere.example"], |_| Reply::new(200, "tool"));
    let url = format!("https://{}/tool", named.address);
    let run = node(&[url], b"tool").set("certificateAuthorities", json!([authority.pem])).up();
    assert!(run.why().contains("for another name"), "{}", run.why());
}

#[test]
fn a_proxy_leads_to_hosts_that_only_it_knows() {
    let authority = Authority::new();
    let server = Server::https(&authority, &["tools.example"], |_| Reply::new(200, "tool"));
    let proxy = Proxy::to(server.address);
    let node = node(&["https://tools.example/tool".to_owned()], b"tool")
        .set("certificateAuthorities", json!([authority.pem]))
        .set("environment", json!({"HTTPS_PROXY": format!("http://{}", proxy.address)}));
    let run = node.up();
    assert!(run.well(), "{}", run.said());
    assert_eq!(proxy.asked(), ["tools.example:443"]);
}

#[test]
fn a_proxy_that_cannot_be_reached_is_named_and_its_password_is_not() {
    for proxy in ["http://me:hidden@127.0.0.1:9/", "me:hid?den@127.0.0.1:9"] {
        let node = node(&["https://tools.example/tool".to_owned()], b"tool")
            .set("environment", json!({"HTTPS_PROXY": proxy}));
        let said = node.up().said();
        assert!(said.contains("https://tools.example/tool: through the proxy `127.0.0.1:9`: "), "{said}");
        assert!(!said.contains("hid"), "{said}");
    }
}

#[test]
fn an_object_of_s3_is_asked_for_with_the_roles_signature_where_it_is() {
    let authority = Authority::new();
    let names = ["plans.s3.eu-central-1.amazonaws.com", "plans.s3.eu-west-1.amazonaws.com"];
    let server = Server::https(&authority, &names, |asked| {
        if asked.header("host").contains("eu-central-1") {
            let body = "<Error><Code>PermanentRedirect</Code><Endpoint>plans.s3.eu-west-1.amazonaws.com</Endpoint></Error>";
            return Reply::new(301, body);
        }
        Reply::file(asked, b"tool")
    });
    let proxy = Proxy::to(server.address);
    let metadata = Server::http(well);
    let node = node(&["s3://plans/a b/tool".to_owned()], b"tool")
        .metadata(metadata.url(""))
        .set("certificateAuthorities", json!([authority.pem]))
        .set("environment", json!({"https_proxy": proxy.address.to_string()}));
    node.write(&format!("/var/lib/bringup/fetch/{}", digest(b"tool")), "to");
    let run = node.up();
    assert!(run.well(), "{}", run.said());
    assert_eq!(node.read("/opt/tool").unwrap(), b"tool");
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[1].path, "/a%20b/tool");
    assert_eq!(asked[1].header("range"), "bytes=2-");
    assert!(asked[1].header("authorization").starts_with("AWS4-HMAC-SHA256 Credential=ASIAEXAMPLE/"));
    assert_eq!(asked[1].header("x-amz-security-token"), "hiddentoken");
    assert_eq!(proxy.asked().len(), 2);
}
