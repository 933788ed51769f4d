package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A pkg is the parsed source of one Go package: its types, functions and string constants by name.
type pkg struct {
	path      string
	types     map[string]*ast.TypeSpec
	functions map[string]*function
	constants map[string]string
	// Typed string constants by the name of their type: the values of an enumeration, in source order.
	enumerations map[string][]string
	files        map[ast.Node]*ast.File
	inits        []*function
}

// A function knows the file it stands in, because imports are per file.
// Methods are kept as `Type.Method`.
type function struct {
	in   *pkg
	file *ast.File
	decl *ast.FuncDecl
}

var linux = build.Context{GOOS: "linux", GOARCH: "amd64", Compiler: "gc", CgoEnabled: true, ReleaseTags: build.Default.ReleaseTags}

func parsePackage(path, dir string) (*pkg, error) {
	p := &pkg{
		path:         path,
		types:        map[string]*ast.TypeSpec{},
		functions:    map[string]*function{},
		constants:    map[string]string{},
		enumerations: map[string][]string{},
		files:        map[ast.Node]*ast.File{},
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		matches, err := linux.MatchFile(dir, name)
		if err != nil {
			return nil, fmt.Errorf("%s/%s: %w", dir, name, err)
		}
		if !matches {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		p.add(file)
	}
	return p, nil
}

func (p *pkg) add(file *ast.File) {
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			f := &function{in: p, file: file, decl: d}
			switch {
			case d.Recv != nil:
				p.functions[receiverType(d)+"."+d.Name.Name] = f
			case d.Name.Name == "init":
				p.inits = append(p.inits, f)
			default:
				p.functions[d.Name.Name] = f
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					p.types[s.Name.Name] = s
					p.files[s] = file
				case *ast.ValueSpec:
					if d.Tok == token.CONST {
						p.addConstants(s)
					}
				}
			}
		}
	}
}

func (p *pkg) addConstants(s *ast.ValueSpec) {
	for i, name := range s.Names {
		if i >= len(s.Values) {
			return
		}
		text, ok := stringLiteral(s.Values[i])
		if !ok {
			continue
		}
		p.constants[name.Name] = text
		if typeName, ok := s.Type.(*ast.Ident); ok && ast.IsExported(name.Name) {
			p.enumerations[typeName.Name] = append(p.enumerations[typeName.Name], text)
		}
	}
}

// hasMethod says whether a type of this package has a method of its own, by value or by pointer.
func (p *pkg) hasMethod(typeName, method string) bool {
	_, ok := p.functions[typeName+"."+method]
	return ok
}

func receiverType(d *ast.FuncDecl) string {
	if len(d.Recv.List) == 0 {
		return ""
	}
	receiver := d.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	if name, ok := receiver.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// importPath resolves the name in front of a selector (`metav1` of `metav1.Duration`).
func importPath(file *ast.File, name string) (string, bool) {
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if spec.Name != nil {
			if spec.Name.Name == name {
				return path, true
			}
			continue
		}
		elements := strings.Split(path, "/")
		last := elements[len(elements)-1]
		if len(elements) > 1 && isMajorVersion(last) {
			last = elements[len(elements)-2]
		}
		if last == name {
			return path, true
		}
	}
	return "", false
}

// isMajorVersion tells the `v2` of `k8s.io/klog/v2` from the `v1` of `k8s.io/api/core/v1`, which is a package name.
func isMajorVersion(element string) bool {
	number, err := strconv.Atoi(strings.TrimPrefix(element, "v"))
	return strings.HasPrefix(element, "v") && err == nil && number > 1
}

func stringLiteral(e ast.Expr) (string, bool) {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(literal.Value)
	return text, err == nil
}
