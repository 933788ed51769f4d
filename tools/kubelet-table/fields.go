package main

import (
	"fmt"
	"go/ast"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// A field is one JSON key of KubeletConfiguration in one minor.
type field struct {
	path       string // authentication.x509.clientCAFile; list elements as [], map values as {}
	goPath     string // Authentication.X509.ClientCAFile: what flags are bound to
	kind       string
	deprecated bool
}

const configPackage = "k8s.io/kubelet/config/v1beta1"

// Types that decode themselves: what they accept in JSON is not what their Go shape says.
var selfDecoding = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":        "duration",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":            "time",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":        "quantity",
	"k8s.io/apimachinery/pkg/api/resource.QuantityValue":   "quantity",
	"k8s.io/component-base/logs/api/v1.TimeOrMetaDuration": "duration-or-nanoseconds",
	"time.Duration": "int64",
}

var (
	scalars        = map[string]bool{"bool": true, "string": true, "int32": true, "int64": true, "uint32": true, "uint64": true, "float32": true, "float64": true}
	deprecatedLine = regexp.MustCompile(`(?im)^\[?deprecated\b`)
)

func configFields(r *release) ([]field, error) {
	p, err := r.packageAt(configPackage)
	if err != nil {
		return nil, err
	}
	w := &walker{release: r}
	if err := w.structure(p, "KubeletConfiguration", "", ""); err != nil {
		return nil, fmt.Errorf("1.%d: %w", r.minor, err)
	}
	return w.fields, nil
}

type walker struct {
	release *release
	fields  []field
}

// structure lists the fields of a named struct type below a JSON path and a Go path.
func (w *walker) structure(p *pkg, name, jsonPath, goPath string) error {
	spec, ok := p.types[name]
	if !ok {
		return fmt.Errorf("%s has no type %s", p.path, name)
	}
	shape, ok := spec.Type.(*ast.StructType)
	if !ok {
		return fmt.Errorf("%s.%s is not a struct", p.path, name)
	}
	file := p.files[spec]
	for _, f := range shape.Fields.List {
		key, inline, err := jsonKey(f)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", p.path, name, err)
		}
		if inline {
			target, targetName, err := w.named(p, file, f.Type)
			if err != nil {
				return err
			}
			if err := w.structure(target, targetName, jsonPath, goPath); err != nil {
				return err
			}
			continue
		}
		if key == "-" {
			continue
		}
		path, goField := jsonPath+key, goPath+f.Names[0].Name
		at := len(w.fields)
		w.fields = append(w.fields, field{path: path, goPath: goField, deprecated: deprecatedLine.MatchString(f.Doc.Text())})
		kind, err := w.kind(p, file, f.Type, path, goField)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		w.fields[at].kind = kind
	}
	return nil
}

// kind names what JSON value a type takes, and lists the fields of any struct inside it.
func (w *walker) kind(p *pkg, file *ast.File, t ast.Expr, path, goPath string) (string, error) {
	switch e := t.(type) {
	case *ast.StarExpr:
		kind, err := w.kind(p, file, e.X, path, goPath)
		// To every other kind null means the same with or without a pointer; a duration refuses it.
		if kind == "duration" {
			kind = "duration?"
		}
		return kind, err
	case *ast.ArrayType:
		element, err := w.kind(p, file, e.Elt, path+"[]", goPath+"[]")
		return "[]" + element, err
	case *ast.MapType:
		value, err := w.kind(p, file, e.Value, path+"{}", goPath+"{}")
		return "{}" + value, err
	case *ast.Ident:
		if _, local := p.types[e.Name]; !local {
			if scalars[e.Name] {
				return e.Name, nil
			}
			return "", fmt.Errorf("unknown basic type %s", e.Name)
		}
	case *ast.SelectorExpr:
		if from, ok := importPath(file, e.X.(*ast.Ident).Name); ok {
			if kind, ok := selfDecoding[from+"."+e.Sel.Name]; ok {
				return kind, nil
			}
		}
	default:
		return "", fmt.Errorf("a type of shape %T", t)
	}
	target, name, err := w.named(p, file, t)
	if err != nil {
		return "", err
	}
	if kind, ok := selfDecoding[target.path+"."+name]; ok {
		return kind, nil
	}
	if target.hasMethod(name, "UnmarshalJSON") {
		return "", fmt.Errorf("%s.%s decodes itself in a way that is not known here", target.path, name)
	}
	spec := target.types[name]
	if _, ok := spec.Type.(*ast.StructType); ok {
		return "struct", w.structure(target, name, path+".", goPath+".")
	}
	kind, err := w.kind(target, target.files[spec], spec.Type, path, goPath)
	if values := target.enumerations[name]; kind == "string" && len(values) > 0 {
		kind = "string(" + strings.Join(values, "|") + ")"
	}
	return kind, err
}

func (w *walker) named(p *pkg, file *ast.File, t ast.Expr) (*pkg, string, error) {
	switch e := t.(type) {
	case *ast.StarExpr:
		return w.named(p, file, e.X)
	case *ast.Ident:
		if _, ok := p.types[e.Name]; ok {
			return p, e.Name, nil
		}
		return nil, "", fmt.Errorf("%s has no type %s", p.path, e.Name)
	case *ast.SelectorExpr:
		from, ok := importPath(file, e.X.(*ast.Ident).Name)
		if !ok {
			return nil, "", fmt.Errorf("%s: import %v is not found", p.path, e.X)
		}
		target, err := w.release.packageAt(from)
		return target, e.Sel.Name, err
	}
	return nil, "", fmt.Errorf("%s: a type of shape %T has no name", p.path, t)
}

func jsonKey(f *ast.Field) (key string, inline bool, err error) {
	tag := ""
	if f.Tag != nil {
		if tag, err = strconv.Unquote(f.Tag.Value); err != nil {
			return "", false, err
		}
	}
	name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	switch {
	case name != "":
		return name, false, nil
	case len(f.Names) == 0:
		return "", true, nil
	case !ast.IsExported(f.Names[0].Name):
		return "-", false, nil
	}
	return f.Names[0].Name, false, nil
}
