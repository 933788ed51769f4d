package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// A release is one minor of Kubernetes, with every module that the table is read from.
type release struct {
	minor, patch int
	// Versions by module path. Those that Kubernetes does not publish itself are read from its go.mod.
	versions map[string]string
	dirs     map[string]string
	sums     map[string]string
	packages map[string]*pkg
}

func newRelease(minor, patch int) (*release, error) {
	staged := fmt.Sprintf("v0.%d.%d", minor, patch)
	r := &release{
		minor: minor,
		patch: patch,
		versions: map[string]string{
			"k8s.io/kubernetes":     fmt.Sprintf("v1.%d.%d", minor, patch),
			"k8s.io/kubelet":        staged,
			"k8s.io/component-base": staged,
			"k8s.io/apimachinery":   staged,
			"k8s.io/api":            staged,
		},
		dirs:     map[string]string{},
		sums:     map[string]string{},
		packages: map[string]*pkg{},
	}
	kubernetes, err := r.moduleDir("k8s.io/kubernetes")
	if err != nil {
		return nil, err
	}
	manifest, err := os.ReadFile(filepath.Join(kubernetes, "go.mod"))
	if err != nil {
		return nil, err
	}
	for _, module := range []string{"k8s.io/klog/v2", "github.com/google/cadvisor", "github.com/google/cadvisor/lib"} {
		required := regexp.MustCompile(`(?m)^\s+` + regexp.QuoteMeta(module) + ` (v\S+)`)
		if found := required.FindSubmatch(manifest); found != nil {
			r.versions[module] = string(found[1])
		}
	}
	return r, nil
}

// moduleDir downloads a module once and says where its source is.
func (r *release) moduleDir(module string) (string, error) {
	if dir, ok := r.dirs[module]; ok {
		return dir, nil
	}
	answer, err := download(module + "@" + r.versions[module])
	if err != nil {
		return "", err
	}
	r.dirs[module], r.sums[module] = answer.Dir, answer.Sum
	return answer.Dir, nil
}

// moduleOf finds the longest module path that holds an import path.
func (r *release) moduleOf(importPath string) (string, bool) {
	longest := ""
	for module := range r.versions {
		if (importPath == module || strings.HasPrefix(importPath, module+"/")) && len(module) > len(longest) {
			longest = module
		}
	}
	return longest, longest != ""
}

// packageAt parses the package of an import path as a Linux build would see it.
func (r *release) packageAt(importPath string) (*pkg, error) {
	if p, ok := r.packages[importPath]; ok {
		return p, nil
	}
	module, ok := r.moduleOf(importPath)
	if !ok {
		return nil, fmt.Errorf("1.%d: no module is known for %s", r.minor, importPath)
	}
	dir, err := r.moduleDir(module)
	if err != nil {
		return nil, err
	}
	p, err := parsePackage(importPath, filepath.Join(dir, strings.TrimPrefix(importPath, module)))
	if err != nil {
		return nil, err
	}
	r.packages[importPath] = p
	return p, nil
}

type downloaded struct {
	Dir, Sum, Error string
}

func download(moduleVersion string) (downloaded, error) {
	var answer downloaded
	command := exec.Command("go", "mod", "download", "-json", moduleVersion)
	// Outside of this module, so that go.sum stays empty; the checksum database still vouches for each.
	command.Dir = os.TempDir()
	command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, failure := command.Output()
	if err := json.Unmarshal(output, &answer); err != nil {
		return answer, fmt.Errorf("go mod download %s: %v\n%s", moduleVersion, failure, stderr.String())
	}
	if answer.Error != "" {
		return answer, fmt.Errorf("go mod download %s: %s", moduleVersion, answer.Error)
	}
	return answer, nil
}
