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
    /// cloud-init has no handler for the type: the part is logged and dropped. upstart went with cloud-init 21.
    UNHANDLED_TYPE = "part/unhandled-type";
    /// The first line decides over `text/plain` and `text/x-shellscript`, so that the part is not what its header says.
    OTHER_TYPE = "part/other-type";
    /// A byte order mark hides the head line: cloud-init does not know what the text is.
    BYTE_ORDER_MARK = "part/byte-order-mark";
    /// A template is rendered only if the part's type is `text/jinja2`, or left open; `text/cloud-config` is taken as it stands.
    JINJA_NOT_RENDERED = "part/jinja-not-rendered";
    /// What a URL holds is known at boot only, and where it cannot be fetched all user-data is dropped.
    INCLUDE = "part/include";
    /// A part handler is Python that runs at boot; what it does with later parts is not known before.
    PART_HANDLER = "part/part-handler";
    /// A script without `#!` in its very first bytes is written and then refused by the kernel.
    MISSING_SHEBANG = "part/missing-shebang";
    /// cloud-init turns CRLF to LF only if the first line ends so; a CR that stays becomes part of a command.
    LINE_ENDS = "part/line-ends";
    /// Scripts run in the order of their names by code point (`10` before `9`, capitals first), not in that of the message.
    SCRIPT_ORDER = "part/script-order";
    /// Of two scripts with one name the last is written over the first, which never runs.
    DUPLICATE_NAME = "part/duplicate-name";
    /// cloud-init, or the system whose user-data this joins, uses the name for a file of its own.
    RESERVED_NAME = "part/reserved-name";
    /// Letters outside A-Z, a-z, 0-9 and `._()-` are taken out of a script's name; with none left it cannot be written.
    NAME = "part/name";
    /// A key that no module of cloud-init reads.
    UNKNOWN_KEY = "part/unknown-key";
    /// ` #` starts a comment in YAML: what follows it on the line never reaches the command or the file.
    SWALLOWED = "part/swallowed";
    /// `bootcmd`, boothooks and per-boot scripts run at every boot: what they append grows each time.
    APPEND_EVERY_BOOT = "part/append-every-boot";
    /// `bootcmd` runs before `write_files`, on the first boot the file is not there yet.
    BEFORE_FILES = "part/before-files";
    /// PyYAML reads `yes` as a truth, `0755` as 493 and `1:30` as 90; a command gets what Python prints of it.
    YAML_1_1 = "part/yaml-1.1";
    /// A bare number is taken as it is: `permissions: 755` is mode 1363. What is not octal falls back to 0644.
    PERMISSIONS = "part/permissions";
    /// Owners are looked up when the file is written, before `users` are made; a missing one stops the module.
    OWNER = "part/owner";
    /// Files are written before `mounts`: one beneath a mount point is hidden by the mount.
    UNDER_MOUNT = "part/under-mount";
    /// `/tmp` is cleaned while the machine boots, so that a file there may be gone again.
    TEMPORARY = "part/temporary";
    /// `merge_how` says how the part that holds it is merged into those before it: in the first it says nothing.
    MERGE_HOW = "part/merge-how";
    /// Lists of modules replace those of the image whole: what they leave out does not run.
    MODULE_LIST = "part/module-list";
    /// kops' nodeup moved from `/var/cache/kubernetes-install` to `/opt/kops`.
    KOPS_PATH = "part/kops-path";
    /// `systemd` is the manager itself; the command that talks to it is `systemctl`.
    NOT_SYSTEMCTL = "unit/not-systemctl";
    /// `/lib` and `/usr/lib` hold what the image ships, and differ between distributions; yours go to `/etc/systemd/system`.
    VENDOR_PATH = "unit/vendor-path";
    /// The text is no unit file. What systemd cannot read it ignores, line by line or whole, and says so in the journal
    /// only; Ignition refuses a config with such a unit, and the machine does not start.
    UNIT_SYNTAX = "unit/syntax";
    /// A setting that systemd does not know, and ignores.
    UNKNOWN_SETTING = "unit/unknown-setting";
    /// `Requires=` and its kin start a unit together with this one, in no order, unless `After=` names it too.
    REQUIRES_WITHOUT_AFTER = "unit/requires-without-after";
    /// A oneshot has no start timeout to begin with.
    TIMEOUT_MOOT = "unit/timeout-moot";
    /// systemd runs programs, not shell lines: redirections and `&&` are passed on as arguments.
    NO_SHELL = "unit/no-shell";
}
