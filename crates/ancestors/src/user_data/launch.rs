//! What stands around user-data in a template, or in what AWS prints of one: how machines are launched, and how many.

use bringup_yaml::{Content, Entry, Node};

use super::launch_fields as tables;
use super::launch_values::{devices, interfaces, metadata, profile, tags};
use super::scaling;
use crate::codes;
use crate::fields::{Record, is_nothing};
use crate::tell::Teller;
use crate::tree::{Branch, field, list, plain, text};

/// The tag of a value that only the stack knows.
const OPEN: &str = "!Open";

/// Lays what stands around user-data into the groups that it is the user-data of.
pub(super) fn lay_around(trees: &mut [Node], around: &Node, tell: &mut Teller<'_>) {
    let groups =
        trees.iter_mut().filter_map(|tree| field(field(tree, "spec")?, "nodeGroups")).filter_map(|groups| {
            if let Content::List(groups) = &mut groups.content { Some(groups) } else { None }
        });
    let groups: Vec<&mut Node> = groups.flatten().collect();
    if groups.is_empty() {
        return;
    }
    let settings = translated(around, tell);
    let entries = settings.entries().unwrap_or_default();
    for group in groups {
        let carriers = carriers(group);
        let Content::Map(known) = &mut group.content else { continue };
        for entry in entries
            .iter()
            .filter(|entry| !known.iter().any(|known| known.key == entry.key))
            .cloned()
            .collect::<Vec<_>>()
        {
            known.push(entry);
        }
        // What was a template becomes one, beside the user-data alone.
        if !entries.is_empty() && !known.iter().any(|entry| entry.key == "carriers") {
            let words = carriers.iter().map(|word| text(around.span, *word)).collect();
            let mut more = Branch::new(around.span);
            more.put("carriers", list(around.span, words));
            known.extend(more.into_node().entries().unwrap_or_default().iter().cloned());
        }
    }
}

/// The carriers of a group: parts that are no cloud-config need a message.
fn carriers(group: &Node) -> [&'static str; 2] {
    let parts = group.get("parts").and_then(Node::items).unwrap_or_default();
    let mergeable =
        parts.iter().all(|part| part.get("type").and_then(Node::text) == Some("text/cloud-config"));
    [if mergeable { "cloud-init" } else { "multipart" }, "cloudformation"]
}

/// `instanceTypes`, `launch` and `scaling` of a group.
fn translated(around: &Node, tell: &mut Teller<'_>) -> Node {
    let mut group = Branch::new(around.span);
    let Some(node) = around.get("launch") else { return group.into_node() };
    let fields = tell.record(node, "the launch settings", tables::LAUNCH);
    if let Some(outer) = around.get("outer") {
        tell.record(outer, "the resource with the launch settings", tables::OUTER);
    }
    let mut launch = Branch::new(node.span);
    image(&mut launch, &fields, tell);
    scaling::tell_subnets(&fields, "SubnetId", tell);
    put(&mut launch, "keyName", &fields, "KeyName", tell);
    launch.put_full("volumes", list(node.span, devices(&fields, tell)));
    launch.put_full("metadata", metadata(&fields, tell));
    launch.put_full("tags", tags(&fields, tell));
    let mut groups = list_of(&fields, "SecurityGroupIds", tell);
    groups.extend(list_of(&fields, "SecurityGroups", tell));
    interfaces(&mut launch, &mut groups, &fields, tell);
    let mut ids: Vec<Node> = Vec::new();
    for id in &groups {
        ids.extend(crate::ids::real(id, "sg-", tell).cloned());
    }
    launch.put_full("securityGroups", list(node.span, ids));
    launch.put_full("role", profile(&fields, tell));
    put_flag(&mut launch, "ebsOptimized", &fields, "EbsOptimized", tell);
    for name in ["Monitoring", "InstanceMonitoring"] {
        let inner = fields.entry(name).map(|entry| inside(entry, "Enabled"));
        put_node(&mut launch, "monitoring", inner.and_then(|(name, node)| known(name, node, tell)));
    }
    let enclave = fields.entry("EnclaveOptions").map(|entry| inside(entry, "Enabled"));
    put_node(&mut launch, "enclave", enclave.and_then(|(name, node)| known(name, node, tell)));
    let credits = fields.entry("CreditSpecification").map(|entry| {
        let (_, node) = inside(entry, "CpuCredits");
        ("CpuCredits", entry.value.get("CPUCredits").unwrap_or(node))
    });
    put_node(&mut launch, "cpuCredits", credits.and_then(|(name, node)| known(name, node, tell)));
    let placement = fields.get("Placement").map(|node| tell.record(node, "`Placement`", tables::PLACEMENT));
    if let Some(placement) = &placement {
        put(&mut launch, "placementGroup", placement, "GroupName", tell);
    }
    put(&mut launch, "placementGroup", &fields, "PlacementGroupName", tell);
    let mut price = None;
    if let Some(market) = fields.get("InstanceMarketOptions") {
        let market = tell.record(market, "`InstanceMarketOptions`", tables::MARKET);
        if market.text("MarketType") == Some("spot") {
            launch.put_some("spot", market.get("MarketType").map(|node| plain(node.span, true)));
        }
        let options = market.get("SpotOptions").map(|node| tell.record(node, "`SpotOptions`", tables::SPOT));
        price = options.as_ref().and_then(|options| options.entry("MaxPrice"));
    }
    if let Some(spot) = fields.entry("SpotPrice") {
        launch.put("spot", plain(spot.value.span, true));
        price = Some(spot);
    }
    let price = price.and_then(|entry| known(&entry.key, &entry.value, tell));
    let mut types: Vec<Node> = fields
        .entry("InstanceType")
        .and_then(|entry| known("InstanceType", &entry.value, tell))
        .into_iter()
        .cloned()
        .collect();
    let launchers = around.get("launchers").and_then(Node::items).unwrap_or_default();
    let scaling = scaling::translated(launchers, (&mut launch, &mut types), price, tell);
    group.put_full("instanceTypes", list(node.span, types));
    group.put_full("launch", launch.into_node());
    group.put_full("scaling", scaling);
    group.into_node()
}

/// The image, or where its id is kept.
fn image(launch: &mut Branch, fields: &Record<'_>, tell: &mut Teller<'_>) {
    let Some(entry) = fields.entry("ImageId") else { return };
    let Some(node) = known("ImageId", &entry.value, tell) else { return };
    let word = node.text().unwrap_or_default();
    let word = word.strip_prefix("{{").and_then(|word| word.strip_suffix("}}")).unwrap_or(word);
    match word.strip_prefix("resolve:ssm:") {
        Some(parameter) => launch.put("imageParameter", text(node.span, parameter)),
        None => launch.put_some("image", crate::ids::real(node, "ami-", tell).cloned()),
    }
}

/// The value of a field that is a mapping of one, or a value itself.
fn inside<'a>(entry: &'a Entry, key: &str) -> (&'a str, &'a Node) {
    (&entry.key, entry.value.get(key).unwrap_or(&entry.value))
}

/// A value, unless only the stack knows it; that is told.
pub(super) fn known<'a>(name: &str, node: &'a Node, tell: &mut Teller<'_>) -> Option<&'a Node> {
    if node.tag.as_deref() == Some(OPEN) {
        let what = node.text().unwrap_or_default();
        let message = format!("`{name}` hangs on `{what}`, which only the stack knows: it is left out");
        let hint = "give a parameter its value with `--parameter NAME=VALUE`; what the stack makes, the new template makes or takes itself";
        tell.warning(codes::FIELD_DIFFERS, node.span, message, hint);
        return None;
    }
    (!is_nothing(node) && node.text() != Some("")).then_some(node)
}

/// Sets a key to the value of a field.
pub(super) fn put(branch: &mut Branch, key: &str, fields: &Record<'_>, name: &str, tell: &mut Teller<'_>) {
    let Some(entry) = fields.entry(name) else { return };
    branch.put_some(key, known(name, &entry.value, tell).cloned());
}

/// The same for a number or a truth value, which templates may have in quotes.
pub(super) fn put_flag(
    branch: &mut Branch,
    key: &str,
    fields: &Record<'_>,
    name: &str,
    tell: &mut Teller<'_>,
) {
    let Some(entry) = fields.entry(name) else { return };
    put_node(branch, key, known(name, &entry.value, tell));
}

/// The same for a node.
fn put_node(branch: &mut Branch, key: &str, node: Option<&Node>) {
    branch.put_some(key, node.map(|node| plain(node.span, node.text().unwrap_or_default())));
}

/// The items of a list, of which only the stack may know some.
pub(super) fn list_of(fields: &Record<'_>, name: &str, tell: &mut Teller<'_>) -> Vec<Node> {
    let Some(entry) = fields.entry(name) else { return Vec::new() };
    let one = std::slice::from_ref(&entry.value);
    let items = entry.value.items().unwrap_or(one);
    items.iter().filter_map(|item| known(name, item, tell)).cloned().collect()
}
