// Package protocol is the half of a driver that has nothing to do with a library: it reads requests and writes answers
// (protocol 2 of pqassay), holds the values and literals of the protocol, and decides what a predicate says about a row.
//
// A driver is a type with the methods of [Driver], and those of [Scanner], [Decoder] and [Encoder] as far as its library
// can do these things; its main function calls [Main].
//
// What lives here: what every driver in Go needs, whatever its library. What never comes in: a library that reads Parquet
// files, and any recover. A panic ends the process, and pqassay counts that as a crash of the library.
//
// The source of all of it is conformance/PROTOCOL.md of pqassay.
package protocol
