package protocol

import "errors"

// Hello is what a driver says about itself.
type Hello struct {
	Name         string   // of the library, such as "parquet-go"
	Version      string   // of the library
	Capabilities []string // operations and types that the library documents
	Ignored      []string // families that the library knows nothing of, such as IDX1, though scans of their files are right
	IndexOff     bool     // whether the library itself can leave indexes aside, and still filters rows
	Raises       []string // types of errors that the library returns on purpose, or patterns; if empty, the runner goes by names
}

// A Driver reads. Every error of its methods is the library's refusal of the file and becomes the answer "reject", but for
// those that wrap [ErrUnsupported], which become "unsupported". What panics ends the process: that is a crash.
type Driver interface {
	Hello() Hello

	// Read returns all rows of a file, the values of each in the order of the columns, which are named by their
	// top-level fields.
	Read(file string, columns []string) ([][]Value, error)
}

// A Scanner is a driver whose library helps to skip what a predicate rules out.
type Scanner interface {
	// Scan returns the columns of those rows of which the predicate is true.
	Scan(query Query) ([][]Value, error)
}

// Query is one question of a scan.
type Query struct {
	File      string
	Family    string // of the structure at stake: PQF, STA, PIX, BLM or IDX1
	Predicate Predicate
	Columns   []string // of the answer
	Index     bool     // false: nothing that the file says about its values is used, all rows are read
}

// A Decoder is a driver whose library shows what a structure of the file says.
type Decoder interface {
	// Decode returns what the structure of this family says about a leaf column. The members that it returns are written
	// as JSON; see the protocol for each family's.
	Decode(request Decode) (any, error)
}

// Decode is a request to read one structure.
type Decode struct {
	File   string
	Family string
	Column string  // the path of the leaf, its names joined by dots
	Probes []Value // that a bloom filter is asked for
}

// An Encoder is a driver whose library writes files.
type Encoder interface {
	// Encode returns a file with the rows of a table.
	Encode(table Table, wishes Wishes) ([]byte, error)
}

// Table is what a writer is asked to write.
type Table struct {
	Columns []Column
	Rows    [][]Value
}

// Column is one column of a [Table].
type Column struct {
	Name     string
	Type     string // such as "int32", "decimal(9,2)" or "list<string>"
	Nullable bool
}

// Wishes are what a written file should be like. A pointer that is nil, or a list that is empty, is not a wish. A wish that
// the library cannot fulfil is answered by [Unsupported] with its name in JSON.
type Wishes struct {
	PageRows        *int64    `json:"page_rows"`
	RowGroupRows    *int64    `json:"row_group_rows"`
	Dictionary      *bool     `json:"dictionary"`
	BloomFilter     []string  `json:"bloom_filter"`
	PageIndex       *bool     `json:"page_index"`
	Statistics      *bool     `json:"statistics"`
	Sorting         []Sorting `json:"sorting"`
	DataPageVersion *int      `json:"data_page_version"`
	Codec           string    `json:"codec"`
}

// Sorting is a declaration about the order of rows, which come in this order.
type Sorting struct {
	Column     string `json:"column"`
	Descending bool   `json:"descending"`
}

// ErrUnsupported is wrapped by errors that say what the library does not have.
var ErrUnsupported = errors.New("not supported by the library")

// Unsupported is the error that says that the library does not have something: a codec, a type, a wish.
func Unsupported(what string) error {
	return &unsupported{what}
}

type unsupported struct{ what string }

func (u *unsupported) Error() string { return u.what }

func (u *unsupported) Unwrap() error { return ErrUnsupported }
