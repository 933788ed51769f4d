package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Flags that libraries keep in sets of their own: klog, component-base/logs, verflag, cAdvisor, credential providers.

// klogFlags adds every flag that klog.InitFlags defines.
func (r *flagReader) klogFlags() error {
	all, err := r.initFlags()
	if err != nil {
		return err
	}
	for _, f := range all {
		r.define(f)
	}
	return nil
}

func (r *flagReader) initFlags() ([]flag, error) {
	klog, err := r.release.packageAt("k8s.io/klog/v2")
	if err != nil {
		return nil, err
	}
	init, ok := klog.functions["InitFlags"]
	if !ok {
		return nil, fmt.Errorf("klog has no InitFlags")
	}
	// Newer versions copy a flag set that the package fills in its own init.
	bodies := []*function{init}
	inner := &flagReader{release: r.release, flags: map[string]flag{}}
	for _, f := range append(bodies, klog.inits...) {
		var failure error
		ast.Inspect(f.decl.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || failure != nil {
				return failure == nil
			}
			name, receiver := calleeOf(call)
			if kinds[name] == "" || receiver == nil || !slices.Contains([]string{"flagset", "commandLine"}, render(receiver)) {
				return true
			}
			if _, ok := stringLiteral(call.Args[min(1, len(call.Args)-1)]); !ok {
				return true
			}
			failure = inner.definition(f, call, name, binding{})
			return false
		})
		if failure != nil {
			return nil, failure
		}
	}
	if inner.failure != nil {
		return nil, inner.failure
	}
	return inner.sorted(), nil
}

// lookedUp reads `fs.AddFlag(pflag.Lookup(name))`, where the package defined the flag globally.
func (r *flagReader) lookedUp(f *function, call *ast.CallExpr) error {
	lookup, ok := call.Args[0].(*ast.CallExpr)
	if !ok {
		return fmt.Errorf("AddFlag of %s", render(call.Args[0]))
	}
	name, err := r.text(f, lookup.Args[0])
	if err != nil {
		return err
	}
	kind, ok := map[string]string{"version": "version", "log-flush-frequency": "duration"}[name]
	if !ok {
		return fmt.Errorf("the kind of the global flag --%s is not known", name)
	}
	r.define(flag{name: name, kind: kind})
	return nil
}

// packageFlags reads component-base/logs.AddFlags from 1.23 on: it visits the package's own set and sorts
// it with a switch. Kubelet passes SkipLoggingConfigurationFlags, so a case that returns on it adds nothing.
func (r *flagReader) packageFlags(f *function) error {
	all, err := r.ownSet(f.in)
	if err != nil {
		return err
	}
	var sorting *ast.SwitchStmt
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		if s, ok := n.(*ast.SwitchStmt); ok {
			sorting = s
		}
		return true
	})
	if sorting == nil {
		return fmt.Errorf("no switch over the package's flags")
	}
	for _, candidate := range all {
		clause, err := r.clauseFor(f, sorting, candidate.name)
		if err != nil {
			return err
		}
		if clause != nil {
			if mentions(clause, "skipLoggingConfigurationFlags") {
				continue
			}
			candidate.deprecated = mentions(clause, "Deprecated")
		}
		r.define(candidate)
	}
	return nil
}

// ownSet reads what the init functions of component-base/logs put into `packageFlags`.
func (r *flagReader) ownSet(p *pkg) ([]flag, error) {
	var all []flag
	for _, init := range p.inits {
		for _, statement := range init.decl.Body.List {
			expression, ok := statement.(*ast.ExprStmt)
			if !ok {
				continue
			}
			call, ok := expression.X.(*ast.CallExpr)
			if !ok {
				continue
			}
			name, receiver := calleeOf(call)
			switch {
			case name == "InitFlags" && render(call.Args[0]) == "packageFlags":
				klog, err := r.initFlags()
				if err != nil {
					return nil, err
				}
				all = append(all, klog...)
			case name == "Init" && render(receiver) == "klogflags":
				klog, err := r.keptByKlogflags()
				if err != nil {
					return nil, err
				}
				all = append(all, klog...)
			case kinds[name] != "" && render(receiver) == "packageFlags":
				text, err := r.text(init, call.Args[1])
				if err != nil {
					return nil, err
				}
				all = append(all, flag{name: text, kind: kinds[name]})
			}
		}
	}
	return all, nil
}

// keptByKlogflags reads which of klog's flags component-base still passes on.
func (r *flagReader) keptByKlogflags() ([]flag, error) {
	p, err := r.release.packageAt("k8s.io/component-base/logs/klogflags")
	if err != nil {
		return nil, err
	}
	var kept []string
	ast.Inspect(p.functions["Init"].decl.Body, func(n ast.Node) bool {
		if clause, ok := n.(*ast.CaseClause); ok {
			for _, e := range clause.List {
				if name, ok := stringLiteral(e); ok {
					kept = append(kept, name)
				}
			}
		}
		return true
	})
	all, err := r.initFlags()
	return slices.DeleteFunc(all, func(f flag) bool { return !slices.Contains(kept, f.name) }), err
}

func (r *flagReader) clauseFor(f *function, sorting *ast.SwitchStmt, name string) (*ast.CaseClause, error) {
	var byDefault *ast.CaseClause
	for _, statement := range sorting.Body.List {
		clause := statement.(*ast.CaseClause)
		if clause.List == nil {
			byDefault = clause
		}
		for _, e := range clause.List {
			text, err := r.text(f, e)
			if err != nil {
				return nil, err
			}
			if text == name {
				return clause, nil
			}
		}
	}
	return byDefault, nil
}

func mentions(n ast.Node, name string) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if identifier, ok := n.(*ast.Ident); ok && identifier.Name == name {
			found = true
		}
		return !found
	})
	return found
}

// globalKind finds `flag.Duration("name", …)` or `flag.DurationVar(&v, "name", …)` in the libraries whose flags kubelet re-registers.
func (r *flagReader) globalKind(name string) (string, error) {
	var roots []string
	for _, module := range []string{"github.com/google/cadvisor", "github.com/google/cadvisor/lib"} {
		if _, ok := r.release.versions[module]; ok {
			dir, err := r.release.moduleDir(module)
			if err != nil {
				return "", err
			}
			roots = append(roots, dir)
		}
	}
	kubernetes, err := r.release.moduleDir("k8s.io/kubernetes")
	if err != nil {
		return "", err
	}
	roots = append(roots, filepath.Join(kubernetes, "pkg", "credentialprovider"))
	for _, root := range roots {
		known, err := r.definedBelow(root)
		if err != nil {
			return "", err
		}
		if kind, ok := known[name]; ok {
			return kind, nil
		}
	}
	return "", fmt.Errorf("the global flag --%s is defined by no library", name)
}

// definedBelow lists every flag that any package below a directory defines with a literal name.
func (r *flagReader) definedBelow(root string) (map[string]string, error) {
	if known, ok := r.below[root]; ok {
		return known, nil
	}
	known := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return ignoreMissing(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		p := &pkg{constants: map[string]string{}}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, receiver := calleeOf(call)
			if receiver == nil || kinds[method] == "" || !slices.Contains([]string{"flag", "pflag"}, render(receiver)) {
				return true
			}
			at := 0
			if strings.HasSuffix(method, "Var") {
				at = 1
			}
			if at >= len(call.Args) {
				return true
			}
			if name, err := r.text(&function{in: p, file: file}, call.Args[at]); err == nil {
				known[name] = kinds[method]
				if kinds[method] == "value" {
					known[name] = "string"
				}
			}
			return true
		})
		return nil
	})
	if r.below == nil {
		r.below = map[string]map[string]string{}
	}
	r.below[root] = known
	return known, err
}

// A library that a later release no longer has is no error: its flags are simply not found in it.
func ignoreMissing(err error) error {
	if err != nil && strings.Contains(err.Error(), "no such file") {
		return nil
	}
	return err
}
