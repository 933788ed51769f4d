//! The one place that prints: data to standard output, everything said about it to standard error.

use std::io::{ErrorKind, IsTerminal as _, Write};

use anstream::{AutoStream, ColorChoice};
use bringup_diag::{Colour, Findings, Sources, to_text};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::arguments::ColorWish;
use crate::outcome::Stop;

/// Below this, work is done before a bar could be read.
const WORTH_A_BAR: usize = 200;

/// Standard output and standard error, with what is known about who reads them.
pub struct Terminal {
    out: Box<dyn Write>,
    error: Box<dyn Write>,
    out_colour: Colour,
    error_colour: Colour,
    watched: bool,
}

impl std::fmt::Debug for Terminal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Terminal").field("watched", &self.watched).finish_non_exhaustive()
    }
}

impl Default for Terminal {
    fn default() -> Self {
        Self::new()
    }
}

impl Terminal {
    /// The terminal of this process.
    pub fn new() -> Self {
        let (out, error) = (std::io::stdout(), std::io::stderr());
        Self {
            out_colour: colour_for(AutoStream::choice(&out)),
            error_colour: colour_for(AutoStream::choice(&error)),
            watched: error.is_terminal(),
            out: Box::new(std::io::BufWriter::new(out)),
            error: Box::new(error),
        }
    }

    /// What the person wants beats what we can see.
    pub(crate) fn choose_colour(&mut self, wish: ColorWish) {
        let colour = match wish {
            ColorWish::Auto => return,
            ColorWish::Always => Colour::Always,
            ColorWish::Never => Colour::Never,
        };
        self.out_colour = colour;
        self.error_colour = colour;
    }

    /// Writes data.
    pub(crate) fn data(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let written = self.out.write_all(bytes);
        written.or_else(|fault| forgive_closed_pipe(&fault))
    }

    /// Writes a JSON value, indented, with a line end.
    pub(crate) fn json(&mut self, value: &serde_json::Value) -> Result<(), Stop> {
        self.data(format!("{value:#}\n").as_bytes())
    }

    /// Says something about the work. A standard error that is closed is no reason to stop.
    pub(crate) fn say(&mut self, text: &str) {
        let _ = self.error.write_all(text.as_bytes());
    }

    /// Shows findings to a person.
    pub(crate) fn findings(&mut self, findings: &Findings, sources: &Sources) {
        let text = to_text(findings, sources, self.error_colour);
        self.say(&text);
    }

    /// Hands over what is still held back.
    pub(crate) fn flush(&mut self) -> Result<(), Stop> {
        let flushed = self.out.flush();
        flushed.or_else(|fault| forgive_closed_pipe(&fault))
    }

    /// Text of clap, with or without its colours.
    pub(crate) fn styled(&self, text: &clap::builder::StyledStr, to_error: bool) -> String {
        match if to_error { self.error_colour } else { self.out_colour } {
            Colour::Always => text.ansi().to_string(),
            Colour::Never => text.to_string(),
        }
    }

    /// Colours for standard output.
    pub(crate) fn paint(&self) -> Paint {
        Paint(self.out_colour)
    }

    /// Colours for standard error.
    pub(crate) fn error_paint(&self) -> Paint {
        Paint(self.error_colour)
    }

    /// A bar for `total` pieces of work, if anybody would see it.
    pub(crate) fn progress(&self, total: usize, what: &'static str) -> ProgressBar {
        if !self.watched || total < WORTH_A_BAR {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::with_draw_target(u64::try_from(total).ok(), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{msg:>10} [{bar:40}] {pos}/{len}") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(what);
        bar
    }
}

fn colour_for(choice: ColorChoice) -> Colour {
    if matches!(choice, ColorChoice::Never) { Colour::Never } else { Colour::Always }
}

/// Whoever reads our output and has seen enough changes neither the work nor the exit code.
fn forgive_closed_pipe(fault: &std::io::Error) -> Result<(), Stop> {
    if fault.kind() == ErrorKind::BrokenPipe {
        return Ok(());
    }
    Err(Stop::failed(format!("cannot write to standard output: {}", crate::files::reason(fault))))
}

/// Colours by what they mean. Meaning never depends on them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint(Colour);

impl Paint {
    /// With colours or without.
    #[cfg(test)]
    pub(crate) fn new(colour: Colour) -> Self {
        Self(colour)
    }

    fn with(self, style: &str, text: &str) -> String {
        match self.0 {
            Colour::Never => text.to_owned(),
            Colour::Always => format!("\u{1b}[{style}m{text}\u{1b}[0m"),
        }
    }

    /// What stands out.
    pub(crate) fn strong(self, text: &str) -> String {
        self.with("1", text)
    }

    /// What went wrong.
    pub(crate) fn error(self, text: &str) -> String {
        self.with("1;31", text)
    }

    /// What may go wrong.
    pub(crate) fn warning(self, text: &str) -> String {
        self.with("1;33", text)
    }

    /// What is well.
    pub(crate) fn good(self, text: &str) -> String {
        self.with("1;32", text)
    }

    /// Lines and arrows.
    pub(crate) fn frame(self, text: &str) -> String {
        self.with("1;34", text)
    }

    /// What can be passed over.
    pub(crate) fn faint(self, text: &str) -> String {
        self.with("2", text)
    }
}
