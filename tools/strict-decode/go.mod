// Only marks the root of the module: each minor is built with its own go.MINOR.mod, see `run`.
module bringup.dev/tools/strict-decode

go 1.24
