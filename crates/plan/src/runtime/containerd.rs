//! containerd's configuration, schema 2 (1.x) or 3 (2.x), with the operator's fragment laid over it.

use bringup_kubelet::Minor;
use bringup_spec::{ImageProgram, OsFamily};
use toml::{Table, Value};

use super::fragment;
use super::handler::{self, BASE_SPEC, Handler};
use crate::context::Context;
use crate::decisions::Decisions;
use crate::{Origin, codes, software, versions};

/// The plugin that schema 2 has, and that schema 3 splits in two.
pub(super) const CRI_2: &str = "io.containerd.grpc.v1.cri";
pub(super) const IMAGES_3: &str = "io.containerd.cri.v1.images";
pub(super) const RUNTIME_3: &str = "io.containerd.cri.v1.runtime";

/// Where registries' own settings are looked for.
const REGISTRY_CONFIG: &str = "/etc/containerd/certs.d:/etc/docker/certs.d";

/// Where the configuration of EKS' images of Amazon Linux 2 takes more from: scripts leave files there.
const MORE: &str = "/etc/containerd/config.d/*.toml";

/// The configuration as TOML; none if the fragment cannot be used.
pub(super) fn config(
    context: &mut Context<'_>,
    decisions: &Decisions,
    sandbox_image: &str,
) -> Option<String> {
    let fragment = read_fragment(context);
    let schema = schema(context, fragment.as_ref())?;
    let installed = context.group.software.runtime.version.is_some();
    let origin = match (&context.group.runtime.version, &fragment) {
        _ if installed => {
            Origin::Derived(context.at(["software", "runtime", "version"]), "containerd's version".to_owned())
        }
        (Some(_), _) => {
            Origin::Derived(context.at(["runtime", "version"]), "containerd's version".to_owned())
        }
        (None, Some(_)) => {
            Origin::Derived(context.at(["runtime", "config"]), "the text's own schema".to_owned())
        }
        (None, None) => Origin::Default("what this Kubernetes' containerd surely reads".to_owned()),
    };
    context.origin("containerd's configuration schema", schema.to_string(), origin);
    let systemd = decisions.cgroup_driver == "systemd";
    let cdi = context.minor >= Minor(32);
    let cni = software::cni_directory(context);
    let handler = handler::handler(context);
    handler::tell(context, schema);
    let text = match schema {
        3 => schema_3(sandbox_image, cni, (handler, systemd), cdi),
        _ => schema_2(sandbox_image, cni, (handler, systemd), cdi),
    };
    let takes_more = context.group.in_place_of == Some(ImageProgram::Bootstrap)
        && context.group.os.family == OsFamily::AmazonLinux2;
    let text = format!("{}{text}", head(schema, takes_more));
    let Some(fragment) = fragment else { return Some(text) };
    let mut table = text.parse::<Table>().ok()?;
    fragment::make_room(&mut table, &fragment);
    merge(&mut table, fragment);
    fragment::check_usable(context, &table);
    // The fragment cannot choose a schema that the rest is not written in.
    table.insert("version".to_owned(), Value::Integer(schema));
    toml::to_string(&table).ok()
}

fn read_fragment(context: &mut Context<'_>) -> Option<Table> {
    let text = context.group.runtime.config.as_deref()?;
    let path = context.at(["runtime", "config"]);
    match text.parse::<Table>() {
        Ok(table) => {
            context.origin(
                "/etc/containerd/config.toml",
                "merged with the document's TOML",
                Origin::Document(path),
            );
            Some(table)
        }
        Err(fault) => {
            let line = fault
                .span()
                .map_or(1, |span| text.get(..span.start).unwrap_or_default().lines().count().max(1));
            context.error(
                codes::RUNTIME_TOML,
                &path,
                format!("this is no TOML: {} (line {line} of the text)", fault.message()),
                "write what belongs into `/etc/containerd/config.toml`",
            );
            None
        }
    }
}

/// The schema to write, by what is known of containerd's version and of the fragment.
fn schema(context: &mut Context<'_>, fragment: Option<&Table>) -> Option<i64> {
    let group = context.group;
    // What is installed reads the configuration.
    let (version, keys) = match (&group.software.runtime.version, &group.runtime.version) {
        (Some(version), _) => (Some(version.as_str()), ["software", "runtime", "version"].as_slice()),
        (None, Some(version)) => (Some(version.as_str()), ["runtime", "version"].as_slice()),
        (None, None) => (None, [].as_slice()),
    };
    let major = version.and_then(|version| versions::numbers(version).first().copied());
    if let Some(version) = version
        && !matches!(major, Some(1 | 2))
    {
        let path = context.at(keys.iter().copied());
        context.error(
            codes::RUNTIME_VERSION,
            &path,
            format!("`{version}` is no version of containerd that is known"),
            "write one such as `1.7.28` or `2.1.4`",
        );
        return None;
    }
    let wanted = fragment.and_then(fragment_schema);
    let path = context.at(["runtime", "config"]);
    if let Some((plugin, other)) =
        fragment.zip(wanted).and_then(|(table, schema)| fragment::stranger(table, schema))
    {
        context.error(
            codes::RUNTIME_SCHEMA,
            &path,
            format!("the plugin `{plugin}` is of schema {other}, and this text is of another: containerd would pass over it"),
            format!("write `version = {other}`, and all plugins by their names in it"),
        );
        return None;
    }
    match (major, wanted) {
        (_, Some(unknown)) if !(1..=3).contains(&unknown) => {
            context.error(
                codes::RUNTIME_SCHEMA,
                &path,
                format!("containerd has no schema {unknown} that is known"),
                "write `version = 2` or `version = 3`",
            );
            None
        }
        (Some(1), Some(3)) => {
            context.error(
                codes::RUNTIME_SCHEMA,
                &path,
                "this is of schema 3, which containerd 1.x cannot read",
                "write it with `version = 2` and the plugin `io.containerd.grpc.v1.cri`, or use containerd 2.x",
            );
            None
        }
        (_, Some(1)) => {
            context.error(
                codes::RUNTIME_SCHEMA,
                &path,
                "this is of schema 1, whose plugins have other names",
                "write it with `version = 2` and full names of plugins",
            );
            None
        }
        (Some(2), Some(2)) => {
            context.warning(
                codes::RUNTIME_SCHEMA,
                &path,
                "this is of schema 2, which containerd 2.x converts at each start",
                "write it with `version = 3`: `containerd config migrate` shows how",
            );
            Some(2)
        }
        (_, Some(schema)) => Some(schema),
        (Some(2), None) => Some(3),
        (Some(_), None) => Some(2),
        // containerd 2.x reads schema 2 as well, and Kubernetes 1.36 is the first without support for 1.x.
        (None, None) => Some(if context.minor >= Minor(36) { 3 } else { 2 }),
    }
}

/// The schema that a fragment is written in, by what it says or by the plugins that it names.
fn fragment_schema(fragment: &Table) -> Option<i64> {
    if let Some(version) = fragment.get("version").and_then(Value::as_integer) {
        return Some(version);
    }
    let plugins = fragment.get("plugins")?.as_table()?;
    if plugins.keys().any(|name| name.starts_with("io.containerd.cri.v1.")) {
        return Some(3);
    }
    plugins.contains_key(CRI_2).then_some(2)
}

fn head(schema: i64, takes_more: bool) -> String {
    let imports = if takes_more { format!("imports = [\"{MORE}\"]\n") } else { String::new() };
    format!(
        "version = {schema}\nroot = \"/var/lib/containerd\"\nstate = \"/run/containerd\"\n{imports}\n\
         [grpc]\naddress = \"/run/containerd/containerd.sock\"\n"
    )
}

/// What both schemas say of the default runtime and of CNI, in the plugin of that name.
fn runtime(plugin: &str, cni: &str, (handler, systemd): (Handler, bool)) -> String {
    let cni = quoted(cni);
    let base =
        if handler.base_spec { format!("base_runtime_spec = \"{BASE_SPEC}\"\n") } else { String::new() };
    let program = handler.program.map(|program| format!("BinaryName = \"{program}\"\n")).unwrap_or_default();
    let runc = if handler.beside_runc { described(plugin, "runc", "", "", systemd) } else { String::new() };
    let default = described(plugin, handler.name, &base, &program, systemd);
    format!(
        "{default}{runc}\
         \n[plugins.\"{plugin}\".cni]\nbin_dir = {cni}\nconf_dir = \"/etc/cni/net.d\"\n"
    )
}

fn described(plugin: &str, name: &str, base: &str, program: &str, systemd: bool) -> String {
    format!(
        "\n[plugins.\"{plugin}\".containerd.runtimes.{name}]\nruntime_type = \"io.containerd.runc.v2\"\n{base}\n\
         [plugins.\"{plugin}\".containerd.runtimes.{name}.options]\n{program}SystemdCgroup = {systemd}\n"
    )
}

fn registry(plugin: &str) -> String {
    format!("\n[plugins.\"{plugin}\".registry]\nconfig_path = \"{REGISTRY_CONFIG}\"\n")
}

fn schema_2(sandbox_image: &str, cni: &str, default: (Handler, bool), cdi: bool) -> String {
    let image = quoted(sandbox_image);
    let cdi = if cdi { "enable_cdi = true\n" } else { "" };
    let (runtime, name) = (runtime(CRI_2, cni, default), default.0.name);
    let registry = registry(CRI_2);
    format!(
        "\n[plugins.\"{CRI_2}\"]\nsandbox_image = {image}\n{cdi}\n\
         [plugins.\"{CRI_2}\".containerd]\ndefault_runtime_name = \"{name}\"\ndiscard_unpacked_layers = true\n{runtime}{registry}"
    )
}

fn schema_3(sandbox_image: &str, cni: &str, default: (Handler, bool), cdi: bool) -> String {
    let image = quoted(sandbox_image);
    let (runtime, name) = (runtime(RUNTIME_3, cni, default), default.0.name);
    let registry = registry(IMAGES_3);
    let cdi = if cdi { "\n[plugins.\"io.containerd.cri.v1.runtime\"]\nenable_cdi = true\n" } else { "" };
    format!(
        "\n[plugins.\"{IMAGES_3}\"]\ndiscard_unpacked_layers = true\n\n\
         [plugins.\"{IMAGES_3}\".pinned_images]\nsandbox = {image}\n{registry}{cdi}\n\
         [plugins.\"{RUNTIME_3}\".containerd]\ndefault_runtime_name = \"{name}\"\n{runtime}"
    )
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn merge(base: &mut Table, over: Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(base)), Value::Table(over)) => merge(base, over),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNC: Handler = Handler { name: "runc", program: None, base_spec: false, beside_runc: false };

    #[test]
    fn schemas_are_written_as_containerd_reads_them() {
        let two: Table = schema_2("pause", "/opt/cni/bin", (RUNC, true), false).parse().unwrap();
        let cri = two["plugins"][CRI_2].as_table().unwrap();
        assert_eq!(cri["sandbox_image"].as_str(), Some("pause"));
        assert_eq!(cri["containerd"]["runtimes"]["runc"]["options"]["SystemdCgroup"].as_bool(), Some(true));
        assert!(!cri.contains_key("enable_cdi"));
        let three: Table = schema_3("pause\"\\\u{1}", "/opt/cni/bin", (RUNC, false), true).parse().unwrap();
        assert_eq!(three["plugins"][IMAGES_3]["pinned_images"]["sandbox"].as_str(), Some("pause\"\\\u{1}"));
        assert_eq!(three["plugins"][RUNTIME_3]["enable_cdi"].as_bool(), Some(true));
        let options = &three["plugins"][RUNTIME_3]["containerd"]["runtimes"]["runc"]["options"];
        assert_eq!(options["SystemdCgroup"].as_bool(), Some(false));
    }

    #[test]
    fn a_fragment_tells_its_schema_by_its_plugins() {
        let schema = |text: &str| fragment_schema(&text.parse::<Table>().unwrap());
        assert_eq!(schema("version = 3"), Some(3));
        assert_eq!(schema("[plugins.'io.containerd.cri.v1.runtime']\nenable_cdi = true"), Some(3));
        assert_eq!(schema("[plugins.'io.containerd.grpc.v1.cri']\nenable_cdi = true"), Some(2));
        assert_eq!(schema("[grpc]\naddress = 'x'"), None);
    }

    #[test]
    fn what_containerd_refuses_together_is_not_written_together() {
        let merged = |text: &str, over: &str| {
            let mut table: Table = text.parse().unwrap();
            let given: Table = over.parse().unwrap();
            fragment::make_room(&mut table, &given);
            merge(&mut table, given);
            table
        };
        // Both of containerd's majors: "`mirrors` cannot be set when `config_path` is provided".
        for (text, images, runtime) in [
            (schema_2("p", "/c", (RUNC, true), false), CRI_2, CRI_2),
            (schema_3("p", "/c", (RUNC, true), false), IMAGES_3, RUNTIME_3),
        ] {
            let mirrors =
                format!("[plugins.'{images}'.registry.mirrors.'docker.io']\nendpoint = ['https://m']");
            let table = merged(&text, &mirrors);
            assert_eq!(table["plugins"][images]["registry"].get("config_path"), None);
            let secured = format!("[plugins.'{images}'.registry.configs.r.tls]\nca_file = '/a'");
            assert_eq!(merged(&text, &secured)["plugins"][images]["registry"].get("config_path"), None);
            // Credentials may stand beside the directory.
            let known = format!("[plugins.'{images}'.registry.configs.r.auth]\nusername = 'a'");
            assert!(merged(&text, &known)["plugins"][images]["registry"].get("config_path").is_some());
            let directories = format!("[plugins.'{runtime}'.cni]\nbin_dirs = ['/a', '/b']");
            let table = merged(&text, &directories);
            assert_eq!(table["plugins"][runtime]["cni"].get("bin_dir"), None);
            assert!(table["plugins"][runtime]["cni"].get("conf_dir").is_some());
        }
    }

    #[test]
    fn fragments_merge_tables_and_replace_arrays() {
        let mut base: Table = "[a]\nb = [1, 2]\nc = 1\n[a.d]\ne = 1".parse().unwrap();
        merge(&mut base, "[a]\nb = [3]\n[a.d]\nf = 2".parse().unwrap());
        let expected: Table = "[a]\nb = [3]\nc = 1\n[a.d]\ne = 1\nf = 2".parse().unwrap();
        assert_eq!(base, expected);
    }
}
