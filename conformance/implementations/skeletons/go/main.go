// A driver to begin with: it answers hello, and reads files of flat columns through parquet-go.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"pqassay/protocol"
)

func main() {
	protocol.Main(driver{})
}

type driver struct{}

// ---------------------------------------------------------------------------------------------------------------------
// All that follows is the place of your library: say what it is, then read by it. Methods named Scan, Decode and Encode
// (see protocol.Scanner, protocol.Decoder and protocol.Encoder) answer the other operations. Declare "pqf.scan" and so on
// when you have them. The package protocol/pruning finds the rows that are worth reading, if your library does not.

func (driver) Hello() protocol.Hello {
	return protocol.Hello{
		Name:         "template of parquet-go",
		Version:      protocol.LibraryVersion("github.com/parquet-go/parquet-go"),
		Capabilities: []string{"parquet", "read", "type.fixed", "codec.snappy", "codec.gzip", "codec.zstd"},
	}
}

// Read returns the rows of a file. The errors of the library are refusals; its panics, which are not caught, are crashes.
func (driver) Read(path string, columns []string) ([][]protocol.Value, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	leaves := make([]*parquet.Column, len(columns))
	for i, name := range columns {
		leaves[i] = file.Root().Column(name)
		if leaves[i] == nil {
			return nil, fmt.Errorf("the file has no column %q", name)
		}
		if !leaves[i].Leaf() || leaves[i].Repeated() {
			return nil, protocol.Unsupported("nested columns")
		}
	}
	var rows [][]protocol.Value
	for _, group := range file.RowGroups() {
		more, err := readGroup(group, leaves)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

func readGroup(group parquet.RowGroup, leaves []*parquet.Column) ([][]protocol.Value, error) {
	reader := group.Rows()
	defer reader.Close()
	var rows [][]protocol.Value
	batch := make([]parquet.Row, 64)
	for {
		count, err := reader.ReadRows(batch)
		for _, read := range batch[:count] {
			byColumn := make(map[int]parquet.Value, len(read))
			for _, value := range read {
				byColumn[value.Column()] = value
			}
			row := make([]protocol.Value, len(leaves))
			for i, leaf := range leaves {
				var unsupported error
				if row[i], unsupported = valueOf(leaf.Type(), byColumn[leaf.Index()]); unsupported != nil {
					return nil, unsupported
				}
			}
			rows = append(rows, row)
		}
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// valueOf is what a value of the library stands for. Dates, decimals and the like are left to you.
func valueOf(typ parquet.Type, value parquet.Value) (protocol.Value, error) {
	if value.IsNull() {
		return nil, nil
	}
	var annotation format.LogicalTypeValue
	if logical := typ.LogicalType(); logical != nil {
		annotation = logical.Value
	}
	switch logical := annotation.(type) {
	case *format.StringType:
		return string(value.ByteArray()), nil
	case *format.IntType:
		if !logical.IsSigned {
			return nil, protocol.Unsupported("unsigned integers")
		}
	case nil:
	default:
		return nil, protocol.Unsupported("type " + typ.String())
	}
	switch value.Kind() {
	case parquet.Boolean:
		return value.Boolean(), nil
	case parquet.Int32:
		return int64(value.Int32()), nil
	case parquet.Int64:
		return value.Int64(), nil
	case parquet.Float:
		return float64(value.Float()), nil
	case parquet.Double:
		return value.Double(), nil
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return protocol.Bytes(bytes.Clone(value.ByteArray())), nil
	}
	return nil, protocol.Unsupported("type " + typ.String())
}
