package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// errNotKnown says that the driver does not know the operation of a request.
var errNotKnown = errors.New("the driver does not know this operation")

// request is what the members of a request hold, as far as they are there. Members that it does not name are ignored.
type request struct {
	Op      string          `json:"op"`
	File    string          `json:"file"`
	Family  string          `json:"family"`
	Column  string          `json:"column"`
	Columns []string        `json:"columns"`
	Queries []query         `json:"queries"`
	Probes  []any           `json:"probes"`
	Rows    json.RawMessage `json:"rows"`
	Output  string          `json:"output"`
	Wishes  Wishes          `json:"wishes"`
}

type query struct {
	Seq       int      `json:"seq"`
	Predicate any      `json:"predicate"`
	Columns   []string `json:"columns"`
	Index     string   `json:"index"`
}

// answer answers one request. Its error is errNotKnown, or that the request cannot be read or its answer not written, which ends
// the process.
func answer(driver Driver, line []byte, output io.Writer) error {
	var asked request
	if err := decodeJSON(line, &asked); err != nil {
		return fmt.Errorf("the request cannot be read: %w", err)
	}
	switch asked.Op {
	case "hello":
		return writeLine(output, hello(driver))
	case "read":
		rows, err := driver.Read(asked.File, asked.Columns)
		return writeLine(output, answerOf(rows, err))
	case "scan":
		if scanner, ok := driver.(Scanner); ok {
			ignored := slices.Contains(driver.Hello().Ignored, asked.Family)
			return answerScan(scanner, ignored, asked, output)
		}
	case "decode":
		if decoder, ok := driver.(Decoder); ok {
			return answerDecode(decoder, asked, output)
		}
	case "encode":
		if encoder, ok := driver.(Encoder); ok {
			return answerEncode(encoder, asked, output)
		}
	}
	return fmt.Errorf("%w: %s", errNotKnown, asked.Op)
}

// decodeJSON keeps numbers as they are written, since a float of 64 bits does not hold every whole number.
func decodeJSON(text []byte, target any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(target)
}

// How Compare orders NaN and the two zeros, in the words of the protocol.
const (
	nanOrder  = "unordered"
	zeroOrder = "equal"
)

func hello(driver Driver) map[string]any {
	said := driver.Hello()
	line := map[string]any{
		"answer":       "accept",
		"name":         said.Name,
		"version":      said.Version,
		"language":     "Go",
		"capabilities": said.Capabilities,
		"serve":        true,
		"nan":          nanOrder,
		"zeros":        zeroOrder,
		"index_off":    said.IndexOff,
	}
	if len(said.Raises) > 0 {
		line["raises"] = said.Raises
	}
	return line
}

// answerScan answers each query by a line of its own, so that the first one without a line is the one that crashed.
func answerScan(scanner Scanner, ignored bool, asked request, output io.Writer) error {
	for _, query := range asked.Queries {
		predicate, err := ReadPredicate(query.Predicate)
		if err != nil {
			return fmt.Errorf("the predicate %v cannot be read: %w", query.Predicate, err)
		}
		rows, err := scanner.Scan(Query{asked.File, asked.Family, predicate, query.Columns, query.Index == "on"})
		line := answerOf(rows, err)
		line["seq"] = query.Seq
		if ignored && query.Index == "on" && err == nil {
			line["answer"] = "ignored-index"
		}
		if err := writeLine(output, line); err != nil {
			return err
		}
	}
	return nil
}

func answerDecode(decoder Decoder, asked request, output io.Writer) error {
	probes := make([]Value, len(asked.Probes))
	for i, written := range asked.Probes {
		var err error
		if probes[i], err = ReadValue(written); err != nil {
			return err
		}
	}
	value, err := decoder.Decode(Decode{asked.File, asked.Family, asked.Column, probes})
	if errors.Is(err, errNotKnown) {
		return err
	}
	if err != nil {
		return writeLine(output, refusal(err))
	}
	return writeLine(output, map[string]any{"answer": "accept", "value": value})
}

// NotKnown is what [Decoder.Decode] returns for a family that the driver knows nothing of.
func NotKnown(family string) error {
	return fmt.Errorf("%w: decode of %s", errNotKnown, family)
}

func answerEncode(encoder Encoder, asked request, output io.Writer) error {
	table, err := readTable(asked.Rows)
	if err != nil {
		return fmt.Errorf("the rows cannot be read: %w", err)
	}
	if asked.Family == "IDX1" {
		return fmt.Errorf("%w: encode of IDX1", errNotKnown)
	}
	content, err := encoder.Encode(table, asked.wishes())
	if err != nil {
		return writeLine(output, refusal(err))
	}
	if err := writeFile(asked.Output, content); err != nil {
		return err
	}
	return writeLine(output, map[string]any{"answer": "accept"})
}

// wishes are those of the request, and that the file has the structure of the family.
func (r request) wishes() Wishes {
	wishes, yes := r.Wishes, true
	switch {
	case r.Family == "STA" && wishes.Statistics == nil:
		wishes.Statistics = &yes
	case r.Family == "PIX" && wishes.PageIndex == nil:
		wishes.PageIndex = &yes
	case r.Family == "BLM" && len(wishes.BloomFilter) == 0 && r.Column != "":
		wishes.BloomFilter = []string{r.Column}
	}
	return wishes
}

func readTable(text []byte) (Table, error) {
	var written struct {
		Columns []Column
		Rows    [][]any
	}
	if err := decodeJSON(text, &written); err != nil {
		return Table{}, err
	}
	rows := make([][]Value, len(written.Rows))
	for i, row := range written.Rows {
		rows[i] = make([]Value, len(row))
		for j, value := range row {
			var err error
			if rows[i][j], err = ReadValue(value); err != nil {
				return Table{}, err
			}
		}
	}
	return Table{written.Columns, rows}, nil
}

// answerOf is the answer that holds rows, or says why there are none.
func answerOf(rows [][]Value, err error) map[string]any {
	if err != nil {
		return refusal(err)
	}
	written := make([][]any, len(rows))
	for i, row := range rows {
		if written[i], err = writeAll(row); err != nil {
			return refusal(err)
		}
	}
	return map[string]any{"answer": "accept", "rows": written}
}

func refusal(err error) map[string]any {
	if errors.Is(err, ErrUnsupported) {
		return map[string]any{"answer": "unsupported", "reason": err.Error()}
	}
	return map[string]any{"answer": "reject", "message": err.Error(), "raised": fmt.Sprintf("%T", innermost(err))}
}

// innermost is the error that others wrap: a library may turn its own panic, say an index out of range, into an error.
func innermost(err error) error {
	for {
		switch wrapper := err.(type) {
		case interface{ Unwrap() error }:
			if wrapper.Unwrap() == nil {
				return err
			}
			err = wrapper.Unwrap()
		case interface{ Unwrap() []error }:
			parts := wrapper.Unwrap()
			if len(parts) == 0 {
				return err
			}
			err = parts[len(parts)-1]
		default:
			return err
		}
	}
}
