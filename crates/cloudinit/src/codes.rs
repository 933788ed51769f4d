//! The names of what can be wrong with user-data.

bringup_diag::codes! {
    /// The input unpacks to more than a reader should be asked to hold: a gzip bomb, or something that is no
    /// user-data. It is not read further. Look at what produced it: EC2 takes 16 KiB of user-data, and no cloud takes
    /// megabytes.
    TOO_LARGE = "part/too-large";
    /// Layers or MIME parts are nested deeper, or are more, than any honest user-data has. It is not read further, and
    /// cloud-init may give up as well. Put the parts side by side into one multipart, packed once.
    TOO_DEEP = "part/too-deep";
    /// What starts like gzip does not unpack: cut short, or changed on its way. cloud-init fails on it and drops all
    /// user-data, so that the machine starts as its image is. Pack it again, and hand it on as bytes, not as text.
    CORRUPT_GZIP = "part/corrupt-gzip";
    /// A platform's API takes off one base64 and cloud-init one gzip. Whatever is wrapped otherwise reaches the node as noise.
    WRAPPED_TWICE = "part/wrapped-twice";
    /// cloud-init reads text as UTF-8 and cannot write what is not. The file or script is missing on the node, with a
    /// line in cloud-init's log only. Save the file as UTF-8, or carry bytes with `encoding: b64`.
    NOT_UTF8 = "part/not-utf8";
    /// Python reads a MIME part that is neither base64 nor quoted-printable letter by letter as Latin-1. A part with a
    /// letter outside ASCII is lost, or the letter arrives as an escape; 8bit or a charset does not help, base64 does.
    NOT_ASCII = "part/not-ascii";
    /// A multipart message without its boundary has no parts. cloud-init drops all of it, and the machine starts as
    /// its image is. Put the `boundary=` of the header on a line of its own, with two dashes before it, above each
    /// part.
    NO_BOUNDARY = "part/no-boundary";
    /// An archive that is no list of parts, or a part in it that is no text. cloud-init drops the archive, or all
    /// user-data. Write `- type: text/x-shellscript` and `content: |` with the text for each part.
    ARCHIVE = "part/archive";
    /// PyYAML takes tabs nowhere but inside quotes, blocks and comments; one tab elsewhere makes cloud-init drop the
    /// whole part. Indent with spaces.
    TAB = "part/tab";
    /// A control character makes PyYAML refuse the whole part. Nothing in that part then happens. Delete the
    /// character, or write the content in base64 with `encoding: b64`.
    UNPRINTABLE = "part/unprintable";
    /// The part is not YAML as PyYAML reads it: cloud-init logs it and drops the whole part. The machine starts as if
    /// the part was not there. Quote the value or correct the indentation where the message points.
    YAML = "part/yaml";
    /// Of two equal keys in a mapping the last counts, without a word. What stands under the first never happens. Join
    /// the two, or delete one.
    DUPLICATE_KEY = "part/duplicate-key";
    /// A jinja part that cloud-init cannot render, or that renders to something that it does not handle. The part is
    /// dropped, and only cloud-init's log says so. Correct what the message names; the second line must be the head
    /// line of what it renders to.
    JINJA = "part/jinja";
    /// What a template asks of the node (region, instance id, host name) is shown as the template writes it. Its value
    /// is known on the node only. Read it there with `cloud-init query NAME`.
    NODE_FACT = "part/node-fact";
    /// cloud-init cannot merge the part into those before it, and drops it. Nothing in it then happens. Write a
    /// mapping with the types that the earlier parts have, or correct `merge_how`.
    UNMERGEABLE = "part/unmergeable";
    /// By default a key of a later cloud-config part replaces the same key of an earlier one whole: of two parts with
    /// `runcmd` only the last runs. `merge_how` counts in the later part only.
    REPLACED_KEY = "part/replaced-key";
    /// One bad item of `write_files` stops the module: the files below it are never written. Services that read them
    /// fail later, far from the cause. Correct the item that the message names.
    WRITE_FILES = "part/write-files";
    /// One item of `bootcmd` or `runcmd` that is neither a string nor a list keeps all of them from running. Put the
    /// item into quotes, or write it as a list of words.
    COMMAND_TYPE = "part/command-type";
    /// cloud-init has no handler for the type: the part is logged and dropped. upstart went with cloud-init 21.
    UNHANDLED_TYPE = "part/unhandled-type";
    /// The first line decides over `text/plain` and `text/x-shellscript`, so that the part is not what its header
    /// says. It is then run or merged as something else. Let the first line and the type say the same.
    OTHER_TYPE = "part/other-type";
    /// A byte order mark hides the head line: cloud-init does not know what the text is. The part is dropped, and the
    /// machine starts as if it was not there. Save the file as UTF-8 without a byte order mark.
    BYTE_ORDER_MARK = "part/byte-order-mark";
    /// A template is rendered only if the part's type is `text/jinja2`, or left open; `text/cloud-config` is taken as
    /// it stands. The braces reach the node as text. Give the part the type `text/jinja2`, with `## template: jinja`
    /// in its first line.
    JINJA_NOT_RENDERED = "part/jinja-not-rendered";
    /// What a URL holds is known at boot only, and where it cannot be fetched all user-data is dropped. The machine
    /// then starts as its image is. Hold the content in the user-data itself, or in an address that is always there.
    INCLUDE = "part/include";
    /// A part handler is Python that runs at boot; what it does with later parts is not known before. It is therefore
    /// neither shown nor checked. Try it on a machine, and look at `/var/log/cloud-init.log`.
    PART_HANDLER = "part/part-handler";
    /// A script without `#!` in its very first bytes is written and then refused by the kernel. What it should do
    /// never happens, and cloud-init reports a failed script. Put `#!/bin/sh` at the very start, without a blank line
    /// or space before it.
    MISSING_SHEBANG = "part/missing-shebang";
    /// cloud-init turns CRLF to LF only if the first line ends so; a CR that stays becomes part of a command. The
    /// command fails, often with `not found` behind a name that is right. Save the file with LF.
    LINE_ENDS = "part/line-ends";
    /// Scripts run in the order of their names by code point (`10` before `9`, capitals first), not in that of the
    /// message. A script that relies on an earlier one may run before it. Give all of them numbers of the same width,
    /// such as `010-` and `020-`.
    SCRIPT_ORDER = "part/script-order";
    /// Of two scripts with one name the last is written over the first, which never runs. Half of the work is missing
    /// on the node, without an error. Give each part a name of its own.
    DUPLICATE_NAME = "part/duplicate-name";
    /// cloud-init, or the system whose user-data this joins, uses the name for a file of its own. One of the two
    /// replaces the other, and never runs. Give the part another name.
    RESERVED_NAME = "part/reserved-name";
    /// Letters outside A-Z, a-z, 0-9 and `._()-` are taken out of a script's name; with none left it cannot be
    /// written. Two names can become one in that way. Write names of such letters only.
    NAME = "part/name";
    /// A key that no module of cloud-init reads. What it asks for does not happen, and cloud-init only warns in its
    /// log. Correct the spelling as the hint says, or delete it.
    UNKNOWN_KEY = "part/unknown-key";
    /// ` #` starts a comment in YAML: what follows it on the line never reaches the command or the file. The command
    /// runs without its end, or fails for an open quote; the file is cut short. Put the whole value in quotes.
    SWALLOWED = "part/swallowed";
    /// `bootcmd`, boothooks and per-boot scripts run at every boot: what they append grows each time. Lines then stand
    /// there many times, which some programs refuse. Write the file whole, or guard the command with `cloud-init-per
    /// once NAME`.
    APPEND_EVERY_BOOT = "part/append-every-boot";
    /// `bootcmd` runs before `write_files`, on the first boot the file is not there yet. The command fails then, and
    /// works on later boots, which hides the fault. Run it from `runcmd`, or write the file in `bootcmd` itself.
    BEFORE_FILES = "part/before-files";
    /// PyYAML reads `yes` as a truth, `0755` as 493 and `1:30` as 90; a command gets what Python prints of it. Put
    /// such words in quotes.
    YAML_1_1 = "part/yaml-1.1";
    /// A bare number is taken as it is: `permissions: 755` is mode 1363. What is not octal falls back to 0644.
    PERMISSIONS = "part/permissions";
    /// cloud-init looks an owner up when it writes the file, before `users` are made; a missing one stops the module.
    /// The files below it are never written. Add `defer: true`, which writes the file after users are made.
    OWNER = "part/owner";
    /// Files are written before `mounts`: one beneath a mount point is hidden by the mount. Programs find the mounted
    /// directory without it. Add `defer: true`: the file is then written after the mounts.
    UNDER_MOUNT = "part/under-mount";
    /// `/tmp` is cleaned while the machine boots, so that a file there may be gone again. A script that runs later
    /// then fails. Use a directory of your own under `/run`, or `/var/lib` for what must stay.
    TEMPORARY = "part/temporary";
    /// `merge_how` says how the part that holds it is merged into those before it: in the first it says nothing. Lists
    /// of a later part then still replace those of the first. Write it into each later part.
    MERGE_HOW = "part/merge-how";
    /// Lists of modules replace those of the image whole: what they leave out does not run. Keys that belong to such
    /// modules do nothing, without an error. Add the module to the list, or leave the list to the image.
    MODULE_LIST = "part/module-list";
    /// kops' nodeup moved from `/var/cache/kubernetes-install` to `/opt/kops`. A script that looks in the old place
    /// finds nothing on newer images. Write `/opt/kops`.
    KOPS_PATH = "part/kops-path";
    /// `systemd` is the manager itself; the command that talks to it is `systemctl`. The command fails, and as the
    /// last of a script it fails the script. Write `systemctl daemon-reload` and the like.
    NOT_SYSTEMCTL = "unit/not-systemctl";
    /// `/lib` and `/usr/lib` hold what the image ships, and differ between distributions; yours go to
    /// `/etc/systemd/system`. Upgrades of packages overwrite them, and on read-only images the write fails. Write the
    /// unit there.
    VENDOR_PATH = "unit/vendor-path";
    /// The text is no unit file. What systemd cannot read it ignores, line by line or whole, and says so in the journal
    /// only; Ignition refuses a config with such a unit, and the machine does not start.
    UNIT_SYNTAX = "unit/syntax";
    /// A setting that systemd does not know, and ignores. The unit runs without it, and only the journal says so.
    /// Correct the spelling or the section as the hint says; it may also be newer than the list.
    UNKNOWN_SETTING = "unit/unknown-setting";
    /// `Requires=` and its kin start a unit together with this one, in no order, unless `After=` names it too. Both
    /// are started at once, and this one fails if the other is slower. Add `After=` with the same name.
    REQUIRES_WITHOUT_AFTER = "unit/requires-without-after";
    /// A oneshot has no start timeout to begin with. systemd waits for it as long as it takes, so that `infinity`
    /// changes nothing. Delete the line, or write a time to have a limit.
    TIMEOUT_MOOT = "unit/timeout-moot";
    /// systemd runs programs, not shell lines: redirections and `&&` are passed on as arguments. The program gets `>`
    /// or `&&` as arguments and usually fails. Write `/bin/sh -c '…'`, or put the lines into a script.
    NO_SHELL = "unit/no-shell";
}
