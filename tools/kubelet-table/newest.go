package main

import (
	"fmt"
	"os"
	"strings"
)

// How many patches may be missing from the proxy before a minor counts as exhausted.
const patchesAhead = 3

// raise looks for newer patches of each minor and for newer minors, and rewrites the list. The proxy's own list of versions
// holds only what somebody asked for before, so each candidate is asked for by name.
func raise(path string, releases [][2]int) ([][2]int, error) {
	for i, release := range releases {
		releases[i][1] = highestPatch(release[0], release[1])
	}
	for next := releases[len(releases)-1][0] + 1; ; next++ {
		patch := highestPatch(next, -1)
		if patch < 0 {
			break
		}
		releases = append(releases, [2]int{next, patch})
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	for _, release := range releases {
		lines = append(lines, fmt.Sprintf("%d\t%d", release[0], release[1]))
	}
	return releases, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

func highestPatch(minor, known int) int {
	highest := known
	for patch := known + 1; patch <= highest+patchesAhead; patch++ {
		// Small first: most candidates do not exist.
		if _, err := download(fmt.Sprintf("k8s.io/kubelet@v0.%d.%d", minor, patch)); err != nil {
			continue
		}
		if _, err := download(fmt.Sprintf("k8s.io/kubernetes@v1.%d.%d", minor, patch)); err == nil {
			highest = patch
		}
	}
	return highest
}
