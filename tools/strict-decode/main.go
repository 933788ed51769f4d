// Command strict-decode decodes kubelet configurations as kubelet does: strictly, by the types of one minor.
//
// The same source is built once for each minor, with the go.MINOR.mod beside it: see `run`.
package main

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/kubelet/config/v1beta1"
)

const usage = `usage: strict-decode FILE…
       strict-decode --lines FILE   decode each line by itself; apiVersion and kind may be left out
       strict-decode --fields       list every JSON field of KubeletConfiguration
A FILE of - is standard input.`

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--fields" {
		for _, path := range fieldsOf(reflect.TypeOf(v1beta1.KubeletConfiguration{}), "") {
			fmt.Println(path)
		}
		return
	}
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	scheme := runtime.NewScheme()
	if err := v1beta1.AddToScheme(scheme); err != nil {
		fmt.Fprintln(os.Stderr, "strict-decode:", err)
		os.Exit(2)
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	verdict := (*tally).files
	paths := os.Args[1:]
	if paths[0] == "--lines" {
		verdict, paths = (*tally).lines, paths[1:]
	}
	t := &tally{decoder: decoder}
	for _, path := range paths {
		if err := verdict(t, path); err != nil {
			fmt.Fprintln(os.Stderr, "strict-decode:", err)
			os.Exit(2)
		}
	}
	if t.failed {
		os.Exit(1)
	}
}

// A tally prints a verdict for each configuration and remembers whether any was bad.
type tally struct {
	decoder runtime.Decoder
	failed  bool
}

func (t *tally) files(path string) error {
	text, err := read(path)
	if err == nil {
		t.report(path, t.decode(text, nil))
	}
	return err
}

func (t *tally) lines(path string) error {
	text, err := read(path)
	if err != nil {
		return err
	}
	byDefault := v1beta1.SchemeGroupVersion.WithKind("KubeletConfiguration")
	for number, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		t.report(strconv.Itoa(number+1), t.decode([]byte(line), &byDefault))
	}
	return nil
}

func (t *tally) report(name string, err error) {
	if err == nil {
		fmt.Printf("ok %s\n", name)
		return
	}
	t.failed = true
	fmt.Printf("error %s: %s\n", name, strings.Join(strings.Fields(err.Error()), " "))
}

// decode finds unknown and duplicate fields to be errors, as kubelet does.
func (t *tally) decode(text []byte, byDefault *schema.GroupVersionKind) error {
	object, _, err := t.decoder.Decode(text, byDefault, nil)
	if err != nil {
		return err
	}
	if _, ok := object.(*v1beta1.KubeletConfiguration); !ok {
		return fmt.Errorf("decodes as %T, not as KubeletConfiguration", object)
	}
	return nil
}

func read(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(path)
}
