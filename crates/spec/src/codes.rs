//! The findings of this crate.

bringup_diag::codes! {
    /// The text is not YAML or JSON, or is too large or too deeply nested to be a document. Nothing is built from it.
    /// Correct the line that the message points to; the fault is often one line above, in a quote or an indentation.
    SYNTAX = "document/syntax";
    /// A key that the schema does not know. Nothing is ignored silently: a typo in a key is the commonest way to lose a setting.
    UNKNOWN_KEY = "document/unknown-key";
    /// A key stands twice in one mapping. Readers of YAML take the last one without a word. Half of what was written
    /// would be lost on the nodes. Keep one of the two, or put both values under it.
    DUPLICATE_KEY = "document/duplicate-key";
    /// A mandatory key is not there. No sensible value can be guessed, and nothing is built without it. Add the key as
    /// the hint shows; `bringup schema` describes each one.
    MISSING_KEY = "document/missing-key";
    /// A value of another type than the schema asks for. Text is not turned into numbers or numbers into text, because
    /// YAML readers differ in how they do it. Write the type that the message names, with or without quotes.
    WRONG_TYPE = "document/wrong-type";
    /// A value of the right type that is not allowed here. The node would refuse it later, when nobody is looking.
    /// Write a value of the form or within the range that the hint names.
    WRONG_VALUE = "document/wrong-value";
    /// Two things of one kind have the same name. References, directories of the output and journals go by name, and
    /// could not tell them apart. Give one of them another name.
    DUPLICATE_NAME = "document/duplicate-name";
    /// A reference to something that the document does not have. What it belongs to would never be built or reached.
    /// Correct the name as the hint says, or add what is missing.
    DANGLING = "document/dangling-reference";
    /// Keys that exclude or need each other. With both, or with only one of a pair, nobody can say what the node
    /// should do. Keep those that the hint names.
    CONFLICT = "document/conflict";
    /// Not a document that this program knows. Documents of other tools are not guessed at, and nothing is built.
    /// Write the `apiVersion` and `kind` that the hint names, or begin with `bringup init`.
    KIND = "document/kind";
    /// A placeholder that names no fact. It would reach the node as text, with its braces. Write a fact such as
    /// `@{zone}` or `@{tags.NAME}`; `@@{` stands for the letters themselves.
    PLACEHOLDER = "document/placeholder";
    /// A string that readers of YAML 1.1, which most programs still are, take for something else: `yes`, `on`,
    /// `1_000`. Other programs that read the document would see another value. Put it in quotes, or write what is
    /// meant, such as `true`.
    AMBIGUOUS = "document/ambiguous-scalar";
    /// A YAML tag that nothing here understands. Most readers drop tags silently, and with them what they were to do.
    TAG = "document/tag";
    /// A secret stands in the document itself, and would stand in user-data, where everything on the machine can read
    /// it. It would also be in version control and in every report. Write a reference such as `{ssmParameter:
    /// /cluster/token}`.
    SECRET_IN_CLEAR = "document/secret-in-clear";
    /// Not a NodeConfig of `node.eks.aws/v1alpha1`. nodeadm refuses it, and so the node is not brought up. Write
    /// `apiVersion: node.eks.aws/v1alpha1` and `kind: NodeConfig`.
    NODECONFIG_KIND = "nodeconfig/kind";
    /// A key of a NodeConfig that nodeadm does not know. It drops such keys without a word, and so nothing comes of it on
    /// the node. Correct the key, or remove it.
    NODECONFIG_UNKNOWN_KEY = "nodeconfig/unknown-key";
    /// A value of another type than nodeadm reads there. nodeadm refuses the whole NodeConfig then. Write the type that
    /// the message names.
    NODECONFIG_TYPE = "nodeconfig/wrong-type";
    /// A value that nodeadm takes and nothing on the node can use, or that nodeadm refuses later. Write what the hint
    /// says.
    NODECONFIG_VALUE = "nodeconfig/value";
    /// Once all NodeConfigs are merged, nodeadm needs the cluster's name, endpoint, authority and service range; on an
    /// Outpost also its id. Write them in one of the NodeConfigs.
    NODECONFIG_MISSING = "nodeconfig/required";
    /// A file with several documents. nodeadm reads the first and drops the others without a word. Put each into a file
    /// or a part of its own.
    NODECONFIG_FURTHER = "nodeconfig/further-document";
    /// Something that should hold a NodeConfig and cannot be taken apart: MIME without its end, compressed data that is cut
    /// off, a message or a directory without any NodeConfig in it. The node would be configured without what it was to
    /// say. Give a file, a directory of files or user-data that has one.
    NODECONFIG_SOURCE = "nodeconfig/source";
    /// A call of `bootstrap` without a cluster's name, or with a flag that has no value. `bootstrap.sh` ends there in the
    /// midst of its work, or goes on without. Write what the hint says.
    BOOTSTRAP_CALL = "bootstrap/call";
    /// A word of a call of `bootstrap` that is no flag and not the cluster's name. `bootstrap.sh` lets such words pass, and
    /// with them what they were to do. Correct the word, or remove it.
    BOOTSTRAP_WORD = "bootstrap/unknown-word";
    /// A value that a flag of `bootstrap` cannot have, or flags that exclude each other. Write what the hint says.
    BOOTSTRAP_VALUE = "bootstrap/value";
}
