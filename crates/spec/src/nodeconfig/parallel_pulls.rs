//! Images pulled in parallel on EKS' images, with the feature `FastImagePull`: another snapshotter beside containerd.

use serde_json::{Value, json};

/// What a machine needs for it: cores, and memory as the kernel sees it, in MiB.
pub const PARALLEL_PULLS_NEED: (u32, u64) = (4, 7 * 1024);

/// The snapshotter's own configuration.
pub const SNAPSHOTTER_CONFIG: &str = "/etc/soci-snapshotter-grpc/config.toml";

/// Where the snapshotter listens.
pub const SNAPSHOTTER_SOCKET: &str = "/run/soci-snapshotter-grpc/soci-snapshotter-grpc.sock";

/// The drop-in by which containerd starts behind it.
pub const SNAPSHOTTER_DROP_IN: (&str, &str) = (
    "10-soci-snapshotter.conf",
    "[Unit]\nRequires=soci-snapshotter.service\nAfter=soci-snapshotter.service\n",
);

/// The command that gives it the image of the pod sandbox, which came with the machine's image and was unpacked for another.
/// Older images have no such archive.
pub const SNAPSHOTTER_IMPORT: [&str; 3] = [
    "/bin/sh",
    "-c",
    "[ ! -e /etc/eks/pause.tar ] || exec /usr/bin/ctr --namespace k8s.io images import --snapshotter soci --discard-unpacked-layers=false --local /etc/eks/pause.tar",
];

/// What stands in the snapshotter's configuration, as a table of TOML.
pub fn snapshotter_config() -> Value {
    json!({
        "debug": false,
        "content_store": {"type": "containerd"},
        "cri_keychain": {
            "enable_keychain": true,
            "image_service_path": "/run/containerd/containerd.sock",
        },
        "pull_modes": {"parallel_pull_unpack": {
            "enable": true,
            "concurrent_download_chunk_size": "16mb",
            "discard_unpacked_layers": true,
            "max_concurrent_downloads": -1,
            "max_concurrent_downloads_per_image": 20,
            "max_concurrent_unpacks": -1,
            "max_concurrent_unpacks_per_image": 12,
            "decompress_streams": {"gzip": {"path": "/usr/bin/unpigz", "args": ["-d", "-c"]}},
        }},
    })
}

/// How containerd reaches it: `proxy_plugins` of its configuration.
pub fn snapshotter_plugin() -> Value {
    json!({"soci": {
        "type": "snapshot",
        "address": SNAPSHOTTER_SOCKET,
        "exports": {"root": "/var/lib/soci-snapshotter-grpc"},
    }})
}
