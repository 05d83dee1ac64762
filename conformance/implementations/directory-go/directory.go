package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"unicode/utf8"
)

const (
	directoryKey   = "pqassay.index_directory"
	directoryMagic = "PQIX"
	knownMajor     = 1
	headerSize     = 12
	checksumSize   = 4
	firstNamed     = 1 << 15 // the least number of a type that its owner named
)

// header is what a directory begins with.
type header struct {
	Magic      [4]byte
	Major      uint8
	Minor      uint8
	Reserved   uint16
	EntryCount uint32
}

// entryHead is the fixed part of an entry.
type entryHead struct {
	Type         uint16
	TypeVersion  uint8
	Granularity  uint8
	Placement    uint8
	Codec        uint8
	Flags        uint16
	Offset       uint64
	StoredLength uint64
	PlainLength  uint64
	ValueCount   uint64
	RowCount     uint64
	Shape        uint64
	Content      uint64
	CRC32        uint32
	ColumnCount  uint16
	WriterLength uint16
}

// An entry describes one index.
type entry struct {
	head    entryHead
	columns [][]string
	paths   []byte // the columns as they are written
	inline  []byte
	name    []byte // of a named type
}

// key is what two entries must not have in common.
func (e entry) key() string {
	key := binary.LittleEndian.AppendUint16(nil, e.head.Type)
	return string(append(append(append(key, e.head.Granularity), e.paths...), e.name...))
}

// entries are those of all directories of the footer: of those with one key, the last.
func entries(f *file) []entry {
	last := map[string]int{}
	var all []entry
	for _, pair := range f.footer.KeyValueMetadata {
		if pair.Key != directoryKey || !pair.Value.Valid {
			continue
		}
		for _, one := range readDirectory(pair.Value.V) {
			last[one.key()] = len(all)
			all = append(all, one)
		}
	}
	var merged []entry
	for i, one := range all {
		if last[one.key()] == i {
			merged = append(merged, one)
		}
	}
	return merged
}

// readDirectory returns the entries of one value of the key, none if it cannot be read.
func readDirectory(value string) []entry {
	if strings.ContainsAny(value, "\r\n") { // which the decoder would pass over
		return nil
	}
	content, err := base64.StdEncoding.DecodeString(value)
	if err != nil || len(content) < headerSize+checksumSize {
		return nil
	}
	var head header
	if binary.Read(bytes.NewReader(content), binary.LittleEndian, &head) != nil {
		return nil
	}
	if string(head.Magic[:]) != directoryMagic || head.Major != knownMajor {
		return nil
	}
	body := content[:len(content)-checksumSize]
	if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(content[len(body):]) {
		return nil
	}
	rest := &cursor{left: body[headerSize:]}
	var found []entry
	for range head.EntryCount {
		framed := rest.bytes(uint64(rest.u32()))
		if rest.failed {
			return nil
		}
		one, ok := readEntry(framed)
		if !ok {
			return nil
		}
		found = append(found, one)
	}
	if len(rest.left) > 0 {
		return nil
	}
	return found
}

// readEntry reads an entry, and passes over what a later minor version added.
func readEntry(framed []byte) (entry, bool) {
	rest := &cursor{left: framed}
	var read entry
	rest.into(&read.head)
	before := rest.left
	for range read.head.ColumnCount {
		path := make([]string, 0, 1)
		for range rest.u8() {
			name := rest.bytes(uint64(rest.u16()))
			if !utf8.Valid(name) {
				return entry{}, false
			}
			path = append(path, string(name))
		}
		if rest.failed {
			return entry{}, false
		}
		read.columns = append(read.columns, path)
	}
	read.paths = before[:len(before)-len(rest.left)]
	if !utf8.Valid(rest.bytes(uint64(read.head.WriterLength))) {
		return entry{}, false
	}
	if read.head.Placement == placementInline {
		read.inline = rest.bytes(read.head.StoredLength)
	}
	if read.head.Type >= firstNamed {
		if read.name = rest.bytes(uint64(rest.u16())); !utf8.Valid(read.name) {
			return entry{}, false
		}
	}
	return read, !rest.failed
}

// use returns the parts of an entry in the form of the protocol, or false if it has to be left aside.
func (e entry) use(f *file) ([]any, bool) {
	blob, leaves, count, ok := e.open(f)
	if !ok {
		return nil, false
	}
	return kinds[e.head.Type].read(blob, leaves, count)
}

// open returns the blob of an entry, its columns and how many parts the blob must have, or false if it has to be left aside.
func (e entry) open(f *file) (blob []byte, leaves []leaf, count uint64, ok bool) {
	kind, ok := kinds[e.head.Type]
	if !ok || e.head.TypeVersion != kind.version || !e.isPlaced() || (kind.placed != nil && !kind.placed(e.head)) {
		return nil, nil, 0, false
	}
	if leaves, ok = e.described(f); !ok || !kind.describes(leaves) {
		return nil, nil, 0, false
	}
	if count, ok = e.partCount(f, leaves); !ok {
		return nil, nil, 0, false
	}
	blob, ok = e.blob(f)
	return blob, leaves, count, ok
}

// partCount is the number of things that the granularity names; false if that is not known, or not said.
func (e entry) partCount(f *file, leaves []leaf) (uint64, bool) {
	switch e.head.Granularity {
	case granularityFile:
		return 1, true
	case granularityRowGroup:
		return uint64(len(f.footer.RowGroups)), true
	case granularityPage:
		if len(leaves) == 1 {
			return f.pages(leaves[0])
		}
	}
	return 0, false
}
