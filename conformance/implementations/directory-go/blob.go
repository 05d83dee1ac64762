package main

import (
	"bytes"
	"compress/gzip"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

const (
	granularityFile = iota
	granularityRowGroup
	granularityPage
)

var granularityNames = []string{"FILE", "ROW_GROUP", "PAGE"}

const (
	placementBody = iota
	placementInline
	placementExtension
)

// extensionUUID is what the footer's extension begins with, if it is ours.
var extensionUUID = []byte{
	0xb0, 0xc7, 0xa1, 0xde, 0x6d, 0x0b, 0x4e, 0x0f, 0x9f, 0x3e, 0x0f, 0x6f, 0x1d, 0x5a, 0x7c, 0x21,
}

// mostLZ4 is how many bytes a byte of LZ4 can stand for.
const mostLZ4 = 255

func (e entry) isPlaced() bool {
	switch format.CompressionCodec(e.head.Codec) {
	case format.Uncompressed, format.Snappy, format.Gzip, format.Zstd, format.Lz4Raw:
		return e.head.Granularity <= granularityPage && e.head.Placement <= placementExtension
	}
	return false
}

// blob is the blob of an entry before compression; false if it is not where the entry says, or not what it says.
func (e entry) blob(f *file) ([]byte, bool) {
	stored, ok := e.stored(f)
	if !ok || crc32.ChecksumIEEE(stored) != e.head.CRC32 {
		return nil, false
	}
	plain, ok := decompressed(format.CompressionCodec(e.head.Codec), stored, e.head.PlainLength)
	return plain, ok && uint64(len(plain)) == e.head.PlainLength
}

// stored are the bytes of the blob in its place.
func (e entry) stored(f *file) ([]byte, bool) {
	switch e.head.Placement {
	case placementInline:
		return e.inline, true
	case placementBody:
		if e.head.Offset < uint64(len(magic)) {
			return nil, false
		}
		return within(f.content[:f.footerStart], e.head.Offset, e.head.StoredLength)
	}
	area, ours := bytes.CutPrefix(f.footer.Extension, extensionUUID)
	if !ours {
		return nil, false
	}
	return within(area, e.head.Offset, e.head.StoredLength)
}

// decompressed decompresses no more than a byte beyond the length, so that no blob takes more memory than its entry says and
// its codec can make of it.
func decompressed(codec format.CompressionCodec, stored []byte, length uint64) ([]byte, bool) {
	switch codec {
	case format.Uncompressed:
		return stored, true
	case format.Snappy:
		if said, err := snappy.DecodedLen(stored); err != nil || uint64(said) != length {
			return nil, false
		}
		plain, err := snappy.Decode(nil, stored)
		return plain, err == nil
	case format.Lz4Raw:
		if length/mostLZ4 > uint64(len(stored)) {
			return nil, false
		}
		plain := make([]byte, length)
		count, err := lz4.UncompressBlock(stored, plain)
		return plain[:max(count, 0)], err == nil
	case format.Gzip:
		reader, err := gzip.NewReader(bytes.NewReader(stored))
		if err != nil {
			return nil, false
		}
		return readUpTo(reader, length)
	case format.Zstd:
		reader, err := zstd.NewReader(bytes.NewReader(stored), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, false
		}
		defer reader.Close()
		return readUpTo(reader, length)
	}
	return nil, false
}

func readUpTo(reader io.Reader, length uint64) ([]byte, bool) {
	plain, err := io.ReadAll(io.LimitReader(reader, int64(min(length, 1<<62))+1))
	return plain, err == nil
}
