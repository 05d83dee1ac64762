package protocol

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// exitNotSupported is the exit status of a driver that does not know the operation of a request.
const exitNotSupported = 3

// exitUsage is the exit status of a driver that was started in a wrong way.
const exitUsage = 2

// Main is the main function of a driver: with --serve it answers requests on standard input until that ends, with two paths
// the one request in the first file. With --corpus and the path of pqassay's corpus of values, it tests this package.
func Main(driver Driver) {
	var err error
	switch arguments := os.Args[1:]; {
	case len(arguments) == 1 && arguments[0] == "--serve":
		err = serve(driver, os.Stdin, os.Stdout)
	case len(arguments) == 2 && arguments[0] == "--corpus":
		err = checkCorpus(arguments[1], os.Stdout)
	case len(arguments) == 2:
		err = answerFile(driver, arguments[0], arguments[1])
	default:
		err = fmt.Errorf("usage: %s REQUEST ANSWER, %[1]s --serve, or %[1]s --corpus FILE", filepath.Base(os.Args[0]))
	}
	if errors.Is(err, errNotKnown) {
		os.Exit(exitNotSupported)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitUsage)
	}
}

// serve answers one request a line. An operation that the driver does not know is answered by "unsupported", since the
// process goes on.
func serve(driver Driver, input io.Reader, output io.Writer) error {
	lines := bufio.NewReader(input)
	for {
		line, readErr := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			err := answer(driver, line, output)
			if errors.Is(err, errNotKnown) {
				err = writeLine(output, map[string]any{"answer": "unsupported", "reason": err.Error()})
			}
			if err != nil {
				return err
			}
		}
		if readErr == io.EOF {
			return nil
		}
		if readErr != nil {
			return readErr
		}
	}
}

// answerFile answers the request in one file by another, which is written line by line: the lines before a crash count.
func answerFile(driver Driver, request, output string) error {
	line, err := os.ReadFile(request)
	if err != nil {
		return err
	}
	file, err := os.Create(output)
	if err != nil {
		return err
	}
	if err := answer(driver, line, file); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}

func writeLine(output io.Writer, answer map[string]any) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line) // which ends the line
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(answer); err != nil {
		return err
	}
	_, err := output.Write(line.Bytes())
	return err
}

// writeFile writes a whole file or none: beside its place first, then moved there.
func writeFile(path string, content []byte) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".encoded-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	_, err = file.Write(content)
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
