//! The names of what can be wrong with user-data.

bringup_diag::codes! {
    /// The input unpacks to more than a reader should be asked to hold: a gzip bomb, or something that is no user-data.
    TOO_LARGE = "part/too-large";
    /// Layers or MIME parts are nested deeper, or are more, than any honest user-data has.
    TOO_DEEP = "part/too-deep";
    /// What starts like gzip does not unpack: cut short, or changed on its way.
    CORRUPT_GZIP = "part/corrupt-gzip";
}
