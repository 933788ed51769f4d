//! What is in a file: text, bytes, or a secret that the node resolves.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bringup_plan::{Content, max_pods, sha256_hex};
use bringup_progress::{Failure, FailureKind};

use super::Doing;
use crate::teller::Teller;

/// The agent's own table. One of another version is told of, and holds no node back: how many pods this node takes is worked
/// out by the agent's table, too.
fn pod_table(digest: &str) -> Vec<u8> {
    let table = max_pods::map().into_bytes();
    if sha256_hex(&table) != digest {
        Teller::note("the agent's table of instance types is not that of the plan's compiler");
    }
    table
}

/// The bytes of a file.
pub(super) fn bytes(doing: &Doing<'_>, content: &Content) -> Result<Vec<u8>, Failure> {
    match content {
        Content::Text(text) => Ok(text.as_literal().unwrap_or_default().as_bytes().to_vec()),
        Content::Base64(text) => BASE64_STANDARD.decode(text).map_err(|fault| {
            Failure::new(
                FailureKind::Permanent,
                format!("the plan's content is no base64: {fault}"),
                "build the plan anew",
            )
        }),
        Content::PodTable(digest) => Ok(pod_table(digest)),
        Content::Secret(source) => {
            let Doing { machine, plan, knowledge, network, .. } = *doing;
            let deadline = crate::network::deadline(doing.order.timeout_ms);
            crate::secrets::Resolver { machine, plan, knowledge, network, deadline }.resolve(source)
        }
        // Only a file as a whole is merged with what stood there.
        Content::Merged { .. } => Err(Failure::new(
            FailureKind::Permanent,
            "the plan merges a piece of a file",
            "build the plan anew",
        )),
        Content::Pieces(pieces) => {
            let mut whole = Vec::new();
            for piece in pieces {
                let mut bytes = bytes(doing, piece)?;
                if let Content::Secret(_) = piece {
                    while bytes.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
                        bytes.pop();
                    }
                }
                whole.append(&mut bytes);
            }
            Ok(whole)
        }
    }
}
