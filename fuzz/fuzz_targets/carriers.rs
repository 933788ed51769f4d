//! From a document to all carriers, and back: nothing panics, and a carrier holds the plan that went in.
#![no_main]

use bringup_carry::{Load, inspect, read_plan, resolve_parts};
use bringup_plan::{LocalFiles, compile};
use bringup_spec::Carrier;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let local = LocalFiles::default();
    for document in bringup_spec::read("input", text).documents {
        // A few groups show as much as many, and leave time for other inputs.
        for (index, group) in document.cluster.spec.node_groups.iter().enumerate().take(2) {
            let Some(plan) = compile(&document, index, &local).plan else { continue };
            let path = document.group_path(index);
            let (parts, _) = resolve_parts(&document, &path, group, &local);
            let load = Load::new(&document, path, group, &plan, &parts);
            for carrier in Carrier::ALL {
                let rendered = load.render(*carrier);
                let _ = inspect("input", &rendered.bytes);
                if let Some(found) = read_plan(&rendered.bytes) {
                    assert_eq!(found, plan, "{carrier} holds another plan");
                }
            }
        }
    }
});
