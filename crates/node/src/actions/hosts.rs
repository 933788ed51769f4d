//! Addresses of a host in a hosts file: its name holds then without a name server.

use std::collections::BTreeSet;
use std::net::ToSocketAddrs as _;
use std::path::Path;

use bringup_disk::{Owner, Wanted};
use bringup_progress::{Failure, FailureKind, Success};

use super::{Doing, Stopped, files};

/// Looks the host up and adds the lines that are missing.
pub(super) fn keep(doing: &Doing<'_>, host: &str, path: &str) -> Result<Success, Stopped> {
    let there = doing.machine.files().read(Path::new(path))?.unwrap_or_default();
    let text = String::from_utf8_lossy(&there);
    let lines = missing_lines(&text, host, &addresses(host, &text)?);
    // What is there stays byte for byte, in whatever encoding.
    let whole = [there.as_slice(), lines.as_bytes()].concat();
    let wanted = Wanted { content: &whole, mode: 0o644, owner: Owner::ROOT };
    let change = doing.machine.files().replace(Path::new(path), wanted)?;
    Ok(files::changed(path, change))
}

/// The addresses of a host: its own machine's, those that the file has for it, or those that name servers know.
fn addresses(host: &str, file: &str) -> Result<BTreeSet<String>, Failure> {
    if host == "localhost" || host.ends_with(".localhost") {
        return Ok(BTreeSet::from(["127.0.0.1".to_owned(), "::1".to_owned()]));
    }
    let known = in_file(host, file);
    if !known.is_empty() {
        return Ok(known);
    }
    let looked = (host, 0).to_socket_addrs().map_err(|fault| {
        Failure::new(
            FailureKind::Transient,
            format!("the addresses of `{host}` cannot be had: {fault}"),
            "see that the machine's name servers know it",
        )
    })?;
    Ok(looked.map(|address| address.ip().to_string()).collect())
}

fn in_file(host: &str, file: &str) -> BTreeSet<String> {
    let lines = file.lines().map(|line| line.split('#').next().unwrap_or_default().split_whitespace());
    let own = lines.filter(|words| words.clone().skip(1).any(|name| name.eq_ignore_ascii_case(host)));
    own.filter_map(|mut words| words.next()).map(str::to_owned).collect()
}

/// What is to be added to the text: a line for each address; what is there already is not written twice.
fn missing_lines(text: &str, host: &str, addresses: &BTreeSet<String>) -> String {
    let lines = addresses.iter().map(|address| format!("{address}\t{host}"));
    let missing: Vec<String> = lines.filter(|line| !text.lines().any(|there| there == line)).collect();
    let begins = if missing.is_empty() || text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    missing.iter().fold(begins.to_owned(), |whole, line| whole + line + "\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{addresses, missing_lines};

    #[test]
    fn lines_are_added_once() {
        let addresses = BTreeSet::from(["10.0.0.1".to_owned(), "10.0.0.2".to_owned()]);
        let added = missing_lines("127.0.0.1 localhost", "api", &addresses);
        assert_eq!(added, "\n10.0.0.1\tapi\n10.0.0.2\tapi\n");
        assert_eq!(missing_lines(&format!("127.0.0.1 localhost{added}"), "api", &addresses), "");
        assert_eq!(
            missing_lines("127.0.0.1 localhost\n10.0.0.1\tapi", "api", &addresses),
            "\n10.0.0.2\tapi\n"
        );
    }

    #[test]
    fn what_the_file_says_is_not_asked_for() {
        let set = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(addresses("api", "10.0.0.1 x API # api\n#10.0.0.2 api\n"), Ok(set(&["10.0.0.1"])));
        assert_eq!(addresses("localhost", ""), Ok(set(&["127.0.0.1", "::1"])));
    }
}
