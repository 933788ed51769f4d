//! Fields and flags of kubelet that take one of a few words. With any other, kubelet does not start.
//!
//! The words are those of kubelet's own validation, of its managers, and of Go's library for TLS.

use bringup_diag::{Code, closest};
use bringup_kubelet::Minor;
use bringup_yaml::Path;
use serde_json::Value;

use crate::codes;
use crate::context::Context;

/// A field, the flag that says the same, and the words that both take.
struct Choice {
    field: &'static str,
    flag: &'static str,
    words: &'static [&'static str],
}

const CHOICES: [Choice; 7] = [
    Choice {
        field: "topologyManagerPolicy",
        flag: "topology-manager-policy",
        words: &["none", "best-effort", "restricted", "single-numa-node"],
    },
    Choice { field: "topologyManagerScope", flag: "topology-manager-scope", words: &["container", "pod"] },
    Choice { field: "cpuManagerPolicy", flag: "cpu-manager-policy", words: &["none", "static"] },
    Choice { field: "memoryManagerPolicy", flag: "memory-manager-policy", words: &["None", "Static"] },
    Choice {
        field: "hairpinMode",
        flag: "hairpin-mode",
        words: &["hairpin-veth", "promiscuous-bridge", "none"],
    },
    Choice {
        field: "tlsMinVersion",
        flag: "tls-min-version",
        words: &["VersionTLS12", "VersionTLS13", "VersionTLS10", "VersionTLS11"],
    },
    Choice { field: "tlsCipherSuites", flag: "tls-cipher-suites", words: &SUITES },
];

/// Suites that Go knows, and two older names that Kubernetes keeps.
const SUITES: [&str; 27] = [
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_RSA_WITH_RC4_128_SHA",
];

/// Signals of eviction, with the first minor that has them.
const SIGNALS: [(&str, u16); 9] = [
    ("memory.available", 0),
    ("nodefs.available", 0),
    ("nodefs.inodesFree", 0),
    ("imagefs.available", 0),
    ("imagefs.inodesFree", 0),
    ("pid.available", 0),
    ("allocatableMemory.available", 0),
    ("containerfs.available", 29),
    ("containerfs.inodesFree", 29),
];

/// Checks the words of the fields under `path`.
pub(super) fn check_fields(context: &mut Context<'_>, path: &Path) {
    let config = &context.group.kubelet.config;
    for choice in &CHOICES {
        let place = path.key(choice.field);
        match config.get(choice.field) {
            Some(Value::String(word)) => check(context, &place, choice, word, codes::FIELD_VALUE),
            Some(Value::Array(words)) => {
                for (index, word) in words.iter().enumerate() {
                    if let Some(word) = word.as_str() {
                        check(context, &place.index(index), choice, word, codes::FIELD_VALUE);
                    }
                }
            }
            _ => {}
        }
    }
    for field in ["evictionHard", "evictionSoft", "evictionSoftGracePeriod", "evictionMinimumReclaim"] {
        for signal in config.get(field).and_then(Value::as_object).into_iter().flat_map(|map| map.keys()) {
            check_signal(context, &path.key(field).key(signal.as_str()), signal);
        }
    }
    let periods = config.get("evictionSoftGracePeriod").and_then(Value::as_object);
    for signal in config.get("evictionSoft").and_then(Value::as_object).into_iter().flat_map(|map| map.keys())
    {
        if periods.is_none_or(|periods| !periods.contains_key(signal)) {
            context.error(
                codes::FIELD_VALUE,
                &path.key("evictionSoft").key(signal.as_str()),
                format!("nothing says how long `{signal}` may be below its soft threshold"),
                format!("add `evictionSoftGracePeriod: {{{signal}: 1m30s}}`"),
            );
        }
    }
}

/// Checks the words of a flag.
pub(super) fn check_flag(context: &mut Context<'_>, path: &Path, name: &str, text: &str) {
    if let Some(choice) = CHOICES.iter().find(|choice| choice.flag == name) {
        for word in text.split(',') {
            check(context, path, choice, word.trim(), codes::FLAG_VALUE);
        }
    }
}

fn check(context: &mut Context<'_>, path: &Path, choice: &Choice, word: &str, code: Code) {
    if word.is_empty() || word.contains("@{") || choice.words.contains(&word) {
        return;
    }
    let few = || choice.words.iter().take(4).map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let hint = closest(word, choice.words.iter().copied())
        .map_or_else(|| format!("write one such as {}", few()), |near| format!("did you mean `{near}`?"));
    context.error(code, path, format!("`{}` does not take `{word}`", choice.field), hint);
}

fn check_signal(context: &mut Context<'_>, path: &Path, signal: &str) {
    let minor = context.minor;
    let known = || SIGNALS.iter().filter(|(_, since)| Minor(*since) <= minor).map(|(name, _)| *name);
    if known().any(|name| name == signal) {
        return;
    }
    let message = match SIGNALS.iter().find(|(name, _)| *name == signal) {
        Some((_, since)) => format!("the signal `{signal}` came with {}, and this is {minor}", Minor(*since)),
        None => format!("`{signal}` is no signal of eviction"),
    };
    let hint = match closest(signal, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            format!("write one of {}", known().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
        }
    };
    context.key_error(codes::FIELD_VALUE, path, message, hint);
}
