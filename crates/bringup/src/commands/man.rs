//! `bringup man`

use crate::arguments::Man;
use crate::outcome::{Stop, Verdict};
use crate::{Terminal, files};

pub(crate) fn execute(arguments: &Man, terminal: &mut Terminal) -> Result<Verdict, Stop> {
    let pages = pages().map_err(|fault| Stop::failed(format!("cannot make the manual: {fault}")))?;
    match &arguments.directory {
        Some(directory) => {
            files::make_directory(directory)?;
            for (name, page) in pages {
                files::replace(&directory.join(name), &page, files::Readers::All)?;
            }
        }
        None => {
            if let Some((_, page)) = pages.first() {
                terminal.data(page)?;
            }
        }
    }
    Ok(Verdict::Good)
}

/// The pages by file name, the main one first.
fn pages() -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let mut command = crate::command();
    command.build();
    let mut pages = vec![page(command.clone())?];
    for subcommand in command.get_subcommands() {
        if !subcommand.is_hide_set() && subcommand.get_name() != "help" {
            pages.push(page(subcommand.clone())?);
        }
    }
    Ok(pages)
}

fn page(command: clap::Command) -> std::io::Result<(String, Vec<u8>)> {
    let name = format!("{}.1", command.get_display_name().unwrap_or_else(|| command.get_name()));
    let mut text = Vec::new();
    // Without a date: the same program gives the same pages.
    clap_mangen::Man::new(command).date("").render(&mut text)?;
    Ok((name, text))
}
