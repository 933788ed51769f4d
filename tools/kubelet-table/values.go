package main

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// What the methods of a flag set define. `value` asks the argument.
var kinds = map[string]string{
	"BoolVar": "bool", "Bool": "bool", "BoolP": "bool",
	"StringVar": "string", "String": "string",
	"IntVar": "int64", "Int": "int64", "Int32Var": "int32", "Int64Var": "int64",
	"UintVar": "uint64", "Uint64Var": "uint64", "Uint64": "uint64",
	"Float64Var": "float64", "Float64": "float64",
	"DurationVar": "duration", "Duration": "duration",
	"StringSliceVar": "[]string",
	"Var":            "value", "VarP": "value",
}

// Values with a parser of their own, by the name of the constructor, type or variable.
var valueKinds = map[string]string{
	"NewMapStringBool":                      "{}bool",
	"NewMapStringString":                    "{}string",
	"NewMapStringStringNoSplit":             "{}string",
	"NewLangleSeparatedMapStringString":     "{}string",
	"NewColonSeparatedMultimapStringString": "{}[]string",
	"NewTaintsVar":                          "taints",
	"RegisterWithTaintsVar":                 "taints",
	"ReservedMemoryVar":                     "reserved-memory",
	"IPVar":                                 "ip",
	"VerbosityLevelPflag":                   "uint32",
	"VModuleConfigurationPflag":             "vmodule",
	"bindableNodeLabels":                    "{}string",
	"DynamicConfigDir":                      "string",
	"InfoBufferSize":                        "quantity",
	// component-base 1.23 and 1.24, and klog.
	"Verbosity": "uint32", "VModule": "vmodule",
	"verbosity": "uint32", "vmodule": "vmodule", "traceLocation": "string", "stderrThreshold": "string", "alsologtostderrthreshold": "string",
}

func valueKind(e ast.Expr) (string, error) {
	name := ""
	switch v := e.(type) {
	case *ast.UnaryExpr:
		return valueKind(v.X)
	case *ast.CompositeLit:
		return valueKind(v.Type)
	case *ast.CallExpr:
		name, _ = calleeOf(v)
	case *ast.SelectorExpr:
		name = v.Sel.Name
	case *ast.Ident:
		name = v.Name
	}
	if kind, ok := valueKinds[name]; ok {
		return kind, nil
	}
	return "", fmt.Errorf("the kind of value %s is not known", render(e))
}

// boundPath finds the `&c.Some.Field` inside the first argument of a definition.
func boundPath(e ast.Expr, bound binding) string {
	if bound.variable == "" {
		return ""
	}
	found := ""
	ast.Inspect(e, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok || found != "" {
			return found == ""
		}
		if path, ok := strings.CutPrefix(render(selector), bound.variable+"."); ok {
			// `.Duration` is the inside of metav1.Duration, not a field of the configuration.
			for strings.HasSuffix(path, ".Duration") {
				path = strings.TrimSuffix(path, ".Duration")
			}
			found = bound.goPath + path
		}
		return false
	})
	return found
}

// passed finds which parameter of the callee stands for which part of the configuration.
func passed(callee *function, call *ast.CallExpr, bound binding) binding {
	if bound.variable == "" {
		return binding{}
	}
	at := 0
	for _, parameter := range callee.decl.Type.Params.List {
		for _, name := range parameter.Names {
			if at < len(call.Args) {
				argument := strings.TrimPrefix(render(call.Args[at]), "&")
				if argument == bound.variable {
					return binding{name.Name, bound.goPath}
				}
				if path, ok := strings.CutPrefix(argument, bound.variable+"."); ok {
					return binding{name.Name, bound.goPath + path + "."}
				}
			}
			at++
		}
	}
	return binding{}
}

func calleeOf(call *ast.CallExpr) (string, ast.Expr) {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name, nil
	case *ast.SelectorExpr:
		return f.Sel.Name, f.X
	}
	return "", nil
}

// isFlagSet goes by the names that every flag set has had so far; an unknown one would show as a wrong count.
func isFlagSet(e ast.Expr) bool {
	return slices.Contains([]string{"fs", "mainfs", "local", "packageFlags", "flagset"}, strings.TrimPrefix(render(e), "&"))
}

func isPackage(f *function, e ast.Expr, path string) bool {
	name, ok := e.(*ast.Ident)
	if !ok {
		return false
	}
	found, ok := importPath(f.file, name.Name)
	return ok && found == path
}

// text resolves a string literal or a constant of this or an imported package.
func (r *flagReader) text(f *function, e ast.Expr) (string, error) {
	if text, ok := stringLiteral(e); ok {
		return text, nil
	}
	switch v := e.(type) {
	case *ast.Ident:
		if text, ok := f.in.constants[v.Name]; ok {
			return text, nil
		}
	case *ast.SelectorExpr:
		if from, ok := importPath(f.file, render(v.X)); ok {
			target, err := r.release.packageAt(from)
			if err != nil {
				return "", err
			}
			if text, ok := target.constants[v.Sel.Name]; ok {
				return text, nil
			}
		}
	}
	return "", fmt.Errorf("%s is not a string that can be read from the source", render(e))
}

// render writes names and selectors as source, which is all that is compared.
func render(e ast.Expr) string {
	switch v := e.(type) {
	case *ast.Ident:
		return v.Name
	case *ast.SelectorExpr:
		return render(v.X) + "." + v.Sel.Name
	case *ast.UnaryExpr:
		return v.Op.String() + render(v.X)
	case *ast.StarExpr:
		return "*" + render(v.X)
	}
	return fmt.Sprintf("%T", e)
}
