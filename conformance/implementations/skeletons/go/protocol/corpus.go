package protocol

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
)

// corpus is pqassay's file of values, and of predicates about one value, the column x, with what each says about it.
type corpus struct {
	Values     []any `json:"values"`
	Predicates []struct {
		Value     any    `json:"value"`
		Predicate any    `json:"predicate"`
		Truth     string `json:"truth"`
		NaN       string `json:"nan"`   // the entry is for drivers that declare this
		Zeros     string `json:"zeros"` // and this
	} `json:"predicates"`
}

// checkCorpus tests values and predicates, and prints what went wrong and how much.
func checkCorpus(path string, output io.Writer) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var entries corpus
	if err := decodeJSON(text, &entries); err != nil {
		return err
	}
	passed, failed := 0, 0
	judge := func(entry any, problem string) {
		if problem == "" {
			passed++
			return
		}
		failed++
		fmt.Fprintf(output, "%v: %s\n", entry, problem)
	}
	for _, written := range entries.Values {
		judge(written, rewritten(written))
	}
	for _, entry := range entries.Predicates {
		if (entry.NaN == "" || entry.NaN == nanOrder) && (entry.Zeros == "" || entry.Zeros == zeroOrder) {
			judge(entry, misjudged(entry.Value, entry.Predicate, entry.Truth))
		}
	}
	fmt.Fprintf(output, "%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		return fmt.Errorf("%d entries of the corpus went wrong", failed)
	}
	return nil
}

// rewritten says what is wrong about a value that was read and written again.
func rewritten(written any) string {
	value, err := ReadValue(written)
	if err != nil {
		return err.Error()
	}
	again, err := Write(value)
	if err != nil {
		return err.Error()
	}
	text, err := json.Marshal(again)
	if err != nil {
		return err.Error()
	}
	var decoded any
	if err := decodeJSON(text, &decoded); err != nil {
		return err.Error()
	}
	if !reflect.DeepEqual(written, decoded) {
		return fmt.Sprintf("became %v", decoded)
	}
	return ""
}

var truthNames = map[Truth]string{True: "true", False: "false", Unknown: "unknown"}

// misjudged says what is wrong about the truth of a predicate.
func misjudged(written, tree any, expected string) string {
	value, err := ReadValue(written)
	if err != nil {
		return err.Error()
	}
	predicate, err := ReadPredicate(tree)
	if err != nil {
		return err.Error()
	}
	truth, err := predicate.Truth(func(string) Value { return value })
	if err != nil {
		return err.Error()
	}
	if truthNames[truth] != expected {
		return "is " + truthNames[truth]
	}
	return ""
}
