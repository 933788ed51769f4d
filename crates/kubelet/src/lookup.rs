//! Is this name known to that minor?

use crate::kind::Kind;
use crate::suggest::{folded, nearest};
use crate::table::{FIELDS, FLAGS, Minor, Row, answering};

/// What a minor knows of a name that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The name as the table has it: lists as `[]`, maps as `{}`, flags without dashes in front.
    pub name: &'static str,
    /// What value it takes.
    pub kind: &'static Kind,
    /// Since when it is deprecated, if it is; [`crate::OLDEST`] stands for all minors up to it.
    pub deprecated: Option<Minor>,
    /// For a flag: the path of the field that it overrides.
    pub shadows: Option<&'static str>,
    /// What to do instead, where it is deprecated or was in some minor.
    pub instead: Option<&'static str>,
}

/// The answer for one name in one minor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// The minor has it.
    Known(Known),
    /// A later minor has it.
    NotYet {
        /// The first that does.
        added: Minor,
    },
    /// An earlier minor had it.
    Removed {
        /// The first without it.
        removed: Minor,
        /// What to do instead.
        instead: &'static str,
    },
    /// No minor of the table has it.
    Unknown {
        /// What was probably meant: a field path, or a flag with its dashes.
        suggestion: Option<String>,
    },
}

impl Row {
    /// What `minor` knows of this row. The caller has brought the minor into the range of the table.
    pub(crate) fn known(&'static self, minor: Minor) -> Option<Known> {
        if !self.present(minor) {
            return None;
        }
        Some(Known {
            name: self.name,
            kind: self.kind(minor)?,
            deprecated: self.deprecated(minor),
            shadows: self.shadows(minor),
            instead: self.instead,
        })
    }

    pub(crate) fn lookup(&'static self, minor: Minor) -> Lookup {
        if let Some(known) = self.known(minor) {
            return Lookup::Known(known);
        }
        match (self.removed, self.added) {
            (Some(removed), _) if removed <= minor => {
                Lookup::Removed { removed, instead: self.instead.unwrap_or("has no replacement") }
            }
            (_, added) => Lookup::NotYet { added: added.unwrap_or(minor) },
        }
    }
}

/// Looks a field of `KubeletConfiguration` up by its path: `authentication.x509.clientCAFile`, `registerWithTaints[0].key`
/// (or `[]`), `evictionHard.memory.available` (all that follows a map is one key).
pub fn field(path: &str, minor: Minor) -> Lookup {
    let minor = answering(minor);
    let path = without_indices(path);
    if let Some(row) = FIELDS.get(&path) {
        return row.lookup(minor);
    }
    // An entry of a list or a map is as old as the list or the map.
    if let Some(row) = FIELDS.values().find(|row| is_entry(row, &path, minor)) {
        return row.lookup(minor);
    }
    Lookup::Unknown { suggestion: field_suggestion(&path, minor) }
}

fn is_entry(row: &Row, path: &str, minor: Minor) -> bool {
    let Some(rest) = path.strip_prefix(row.name) else {
        return false;
    };
    match row.kind(minor) {
        Some(Kind::Map(_)) => rest.starts_with('.') || rest == "{}",
        Some(Kind::List(_)) => rest == "[]",
        _ => false,
    }
}

fn without_indices(path: &str) -> String {
    let mut written = String::with_capacity(path.len());
    let mut inside = false;
    for c in path.chars() {
        inside = match c {
            '[' => true,
            ']' => false,
            _ => inside,
        };
        if !(inside && c.is_ascii_digit()) {
            written.push(c);
        }
    }
    written
}

/// The nearest field: a neighbour in the same place first, then the same name elsewhere, then the field behind a flag's name.
pub(crate) fn field_suggestion(path: &str, minor: Minor) -> Option<String> {
    let (parent, name) = match path.rsplit_once('.') {
        Some((parent, name)) => (Some(parent), name),
        None => (None, path),
    };
    let known = || FIELDS.values().filter(move |row| row.present(minor));
    let neighbours =
        known().map(|row| row.name).filter(|candidate| parent_of(candidate) == parent).map(last_of);
    if let Some(near) = nearest(name, neighbours) {
        return Some(match parent {
            Some(parent) => format!("{parent}.{near}"),
            None => near.to_owned(),
        });
    }
    let wanted = folded(name);
    if let Some(row) = known().find(|row| folded(last_of(row.name)) == wanted) {
        return Some(row.name.to_owned());
    }
    let flag = FLAGS.values().find(|row| folded(row.name) == wanted);
    flag.and_then(|row| row.shadows(minor)).map(ToOwned::to_owned)
}

fn parent_of(path: &str) -> Option<&str> {
    path.rsplit_once('.').map(|(parent, _)| parent)
}

fn last_of(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(_, last)| last)
}

/// Every field that a minor has, sorted by path.
pub fn fields(minor: Minor) -> impl Iterator<Item = Known> {
    let minor = answering(minor);
    FIELDS.values().filter_map(move |row| row.known(minor))
}

/// Looks a command-line flag of kubelet up, with or without its dashes. Kubelet takes `_` for `-` in names, and so do we.
pub fn flag(name: &str, minor: Minor) -> Lookup {
    let minor = answering(minor);
    let name = name.trim_start_matches('-').replace('_', "-");
    // pflag's one-letter names.
    let name = if name == "h" { "help" } else { name.as_str() };
    if let Some(row) = FLAGS.get(name) {
        return row.lookup(minor);
    }
    let known = FLAGS.values().filter(|row| row.present(minor));
    let near = nearest(name, known.map(|row| row.name)).map(|near| format!("--{near}"));
    let suggestion = near.or_else(|| {
        // A field's name in front of which somebody put dashes, and for which there never was a flag.
        let wanted = folded(name);
        let field = FIELDS.values().find(|row| row.present(minor) && folded(row.name) == wanted);
        field.map(|row| row.name.to_owned())
    });
    Lookup::Unknown { suggestion }
}

/// Every flag that a minor has, sorted by name.
pub fn flags(minor: Minor) -> impl Iterator<Item = Known> {
    let minor = answering(minor);
    FLAGS.values().filter_map(move |row| row.known(minor))
}

/// A value that the flag's kind would take but that does nothing, or stops kubelet, from some minor on: which, and what to do instead.
pub fn obsolete_flag_value(name: &str, value: &str, minor: Minor) -> Option<(Minor, &'static str)> {
    let (since, instead) = match (name.trim_start_matches('-'), value) {
        // From here to its removal the value is not even read.
        ("container-runtime", value) if value != "remote" => {
            (Minor(24), "remove it: kubelet speaks only to the CRI runtime at its runtime endpoint")
        }
        ("cloud-provider", "" | "external") => return None,
        ("cloud-provider", provider) => (
            match provider {
                "openstack" => Minor(26),
                "aws" => Minor(27),
                "azure" | "vsphere" => Minor(30),
                _ => Minor(31),
            },
            "kubelet no longer holds that cloud's code: write `external` and run its cloud controller manager",
        ),
        _ => return None,
    };
    (minor >= since).then_some((since, instead))
}
