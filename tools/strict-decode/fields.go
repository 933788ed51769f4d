package main

import (
	"encoding/json"
	"reflect"
	"strings"
)

var unmarshaler = reflect.TypeOf((*json.Unmarshaler)(nil)).Elem()

// fieldsOf lists the JSON fields of a type by reflection, in the notation of crates/kubelet/data: lists as [], maps as {}.
// It shares nothing with the program that writes that table, so that each can vouch for the other.
func fieldsOf(t reflect.Type, below string) []string {
	switch t.Kind() {
	case reflect.Pointer:
		return fieldsOf(t.Elem(), below)
	case reflect.Slice:
		return fieldsOf(t.Elem(), below+"[]")
	case reflect.Map:
		return fieldsOf(t.Elem(), below+"{}")
	case reflect.Struct:
	default:
		return nil
	}
	// What decodes itself has no fields to a reader.
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}
	var paths []string
	for i := 0; i < t.NumField(); i++ {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || (!field.IsExported() && !field.Anonymous):
			continue
		case name == "" && field.Anonymous:
			paths = append(paths, fieldsOf(field.Type, below)...)
			continue
		case name == "":
			name = field.Name
		}
		path := name
		if below != "" {
			path = below + "." + name
		}
		paths = append(paths, path)
		paths = append(paths, fieldsOf(field.Type, path)...)
	}
	return paths
}
