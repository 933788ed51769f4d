//! The JSON Schemas of what others read.

/// Schemas by name.
pub const SCHEMAS: [(&str, &str); 4] = [
    ("done", include_str!("schemas/done.json")),
    ("event", include_str!("schemas/event.json")),
    ("failed", include_str!("schemas/failed.json")),
    ("status", include_str!("schemas/status.json")),
];
