package main

import (
	"bytes"
	"encoding/binary"
)

// A cursor takes little-endian fields off bytes, one after the other. Once something is not there, it has failed, and gives
// zeros and nothing.
type cursor struct {
	left   []byte
	failed bool
}

func (c *cursor) bytes(count uint64) []byte {
	if c.failed || count > uint64(len(c.left)) {
		c.failed, c.left = true, nil
		return nil
	}
	taken := c.left[:count]
	c.left = c.left[count:]
	return taken
}

// into fills a struct of fixed size.
func (c *cursor) into(target any) {
	taken := c.bytes(uint64(binary.Size(target)))
	if !c.failed {
		c.failed = binary.Read(bytes.NewReader(taken), binary.LittleEndian, target) != nil
	}
}

func (c *cursor) u8() uint8 {
	var number uint8
	c.into(&number)
	return number
}

func (c *cursor) u16() uint16 {
	var number uint16
	c.into(&number)
	return number
}

func (c *cursor) u32() uint32 {
	var number uint32
	c.into(&number)
	return number
}

func (c *cursor) u64() uint64 {
	var number uint64
	c.into(&number)
	return number
}

// has says whether there is room for a number of things of a size, before anybody asks for memory for them.
func (c *cursor) has(count, size uint64) bool {
	return !c.failed && count <= uint64(len(c.left))/size
}
