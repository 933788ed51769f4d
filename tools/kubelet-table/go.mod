module bringup.dev/tools/kubelet-table

go 1.24
