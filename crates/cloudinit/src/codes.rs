//! The names of what can be wrong with user-data.

bringup_diag::codes! {
    /// The input unpacks to more than a reader should be asked to hold: a gzip bomb, or something that is no user-data.
    TOO_LARGE = "part/too-large";
    /// Layers or MIME parts are nested deeper, or are more, than any honest user-data has.
    TOO_DEEP = "part/too-deep";
    /// What starts like gzip does not unpack: cut short, or changed on its way.
    CORRUPT_GZIP = "part/corrupt-gzip";
    /// A platform's API takes off one base64 and cloud-init one gzip. Whatever is wrapped otherwise reaches the node as noise.
    WRAPPED_TWICE = "part/wrapped-twice";
    /// cloud-init reads text as UTF-8 and cannot write what is not.
    NOT_UTF8 = "part/not-utf8";
    /// Python reads a MIME part that is neither base64 nor quoted-printable letter by letter as Latin-1. A part with a
    /// letter outside ASCII is lost, or the letter arrives as an escape; 8bit or a charset does not help, base64 does.
    NOT_ASCII = "part/not-ascii";
    /// A multipart message without its boundary has no parts.
    NO_BOUNDARY = "part/no-boundary";
    /// An archive that is no list of parts, or a part in it that is no text.
    ARCHIVE = "part/archive";
    /// PyYAML takes tabs nowhere but inside quotes, blocks and comments; one tab elsewhere makes cloud-init drop the whole part.
    TAB = "part/tab";
    /// A control character makes PyYAML refuse the whole part.
    UNPRINTABLE = "part/unprintable";
    /// The part is not YAML as PyYAML reads it: cloud-init logs it and drops the whole part.
    YAML = "part/yaml";
    /// Of two equal keys in a mapping the last counts, without a word.
    DUPLICATE_KEY = "part/duplicate-key";
    /// A jinja part that cloud-init cannot render, or that renders to something that it does not handle.
    JINJA = "part/jinja";
    /// What a template asks of the node (region, instance id, host name) is shown as the template writes it.
    NODE_FACT = "part/node-fact";
    /// cloud-init cannot merge the part into those before it, and drops it.
    UNMERGEABLE = "part/unmergeable";
    /// By default a key of a later cloud-config part replaces the same key of an earlier one whole: of two parts with
    /// `runcmd` only the last runs. `merge_how` counts in the later part only.
    REPLACED_KEY = "part/replaced-key";
    /// One bad item of `write_files` stops the module: the files below it are never written.
    WRITE_FILES = "part/write-files";
    /// One item of `bootcmd` or `runcmd` that is neither a string nor a list keeps all of them from running.
    COMMAND_TYPE = "part/command-type";
}
