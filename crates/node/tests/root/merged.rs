//! Settings that are laid over a file of the image.

use serde_json::{Value, json};

use crate::node::{Node, needs_root};
use crate::plans::{IMAGES, over_image};

const ORIGINAL: &str = r#"{"image": [1], "deep": {"theirs": 2, "ours": 9}}"#;

fn written(node: &Node) -> Value {
    serde_json::from_str(&node.read(IMAGES).unwrap()).unwrap()
}

#[test]
fn settings_are_laid_over_the_images_file_and_never_over_our_own() {
    needs_root();
    let node = Node::new(&over_image(r#"{"deep": {"extra": null}, "image": [], "first": 1}"#));
    node.put(IMAGES, ORIGINAL);
    let explained = node.run(&["explain"]);
    assert!(explained.output.contains("+  \"first\": 1"), "{}", explained.output);
    let ran = node.up();
    assert!(!ran.errors.contains("the image has no"), "{}", ran.errors);
    assert_eq!(
        written(&node),
        json!({"image": [], "deep": {"theirs": 2, "ours": 1, "extra": null}, "first": 1})
    );
    let tree = node.tree();
    assert_eq!(Node::begun(&node.up()), ["identify"]);
    assert_eq!(node.tree(), tree);
    assert_eq!(node.run(&["explain"]).output, "nothing is to be done\n");
    // Other settings: of the first ones nothing is left.
    node.give(&over_image(r#"{"second": {"a": 1}}"#));
    let ran = node.up();
    assert_eq!(Node::begun(&ran), ["identify", "one", "kubelet"]);
    assert_eq!(written(&node), json!({"image": [1], "deep": {"theirs": 2, "ours": 1}, "second": {"a": 1}}));
    // What somebody has changed is shown, and left.
    node.put(IMAGES, "{}\n");
    assert!(node.run(&["explain"]).output.contains("not as it was written"));
    assert_eq!(node.run(&["reset", "--yes"]).code, Some(0));
    assert_eq!(node.read(IMAGES).as_deref(), Some(ORIGINAL));
}

#[test]
fn without_a_file_of_the_image_ours_is_whole() {
    needs_root();
    let node = Node::new(&over_image(r#"{"first": 1}"#));
    let ran = node.up();
    assert!(ran.errors.contains("the image has no `/etc/image.json`: it is written whole"), "{}", ran.errors);
    assert_eq!(written(&node), json!({"whole": true, "deep": {"ours": 1}, "first": 1}));
    node.give(&over_image(r#"{"second": 1}"#));
    assert!(node.run(&["explain"]).output.contains("-  \"first\": 1"));
    node.up();
    assert_eq!(written(&node), json!({"whole": true, "deep": {"ours": 1}, "second": 1}));
    assert_eq!(node.run(&["reset", "--yes"]).code, Some(0));
    assert_eq!(node.read(IMAGES), None);
}

/// A link is kept as one, and what it leads to is what lies beneath.
#[test]
fn what_a_link_of_the_image_leads_to_lies_beneath() {
    needs_root();
    let node = Node::new(&over_image("{}"));
    node.put("/etc/theirs.json", ORIGINAL);
    std::os::unix::fs::symlink("theirs.json", node.path(IMAGES)).unwrap();
    node.up();
    assert_eq!(written(&node)["deep"], json!({"theirs": 2, "ours": 1}));
    assert_eq!(node.read("/etc/theirs.json").as_deref(), Some(ORIGINAL));
    assert_eq!(node.run(&["reset", "--yes"]).code, Some(0));
    assert_eq!(std::fs::read_link(node.path(IMAGES)).unwrap().to_str(), Some("theirs.json"));
}

#[test]
fn a_file_of_the_image_that_is_no_object_is_told() {
    needs_root();
    let node = Node::new(&over_image("{}"));
    node.put(IMAGES, "[1]\n");
    let explained = node.run(&["explain"]);
    assert!(
        explained.output.contains("`/etc/image.json` of the image is no object of JSON"),
        "{}",
        explained.output
    );
}
