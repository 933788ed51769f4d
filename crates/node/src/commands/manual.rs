//! `bringup-node man` and `bringup-node completions`.

use std::io::{self, Write as _};
use std::path::Path;

use bringup_disk::{Owner, RealDisk, Wanted};
use clap::CommandFactory as _;

use crate::arguments::{Arguments, Completions, Man};
use crate::ended::Ended;
use crate::teller::Teller;

/// Prints what a shell completes.
pub(crate) fn completions(options: &Completions) -> Ended {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), "bringup-node", &mut script);
    print(&script)
}

/// Writes the manual pages, or prints the main one.
pub(crate) fn man(options: &Man) -> Ended {
    let written = pages().map_err(|fault| fault.to_string()).and_then(|pages| match &options.directory {
        Some(directory) => write(directory, &pages).map(|()| Ended::Well),
        None => Ok(pages.first().map_or(Ended::Well, |(_, page)| print(page))),
    });
    written.unwrap_or_else(|why| {
        Teller::note(&format!("the manual cannot be written: {why}"));
        Ended::No
    })
}

/// The pages by file name, the main one first.
fn pages() -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut command = Arguments::command();
    command.build();
    let shown = |command: &&clap::Command| command.get_name() != "help" && !command.is_hide_set();
    let others = command.get_subcommands().filter(shown);
    std::iter::once(&command).chain(others).map(|command| page(command.clone())).collect()
}

fn page(command: clap::Command) -> io::Result<(String, Vec<u8>)> {
    let name = format!("{}.8", command.get_display_name().unwrap_or_else(|| command.get_name()));
    let mut text = Vec::new();
    // Without a date: the same program gives the same pages. Section 8 is for those who look after systems.
    clap_mangen::Man::new(command).section("8").date("").render(&mut text)?;
    Ok((name, text))
}

fn write(directory: &Path, pages: &[(String, Vec<u8>)]) -> Result<(), String> {
    std::fs::create_dir_all(directory)
        .map_err(|fault| format!("cannot make `{}`: {fault}", directory.display()))?;
    let disk = RealDisk::open(directory).map_err(|fault| format!("`{}`: {fault}", directory.display()))?;
    let owner =
        Owner { user: rustix::process::geteuid().as_raw(), group: rustix::process::getegid().as_raw() };
    for (name, page) in pages {
        let path = Path::new("/").join(name);
        let wanted = Wanted { content: page, mode: 0o644, owner };
        bringup_disk::Files::on(&disk).replace(&path, wanted).map_err(|fault| fault.to_string())?;
    }
    Ok(())
}

/// A reader that has seen enough is no failure.
fn print(bytes: &[u8]) -> Ended {
    match io::stdout().lock().write_all(bytes) {
        Err(fault) if fault.kind() != io::ErrorKind::BrokenPipe => Ended::No,
        _ => Ended::Well,
    }
}
