//! Scripts that once lost something, or could, each with what is to become of it.

/// A script, and `equal`, `told` or `refused`.
pub(crate) const SCRIPTS: &[(&str, &str)] = &[
    ("#!/bin/bash\nsource /given.sh\n/etc/eks/bootstrap.sh $GIVEN\n", "refused"),
    ("#!/bin/bash\nGIVEN=demo\nsource /given.sh\n/etc/eks/bootstrap.sh $GIVEN\n", "told"),
    ("#!/bin/bash\nA=demo\nprintf -v A other\n/etc/eks/bootstrap.sh $A\n", "refused"),
    ("#!/bin/bash\nA=demo\n(\nA=other\n)\n/etc/eks/bootstrap.sh demo\necho $A > /place/a\n", "equal"),
    ("#!/bin/bash\nB=$(echo x)\n/etc/eks/bootstrap.sh ${B:-demo}\n", "refused"),
    ("#!/bin/bash\nmkdir x &&\n/etc/eks/bootstrap.sh demo\n", "equal"),
    ("#!/bin/bash\nexec > /place/log\necho begins\n/etc/eks/bootstrap.sh demo\n", "equal"),
    ("#!/bin/bash\nset -e\nfalse\nset +e\n/etc/eks/bootstrap.sh demo\n", "equal"),
    ("#!/bin/bash\n/etc/eks/bootstrap.sh demo | while read -r l; do\n  echo $l\ndone\n", "refused"),
    ("#!/bin/bash\nexec sleep 0\n/etc/eks/bootstrap.sh demo\n", "refused"),
    ("#!/bin/bash\ntrap 'echo end >> /place/trace' EXIT\n/etc/eks/bootstrap.sh demo\n", "equal"),
    ("#!/bin/bash\ncat <<X > /place/x; /etc/eks/bootstrap.sh demo\nhere\nX\n", "refused"),
    (
        "#!/bin/bash\nif [ ! -x /etc/eks/bootstrap.sh ]; then exit 1; fi\n/etc/eks/bootstrap.sh demo\n",
        "equal",
    ),
    (
        "#!/bin/bash\nIFS=,\nL=a=b,c=d\n/etc/eks/bootstrap.sh demo --kubelet-extra-args --node-labels=$L\n",
        "refused",
    ),
    ("#!/bin/bash\necho 'it@{is}' > /place/it\n/etc/eks/bootstrap.sh demo --cluster-id 'x@{y}'\n", "equal"),
    ("#!/bin/bash\nmkdir d\nexec > log\necho a\ncd d\n/etc/eks/bootstrap.sh demo\necho b\n", "told"),
    ("#!/bin/bash\nif true; then exec >> /place/log; fi\n/etc/eks/bootstrap.sh demo\necho y\n", "told"),
    ("#!/bin/bash -e\nfalse\n/etc/eks/bootstrap.sh demo\n", "equal"),
    // Another shell than bash.
    ("#!/bin/sh\nA=1\ntouch /place/a\n/etc/eks/bootstrap.sh demo\necho $A > /place/b\n", "equal"),
    ("#!/bin/sh\ncd /place/\nmkdir d\ncd d\n/etc/eks/bootstrap.sh demo\ntouch here\n", "told"),
    ("#!/bin/sh\nA=$(echo x)\n/etc/eks/bootstrap.sh demo\necho $A > /place/a\n", "told"),
    ("#!/bin/sh\nf() { echo f > /place/f; }\n/etc/eks/bootstrap.sh demo\nf\n", "told"),
    ("#!/bin/sh\numask 077\n/etc/eks/bootstrap.sh demo\ntouch /place/f\n", "told"),
    ("#!/bin/sh\ntrap 'echo end >> /place/trace' EXIT\n/etc/eks/bootstrap.sh demo\n", "told"),
];
