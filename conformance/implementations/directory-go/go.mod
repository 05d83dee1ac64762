module pqassay/drivers/directory-go

go 1.25.0

require (
	github.com/cespare/xxhash/v2 v2.3.0
	github.com/klauspost/compress v1.17.9
	github.com/parquet-go/parquet-go v0.32.0
	github.com/pierrec/lz4/v4 v4.1.21
	pqassay/protocol v0.0.0
)

require github.com/parquet-go/bitpack v1.0.0 // indirect

replace pqassay/protocol => ../skeletons/go/protocol
