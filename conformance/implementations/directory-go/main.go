// A reader of the index directory (DIR), written from its chapter alone: it stands for no library. See README.md.
//
// What lives here: the questions of the protocol. The other files follow the sections of the chapter: footer.go is what a
// directory needs of Parquet, directory.go the key and the entries, identity.go the shape, blob.go the places and codecs,
// kinds.go what blobs say, values.go their values, excluding.go what distinct sets exclude, rows.go the rows that are read.
package main

import (
	"os"

	"pqassay/protocol"
)

// version is the minor version of the directories that this reader was written for.
const version = "1.0"

type driver struct{}

func main() {
	protocol.Main(driver{})
}

func (driver) Hello() protocol.Hello {
	return protocol.Hello{
		Name:    "index directory in Go",
		Version: version,
		Capabilities: []string{
			"parquet", "dir.scan", "dir.decode", "type.unsigned", "type.decimal", "type.date", "type.time", "type.timestamp",
			"type.timestamp-nanos", "type.float16", "type.uuid", "type.fixed", "type.enum", "type.json", "type.bson", "nested",
			"codec.snappy", "codec.gzip", "codec.zstd", "codec.lz4-raw",
		},
	}
}

// Decode shows the entries that a reader may use. Whatever keeps it from using one, that one is left out; only a footer
// that cannot be read is an error.
func (driver) Decode(request protocol.Decode) (any, error) {
	if request.Family != "DIR" {
		return nil, protocol.NotKnown(request.Family)
	}
	content, err := os.ReadFile(request.File)
	if err != nil {
		return nil, err
	}
	file, err := openFile(content)
	if err != nil {
		return nil, err
	}
	usable := []map[string]any{}
	for _, one := range entries(file) {
		if parts, ok := one.use(file); ok {
			usable = append(usable, map[string]any{
				"type":        typeNames[one.head.Type],
				"granularity": granularityNames[one.head.Granularity],
				"columns":     one.columns,
				"parts":       parts,
			})
		}
	}
	return map[string]any{"entries": usable}, nil
}
