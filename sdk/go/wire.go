package sluice

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

const (
	// Protocol is the version of the protocol that this package speaks.
	Protocol = 1
	// Revision is the latest that this package speaks; a host that names an earlier one does not know
	// what came after it, and refuses that.
	Revision = 1
	// MostBytes is what the body of a frame may have.
	MostBytes = 16 << 20
)

// Wire is one end of the connection: frames of JSON (sdk/protocol/sluice-plugin.md). Send may be
// called from any goroutine, Receive from one at a time.
type Wire struct {
	stream  io.ReadWriter
	sending sync.Mutex
}

// NewWire speaks over a stream.
func NewWire(stream io.ReadWriter) *Wire { return &Wire{stream: stream} }

// Send writes one message.
func (w *Wire) Send(message any) error {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(message); err != nil {
		return err
	}
	if body.Len() > MostBytes {
		return fmt.Errorf("a message of %d bytes; at most %d are allowed", body.Len(), MostBytes)
	}
	frame := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+body.Len()), uint32(body.Len()))
	w.sending.Lock()
	defer w.sending.Unlock()
	_, err := w.stream.Write(append(frame, body.Bytes()...))
	return err
}

// Receive reads one message into `out`; io.EOF: the other side hung up. Numbers in maps are
// json.Number, so that an object that is given back is the one that came.
func (w *Wire) Receive(out any) error {
	var head [4]byte
	if _, err := io.ReadFull(w.stream, head[:]); err != nil {
		return err
	}
	size := binary.LittleEndian.Uint32(head[:])
	if size == 0 || size > MostBytes {
		return fmt.Errorf("a frame of %d bytes; 1 to %d are allowed", size, MostBytes)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(w.stream, body); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	return decoder.Decode(out)
}
