//! Events as pictures: a line of text, an SVG, a page.

mod svg;
mod text;

pub use svg::svg;
pub use text::line;
