package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A row is the life of one name over all minors.
type row struct {
	name  string
	lives map[int]life
}

// A life is what one minor says of a name.
type life struct {
	kind, shadows string
	deprecated    bool
}

type table struct {
	minors []int
	rows   map[string]*row
}

func (t *table) set(minor int, name string, l life) {
	if t.rows[name] == nil {
		t.rows[name] = &row{name: name, lives: map[int]life{}}
	}
	t.rows[name].lives[minor] = l
}

func (t *table) names() []string {
	var names []string
	for name := range t.rows {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// added, removed: the first minor that has the name and the first after it that has not; 0 for neither.
// A name that came back would need another shape of table, so it is refused.
func (t *table) span(r *row) (added, removed int, err error) {
	for i, minor := range t.minors {
		_, present := r.lives[minor]
		switch {
		case present && removed != 0:
			return 0, 0, fmt.Errorf("%s went in 1.%d and came back in 1.%d", r.name, removed, minor)
		case present && added == 0:
			added = minor
			if i == 0 {
				added = -1
			}
		case !present && added != 0 && removed == 0:
			removed = minor
		}
	}
	if added == -1 {
		added = 0
	}
	return added, removed, nil
}

// deprecated writes the minors in which a name is deprecated: `24` from then on, `20-28` where that was taken back.
func (t *table) deprecated(r *row) string {
	var runs []string
	from := 0
	for i, minor := range t.minors {
		l, present := r.lives[minor]
		if present && l.deprecated && from == 0 {
			from = minor
		}
		if from == 0 || (present && l.deprecated) {
			continue
		}
		if present {
			runs = append(runs, fmt.Sprintf("%d-%d", from, t.minors[i-1]))
		} else {
			runs = append(runs, strconv.Itoa(from))
		}
		from = 0
	}
	if from != 0 {
		runs = append(runs, strconv.Itoa(from))
	}
	return orDash(strings.Join(runs, ","))
}

// history writes a value that changed as `first;27:second`.
func (t *table) history(r *row, value func(life) string) string {
	var changes []string
	last, seen := "", false
	for _, minor := range t.minors {
		l, present := r.lives[minor]
		if !present || (seen && value(l) == last) {
			continue
		}
		text := orDash(value(l))
		if seen {
			text = fmt.Sprintf("%d:%s", minor, text)
		}
		changes = append(changes, text)
		last, seen = value(l), true
	}
	return strings.Join(changes, ";")
}

// lines writes the rows, sorted, tab-separated.
func (t *table) lines(withShadows bool) ([]string, error) {
	var lines []string
	for _, name := range t.names() {
		r := t.rows[name]
		added, removed, err := t.span(r)
		if err != nil {
			return nil, err
		}
		columns := []string{name, t.history(r, func(l life) string { return l.kind }), minorOrDash(added), t.deprecated(r), minorOrDash(removed)}
		if withShadows {
			columns = append(columns, t.history(r, func(l life) string { return l.shadows }))
		}
		lines = append(lines, strings.Join(columns, "\t"))
	}
	return lines, nil
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func minorOrDash(minor int) string {
	if minor == 0 {
		return "-"
	}
	return strconv.Itoa(minor)
}
