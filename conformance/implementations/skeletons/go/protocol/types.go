package protocol

import (
	"strconv"
	"strings"
)

// A Type is the type of a column that a writer is asked for, in its parts: "decimal(9,2)" has the name decimal and the numbers 9
// and 2, "list<int32>" has one part, which has no name, and "struct<a: int32, b: string>" has two that have.
type Type struct {
	Name    string
	Numbers []int
	Parts   []Part
}

// Part is a type within another one.
type Part struct {
	Name string
	Type Type
}

// ParseType takes the name of a type apart. A name that is not of such a form is an unsupported type.
func ParseType(name string) (Type, error) {
	switch {
	case strings.HasSuffix(name, ")"):
		head, arguments, _ := strings.Cut(strings.TrimSuffix(name, ")"), "(")
		parsed := Type{Name: head}
		for argument := range strings.SplitSeq(arguments, ",") {
			number, err := strconv.Atoi(strings.TrimSpace(argument))
			if err != nil {
				return Type{}, Unsupported("type " + name)
			}
			parsed.Numbers = append(parsed.Numbers, number)
		}
		return parsed, nil
	case strings.HasSuffix(name, ">"):
		head, inner, _ := strings.Cut(strings.TrimSuffix(name, ">"), "<")
		return parseParts(Type{Name: head}, inner)
	}
	return Type{Name: name}, nil
}

func parseParts(parsed Type, inner string) (Type, error) {
	for _, text := range splitParts(inner) {
		name, typeName := "", strings.TrimSpace(text)
		if parsed.Name == "struct" {
			name, typeName, _ = strings.Cut(typeName, ":")
		}
		part, err := ParseType(strings.TrimSpace(typeName))
		if err != nil {
			return Type{}, err
		}
		parsed.Parts = append(parsed.Parts, Part{name, part})
	}
	return parsed, nil
}

// splitParts splits at the commas that are not within brackets.
func splitParts(text string) []string {
	var parts []string
	depth, from := 0, 0
	for i, letter := range text {
		switch letter {
		case '<', '(':
			depth++
		case '>', ')':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, text[from:i])
				from = i + 1
			}
		}
	}
	return append(parts, text[from:])
}
