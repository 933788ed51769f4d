//! Events as pictures: a line of text, an SVG, a page.

mod lanes;
mod page;
mod style;
mod svg;
mod text;

pub use page::page;
pub use style::style;
pub use svg::svg;
pub use text::line;

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
