package main

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// A flag is one command-line flag of kubelet on Linux in one minor.
type flag struct {
	name       string
	kind       string
	deprecated bool
	// The Go path of the KubeletConfiguration field that the flag is bound to, if it is.
	bound string
}

const optionsPackage = "k8s.io/kubernetes/cmd/kubelet/app/options"

// kubeletFlags follows the three functions that kubelet's command calls to fill its flag set.
func kubeletFlags(r *release) ([]flag, error) {
	options, err := r.packageAt(optionsPackage)
	if err != nil {
		return nil, err
	}
	reader := &flagReader{release: r, flags: map[string]flag{}}
	for _, entry := range []struct{ function, object string }{
		{"KubeletFlags.AddFlags", ""},
		{"AddKubeletConfigFlags", "c"},
		{"AddGlobalFlags", ""},
	} {
		if err := reader.enter(options, entry.function, binding{entry.object, ""}); err != nil {
			return nil, fmt.Errorf("1.%d: %w", r.minor, err)
		}
	}
	// cmd/kubelet/app/server.go adds this one itself,
	reader.define(flag{name: "help", kind: "bool"})
	// and holds this one true if either the flag or the field is, although no code binds them.
	if f, ok := reader.flags["seccomp-default"]; ok {
		f.bound = "SeccompDefault"
		reader.flags[f.name] = f
	}
	if reader.failure != nil {
		return nil, fmt.Errorf("1.%d: %w", r.minor, reader.failure)
	}
	return reader.sorted(), nil
}

// A binding says which variable of a function stands for (a part of) KubeletConfiguration.
type binding struct{ variable, goPath string }

type flagReader struct {
	release *release
	flags   map[string]flag
	below   map[string]map[string]string
	failure error
}

func (r *flagReader) define(f flag) {
	f.name = strings.ReplaceAll(f.name, "_", "-")
	if _, twice := r.flags[f.name]; twice && r.failure == nil {
		r.failure = fmt.Errorf("--%s is defined twice", f.name)
	}
	r.flags[f.name] = f
}

func (r *flagReader) sorted() []flag {
	flags := make([]flag, 0, len(r.flags))
	for _, f := range r.flags {
		flags = append(flags, f)
	}
	slices.SortFunc(flags, func(a, b flag) int { return strings.Compare(a.name, b.name) })
	return flags
}

// enter reads the body of one function that adds flags to a set.
func (r *flagReader) enter(p *pkg, name string, bound binding) error {
	f, ok := p.functions[name]
	if !ok {
		return fmt.Errorf("%s has no function %s", p.path, name)
	}
	before := map[string]bool{}
	for known := range r.flags {
		before[known] = true
	}
	var failure error
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		if failure != nil {
			return false
		}
		switch e := n.(type) {
		case *ast.CallExpr:
			descend, err := r.call(f, e, bound)
			failure = err
			return descend
		case *ast.DeferStmt:
			// What is deferred runs over the flags that are defined by then: see below.
			return false
		}
		return true
	})
	if failure != nil {
		return fmt.Errorf("%s.%s: %w", p.path, name, failure)
	}
	r.deprecateAll(f, before)
	return nil
}

// deprecateAll applies a deferred `fs.VisitAll` that sets `Deprecated`, as AddKubeletConfigFlags has it.
func (r *flagReader) deprecateAll(f *function, before map[string]bool) {
	assigns, spared := false, map[string]bool{}
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		deferred, ok := n.(*ast.DeferStmt)
		if !ok {
			return true
		}
		ast.Inspect(deferred, func(n ast.Node) bool {
			switch e := n.(type) {
			case *ast.AssignStmt:
				if target, ok := e.Lhs[0].(*ast.SelectorExpr); ok && target.Sel.Name == "Deprecated" {
					assigns = true
				}
			case *ast.KeyValueExpr:
				if name, ok := stringLiteral(e.Key); ok {
					spared[name] = true
				}
			}
			return true
		})
		return false
	})
	if !assigns {
		return
	}
	for name, known := range r.flags {
		if !before[name] && !spared[name] {
			known.deprecated = true
			r.flags[name] = known
		}
	}
}

// Methods of a flag set that add nothing by themselves.
var silent = []string{"AddFlagSet", "AddGoFlagSet", "VisitAll", "Lookup", "MarkHidden", "GetNormalizeFunc", "NewFlagSet"}

// call reads one call; the answer says whether its arguments are worth descending into.
func (r *flagReader) call(f *function, call *ast.CallExpr, bound binding) (bool, error) {
	name, receiver := calleeOf(call)
	switch {
	case kinds[name] != "" && receiver != nil && isFlagSet(receiver):
		return false, r.definition(f, call, name, bound)
	case name == "MarkDeprecated":
		return false, r.markDeprecated(f, call)
	case name == "register" || name == "registerDeprecated" || name == "pflagRegister":
		return false, r.registration(f, call, name == "registerDeprecated")
	case name == "InitFlags" || (receiver != nil && isPackage(f, receiver, "k8s.io/klog/v2")):
		return false, r.klogFlags()
	case name == "AddFlag":
		return false, r.lookedUp(f, call)
	case name == "VisitAll" && receiver != nil && render(receiver) == "packageFlags":
		return false, r.packageFlags(f)
	case slices.Contains(silent, name):
		return name != "NewFlagSet", nil
	}
	for _, argument := range call.Args {
		if isFlagSet(argument) {
			return false, r.follow(f, call, name, receiver, bound)
		}
	}
	return true, nil
}

func (r *flagReader) definition(f *function, call *ast.CallExpr, method string, bound binding) error {
	nameAt := 0
	if strings.HasSuffix(method, "Var") || method == "VarP" {
		nameAt = 1
	}
	name, err := r.text(f, call.Args[nameAt])
	if err != nil {
		return err
	}
	defined := flag{name: name, kind: kinds[method]}
	if nameAt == 1 {
		if defined.kind == "value" {
			if defined.kind, err = valueKind(call.Args[0]); err != nil {
				return fmt.Errorf("--%s: %w", name, err)
			}
		}
		defined.bound = boundPath(call.Args[0], bound)
	}
	r.define(defined)
	return nil
}

func (r *flagReader) markDeprecated(f *function, call *ast.CallExpr) error {
	name, err := r.text(f, call.Args[0])
	if err != nil {
		return err
	}
	known, ok := r.flags[name]
	if !ok {
		return fmt.Errorf("--%s is deprecated before it is defined", name)
	}
	known.deprecated = true
	r.flags[name] = known
	return nil
}

// registration reads `register(global, local, "name")`: a flag that another library defined globally.
func (r *flagReader) registration(f *function, call *ast.CallExpr, deprecated bool) error {
	if len(call.Args) < 3 {
		return fmt.Errorf("a registration without a name")
	}
	name, err := r.text(f, call.Args[2])
	if err != nil {
		return err
	}
	kind, err := r.globalKind(name)
	if err != nil {
		return err
	}
	r.define(flag{name: name, kind: kind, deprecated: deprecated})
	return nil
}

// follow enters a function that is given the flag set.
func (r *flagReader) follow(f *function, call *ast.CallExpr, name string, receiver ast.Expr, bound binding) error {
	if receiver == nil {
		callee, ok := f.in.functions[name]
		if !ok && assignedIn(f, name) {
			// A local function value: 1.22 looks up how names are normalised with one.
			return nil
		}
		if !ok {
			return fmt.Errorf("%s is given the flag set and is not found", name)
		}
		return r.enter(f.in, name, passed(callee, call, bound))
	}
	if identifier, ok := receiver.(*ast.Ident); ok {
		if path, ok := importPath(f.file, identifier.Name); ok {
			target, err := r.release.packageAt(path)
			if err != nil {
				return err
			}
			callee, ok := target.functions[name]
			if !ok {
				return fmt.Errorf("%s.%s is given the flag set and is not found", path, name)
			}
			return r.enter(target, name, passed(callee, call, bound))
		}
		// A method of the receiver itself: `f.addOSFlags(fs)`.
		return r.enter(f.in, receiverType(f.decl)+"."+name, binding{})
	}
	// A method of an embedded struct: `f.ContainerRuntimeOptions.AddFlags(fs)`.
	selector, ok := receiver.(*ast.SelectorExpr)
	if !ok {
		return fmt.Errorf("%s is given the flag set by a %T", name, receiver)
	}
	target, typeName, err := r.embedded(f, selector.Sel.Name)
	if err != nil {
		return err
	}
	return r.enter(target, typeName+"."+name, binding{})
}

// embedded finds the package of a struct that the receiver's type embeds.
func (r *flagReader) embedded(f *function, name string) (*pkg, string, error) {
	spec, ok := f.in.types[receiverType(f.decl)]
	if !ok {
		return nil, "", fmt.Errorf("the receiver of %s is not found", f.decl.Name.Name)
	}
	for _, member := range spec.Type.(*ast.StructType).Fields.List {
		selector, ok := member.Type.(*ast.SelectorExpr)
		if !ok || len(member.Names) != 0 || selector.Sel.Name != name {
			continue
		}
		path, ok := importPath(f.in.files[spec], selector.X.(*ast.Ident).Name)
		if !ok {
			continue
		}
		target, err := r.release.packageAt(path)
		return target, name, err
	}
	return nil, "", fmt.Errorf("%s embeds no %s", spec.Name.Name, name)
}

func assignedIn(f *function, name string) bool {
	found := false
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		if assignment, ok := n.(*ast.AssignStmt); ok && render(assignment.Lhs[0]) == name {
			found = true
		}
		return !found
	})
	return found
}
