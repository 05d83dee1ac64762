// The driver of parquet-go, the library at github.com/parquet-go.
//
// What lives here: calls of the library, and what turns its values and levels into rows of the protocol. See README.md for
// what the library does and what the driver adds.
package main

import (
	"bytes"
	"os"

	"github.com/parquet-go/parquet-go"

	"pqassay/protocol"
)

type driver struct{}

func main() {
	protocol.Main(driver{})
}

func (driver) Hello() protocol.Hello {
	return protocol.Hello{
		Name:    "parquet-go",
		Version: protocol.LibraryVersion("github.com/parquet-go/parquet-go"),
		Ignored: []string{"IDX1", "DIR"},
		Capabilities: []string{
			"parquet", "read", "pqf.scan", "sta.scan", "pix.scan", "blm.scan", "idx1.scan", "dir.scan", "pix.decode", "blm.decode",
			"pqf.encode", "sta.encode", "pix.encode", "blm.encode", "type.unsigned", "type.decimal", "type.date", "type.time",
			"type.timestamp", "type.timestamp-nanos", "type.int96", "type.uuid", "type.fixed", "type.enum", "type.json",
			"type.bson", "type.interval", "type.geometry", "type.variant", "type.unknown", "nested", "nested.map",
			"codec.snappy", "codec.gzip", "codec.zstd", "codec.lz4-raw", "codec.brotli",
		},
	}
}

// openFile opens a file by the library's defaults and the given options.
func openFile(path string, options ...parquet.FileOption) (*parquet.File, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parquet.OpenFile(bytes.NewReader(content), int64(len(content)), options...)
}
