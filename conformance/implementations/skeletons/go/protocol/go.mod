module pqassay/protocol

go 1.25
