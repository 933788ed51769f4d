// Command kubelet-flags prints the flag set of one minor of kubelet as the compiled code fills it: name and whether deprecated.
//
// It vouches for the table that tools/kubelet-table reads from source. `run` builds it, which takes minutes.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
)

func main() {
	set := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	set.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	config, err := options.NewKubeletConfiguration()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubelet-flags:", err)
		os.Exit(1)
	}
	// In the order of cmd/kubelet/app/server.go.
	options.NewKubeletFlags().AddFlags(set)
	options.AddKubeletConfigFlags(set, config)
	options.AddGlobalFlags(set)
	set.BoolP("help", "h", false, "")
	set.VisitAll(func(f *pflag.Flag) {
		state := "-"
		if f.Deprecated != "" {
			state = "deprecated"
		}
		fmt.Printf("%s\t%s\n", f.Name, state)
	})
}
