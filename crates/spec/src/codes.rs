//! The findings of this crate.

bringup_diag::codes! {
    /// The text is not YAML or JSON, or is too large or too deeply nested to be a document.
    SYNTAX = "document/syntax";
    /// A key that the schema does not know. Nothing is ignored silently: a typo in a key is the commonest way to lose a setting.
    UNKNOWN_KEY = "document/unknown-key";
    /// A key stands twice in one mapping. Readers of YAML take the last one without a word.
    DUPLICATE_KEY = "document/duplicate-key";
    /// A mandatory key is not there.
    MISSING_KEY = "document/missing-key";
    /// A value of another type than the schema asks for.
    WRONG_TYPE = "document/wrong-type";
    /// A value of the right type that is not allowed here.
    WRONG_VALUE = "document/wrong-value";
    /// Two things of one kind have the same name.
    DUPLICATE_NAME = "document/duplicate-name";
    /// A reference to something that the document does not have.
    DANGLING = "document/dangling-reference";
    /// Keys that exclude or need each other.
    CONFLICT = "document/conflict";
    /// Not a document that this program knows.
    KIND = "document/kind";
    /// A placeholder that names no fact.
    PLACEHOLDER = "document/placeholder";
    /// A string that readers of YAML 1.1, which most programs still are, take for something else: `yes`, `on`, `1_000`.
    AMBIGUOUS = "document/ambiguous-scalar";
    /// A YAML tag that nothing here understands. Most readers drop tags silently, and with them what they were to do.
    TAG = "document/tag";
    /// A secret stands in the document itself, and would stand in user-data, where everything on the machine can read it.
    SECRET_IN_CLEAR = "document/secret-in-clear";
}
