//! The findings of this crate.

bringup_diag::codes! {
    /// A field of another system's document that this version has never heard of. It may shape the node or not; nobody
    /// here can tell, so that it is named rather than dropped. Remove it, or correct its spelling.
    UNKNOWN_FIELD = "ancestor/unknown-field";
    /// A field of another system's document that shapes something other than a node: the network, accounts, the control
    /// plane. The nodes come up the same without it; make that part with the tool that you have made it with so far.
    FIELD_ASIDE = "ancestor/field-aside";
    /// A field of another system's document that is understood and not carried out: the node will differ from the one
    /// that the other system makes. The hint says what to write instead, or what to do about it.
    FIELD_DIFFERS = "ancestor/field-differs";
    /// What another system's document asks for stops the translation: no node can be brought up from it here. A node
    /// group is left out by itself, and the others are built; else nothing is. The hint says what to write instead, or which
    /// system to stay with.
    FIELD_REFUSED = "ancestor/field-refused";
    /// A value of another type than the other system takes at this place. Its own tool would refuse it too, or read
    /// something else than was meant.
    WRONG_TYPE = "ancestor/wrong-type";
    /// Something that the translation needs and that the document does not hold, such as the cluster that an instance
    /// group belongs to. Give it in the same call, or add it with a document of the kind `Additions`.
    MISSING = "ancestor/missing";
    /// Something that the other system does is done in another way here, and the outcome is meant to be the same or
    /// better. The message says what differs; nothing has to be changed unless something else relies on the old way.
    DIFFERENCE = "ancestor/difference";
    /// There is nothing that these additions could be laid over: no document of another system among the files, or no
    /// cluster or group of that name. What they say would be lost. Give the files in one call, and correct the names.
    ADDITIONS = "ancestor/additions";
    /// A secret stands in another system's document. It is not taken over: not into plans, carriers or converted documents.
    /// The hint names the environment variable from which it is read instead. Take the secret out of the file.
    INLINE_SECRET = "ancestor/inline-secret";
}
