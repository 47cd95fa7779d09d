// Package adapvae clusters an unlabelled stream of rows while it learns their features, finds new kinds by
// itself, and forgets none although it stores no past row.
//
//	model, err := adapvae.New(adapvae.Config{"inputs": 64}) // numbers in a row, each in [0, 1]
//	report, err := model.Learn(rows)                        // []float32, 64 numbers a row: a stream
//	results, err := model.Score(rows)                       // cluster, novelty: novel if above 0.5
//	model.Close()
//
// Rows are row after row without gaps, and are neither copied nor kept. A model is for one goroutine at a
// time: a call while another is under way gets Busy and changes nothing; Stop alone may come from anywhere.
// To score while a model learns, give other goroutines a Scorer. Close gives the memory back; a finalizer
// does it for models that were forgotten, some time.
package adapvae

//go:generate python3 ../../tools/amalgamate.py .

/*
#cgo CXXFLAGS: -std=c++20 -O3 -DNDEBUG -fno-exceptions -fno-rtti
#cgo linux LDFLAGS: -lm
#include <stdlib.h>
#include "adapvae.h"
#include "adapvae_experimental.h"

extern int32_t goAdapvaeProgress(void* context, int32_t stage, double fraction);

static int32_t tell(void* context, int32_t stage, double fraction) {
  return goAdapvaeProgress(context, stage, fraction);
}
static adapvae_status listen_to(adapvae_model* model, uintptr_t context) {
  return adapvae_set_progress(model, context != 0 ? tell : NULL, (void*)context);
}
*/
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/cgo"
	"sort"
	"sync/atomic"
	"unsafe"
)

// Status is why a call was refused.
type Status int32

// What the library refuses.
const (
	InvalidArgument Status = C.ADAPVAE_INVALID_ARGUMENT
	ShapeMismatch   Status = C.ADAPVAE_SHAPE_MISMATCH
	NonFinite       Status = C.ADAPVAE_NON_FINITE
	UnknownCluster  Status = C.ADAPVAE_UNKNOWN_CLUSTER
	OutOfMemory     Status = C.ADAPVAE_OUT_OF_MEMORY
	Unavailable     Status = C.ADAPVAE_UNAVAILABLE
	CorruptData     Status = C.ADAPVAE_CORRUPT_DATA
	NewerFormat     Status = C.ADAPVAE_NEWER_FORMAT
	Busy            Status = C.ADAPVAE_BUSY
	Refused         Status = C.ADAPVAE_REFUSED
	Late            Status = C.ADAPVAE_LATE
	Foreign         Status = C.ADAPVAE_FOREIGN
	Diverged        Status = C.ADAPVAE_DIVERGED
)

// Error makes a Status one, so that errors.Is(err, adapvae.NonFinite) tells.
func (s Status) Error() string { return C.GoString(C.adapvae_status_name(C.adapvae_status(s))) }

// Error says why a call was refused; it has changed nothing.
type Error struct {
	Status  Status
	Message string
	Index   int // row, field of the configuration or byte of a file; -1: none
}

func (e *Error) Error() string {
	if e.Index >= 0 {
		return fmt.Sprintf("adapvae: %s (index %d)", e.Message, e.Index)
	}
	return "adapvae: " + e.Message
}

// Unwrap gives the Status.
func (e *Error) Unwrap() error { return e.Status }

func invalid(format string, arguments ...any) error {
	return &Error{InvalidArgument, fmt.Sprintf(format, arguments...), -1}
}

func failure(e *C.adapvae_error) error {
	return &Error{Status(e.status), C.GoString(e.message), int(e.index)}
}

// demand runs a call that has no model.
func demand(call func(*C.adapvae_error) C.adapvae_status) error {
	var e C.adapvae_error
	e.struct_size = C.uint32_t(unsafe.Sizeof(e))
	if call(&e) != C.ADAPVAE_OK {
		return failure(&e)
	}
	return nil
}

// Config has fields of the configuration by name, and "preset"; see Fields. Numbers, bools and strings.
type Config map[string]any

func fieldText(value any) string {
	switch v := value.(type) {
	case bool:
		if v {
			return "on"
		}
		return "off"
	case string:
		return v
	}
	return fmt.Sprint(value)
}

func (c Config) native() (*C.adapvae_config, error) {
	config := new(C.adapvae_config)
	C.adapvae_config_init(config, C.uint32_t(unsafe.Sizeof(*config)))
	if preset, there := c["preset"]; there {
		text := C.CString(fieldText(preset))
		defer C.free(unsafe.Pointer(text))
		err := demand(func(e *C.adapvae_error) C.adapvae_status { return C.adapvae_config_preset(config, text, e) })
		if err != nil {
			return nil, err
		}
	}
	names := make([]string, 0, len(c))
	for name := range c {
		names = append(names, name)
	}
	sort.Strings(names) // the same error every time
	for _, name := range names {
		if name == "preset" {
			continue
		}
		field, text := C.CString(name), C.CString(fieldText(c[name]))
		err := demand(func(e *C.adapvae_error) C.adapvae_status { return C.adapvae_config_set(config, field, text, e) })
		C.free(unsafe.Pointer(field))
		C.free(unsafe.Pointer(text))
		if err != nil {
			return nil, err
		}
	}
	return config, nil
}

// ConfigFor returns the configuration that the library chooses for rows like these, each of inputs numbers. Without rows
// the number of inputs alone decides.
func ConfigFor(rows []float32, inputs int) (Config, error) {
	config := new(C.adapvae_config)
	C.adapvae_config_init(config, C.uint32_t(unsafe.Sizeof(*config)))
	var first *C.float
	count := 0
	if inputs > 0 && len(rows) >= inputs {
		first, count = (*C.float)(unsafe.Pointer(&rows[0])), len(rows)/inputs
	}
	err := demand(func(e *C.adapvae_error) C.adapvae_status {
		return C.adapvae_config_for_rows(config, first, C.int32_t(count), C.int32_t(inputs), 0, nil, e)
	})
	if err != nil {
		return nil, err
	}
	return configOf(config), nil
}

func configOf(config *C.adapvae_config) Config {
	out := Config{}
	for _, field := range Fields() {
		name := C.CString(field.Name)
		out[field.Name], _ = text(func(to *C.char, room C.size_t, needed *C.size_t) C.adapvae_status {
			return C.adapvae_config_get(config, name, to, room, needed)
		})
		C.free(unsafe.Pointer(name))
	}
	return out
}

// text asks until there is room.
func text(ask func(*C.char, C.size_t, *C.size_t) C.adapvae_status) (string, C.adapvae_status) {
	needed := C.size_t(1024)
	for {
		room := make([]byte, needed)
		status := ask((*C.char)(unsafe.Pointer(&room[0])), C.size_t(len(room)), &needed)
		if status == C.ADAPVAE_OUT_OF_MEMORY && needed > C.size_t(len(room)) {
			continue
		}
		if status != C.ADAPVAE_OK {
			return "", status
		}
		return string(room[:needed-1]), status
	}
}

// MemoryRequired is what a model will take, exactly.
func (c Config) MemoryRequired() (int, error) {
	config, err := c.native()
	if err != nil {
		return 0, err
	}
	var size C.size_t
	err = demand(func(e *C.adapvae_error) C.adapvae_status { return C.adapvae_memory_required(config, nil, &size, e) })
	return int(size), err
}

// Model is an adapvae_model.
type Model struct {
	handle         *C.adapvae_model
	inUse          int32
	inputs, latent int
	progress       func(Stage, float64) bool
}

func own(handle *C.adapvae_model) *Model {
	m := &Model{handle: handle}
	runtime.SetFinalizer(m, (*Model).Close)
	config := sized(func(c *C.adapvae_config) *C.uint32_t { return &c.struct_size })
	C.adapvae_get_config(handle, config)
	m.inputs, m.latent = int(config.inputs), int(config.latent)
	return m
}

// sized is a struct of the library with its size set.
func sized[T any](size func(*T) *C.uint32_t) *T {
	made := new(T)
	*size(made) = C.uint32_t(unsafe.Sizeof(*made))
	return made
}

// New makes a model; "inputs" or "preset" must be there.
func New(config Config) (*Model, error) {
	native, err := config.native()
	if err != nil {
		return nil, err
	}
	var handle *C.adapvae_model
	err = demand(func(e *C.adapvae_error) C.adapvae_status { return C.adapvae_create(native, nil, &handle, e) })
	if err != nil {
		return nil, err
	}
	return own(handle), nil
}

func pointer[T any](slice []T) *T {
	if len(slice) == 0 {
		return nil
	}
	return &slice[0]
}

// FromBytes makes a model of what Bytes gave. The model takes at most 1 GiB.
func FromBytes(bytes []byte) (*Model, error) {
	return FromBytesWithin(bytes, 0)
}

// FromBytesWithin is FromBytes for a model that takes at most maxMemory bytes; 0: 1 GiB.
func FromBytesWithin(bytes []byte, maxMemory uint64) (*Model, error) {
	var handle *C.adapvae_model
	err := demand(func(e *C.adapvae_error) C.adapvae_status {
		var options C.adapvae_options
		options.struct_size = C.uint32_t(unsafe.Sizeof(options))
		options.max_memory_bytes = C.size_t(maxMemory)
		return C.adapvae_create_from(unsafe.Pointer(pointer(bytes)), C.size_t(len(bytes)), &options, &handle, e)
	})
	if err != nil {
		return nil, err
	}
	return own(handle), nil
}

// ScorerFromBytes makes a Scorer of what Bytes gave.
func ScorerFromBytes(bytes []byte) (*Model, error) {
	var handle *C.adapvae_model
	err := demand(func(e *C.adapvae_error) C.adapvae_status {
		return C.adapvae_create_scorer_from(unsafe.Pointer(pointer(bytes)), C.size_t(len(bytes)), nil, &handle, nil, e)
	})
	if err != nil {
		return nil, err
	}
	return own(handle), nil
}

// Load makes a model of a file, which may be another language's or the program's.
func Load(path string) (*Model, error) {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return FromBytes(bytes)
}

// call runs use while no other call does, and tells why it was refused.
func (m *Model) call(use func() C.adapvae_status) error {
	if !atomic.CompareAndSwapInt32(&m.inUse, 0, 1) {
		return &Error{Busy, "called while another call on the same model is under way", -1}
	}
	defer runtime.KeepAlive(m)
	defer atomic.StoreInt32(&m.inUse, 0)
	if m.handle == nil {
		return &Error{Unavailable, "the model is closed", -1}
	}
	if use() == C.ADAPVAE_OK {
		return nil
	}
	e := sized(func(e *C.adapvae_error) *C.uint32_t { return &e.struct_size })
	C.adapvae_last_error(m.handle, e)
	return failure(e)
}

// Close gives the memory back; closing twice is fine.
func (m *Model) Close() error {
	if !atomic.CompareAndSwapInt32(&m.inUse, 0, 1) {
		return &Error{Busy, "closed while a call is under way", -1}
	}
	defer atomic.StoreInt32(&m.inUse, 0)
	C.adapvae_destroy(m.handle)
	m.handle = nil
	runtime.SetFinalizer(m, nil)
	return nil
}

// Scorer is a copy of what the model knows now, for another goroutine, in a fraction of the memory. It does not
// learn; Update brings it up to date.
func (m *Model) Scorer() (*Model, error) {
	var handle *C.adapvae_model
	var refused error
	err := m.call(func() C.adapvae_status {
		refused = demand(func(e *C.adapvae_error) C.adapvae_status {
			return C.adapvae_create_scorer(m.handle, nil, &handle, e)
		})
		return C.ADAPVAE_OK
	})
	if err == nil {
		err = refused
	}
	if err != nil {
		return nil, err
	}
	return own(handle), nil
}

// Inputs is how many numbers a row has.
func (m *Model) Inputs() int { return m.inputs }

// Latent is how many features there are.
func (m *Model) Latent() int { return m.latent }

// ---- learning ----

// Report is what learning came to; all but Streams is of the last stream.
type Report struct {
	Streams, Rows, Clusters, Components, Births, Merges, Retirements, Refusals int
	ReplayRows, Drifted                                                        int
	Stopped                                                                    bool
	Bound, Loss, LogLikelihood, Mixture, Entropy, Distillation                 float64
	ReplayAccuracy, LargestDrift                                               float64
	SkippedSteps, Repairs                                                      uint64
}

func newReport() *C.adapvae_report {
	return sized(func(r *C.adapvae_report) *C.uint32_t { return &r.struct_size })
}

func reportOf(r *C.adapvae_report) Report {
	return Report{
		int(r.streams), int(r.rows), int(r.clusters), int(r.components), int(r.births), int(r.merges), int(r.retirements),
		int(r.refusals), int(r.replay_rows), int(r.drifted), r.stopped != 0, float64(r.bound), float64(r.loss),
		float64(r.log_likelihood), float64(r.mixture), float64(r.entropy), float64(r.distillation),
		float64(r.replay_accuracy), float64(r.largest_drift), uint64(r.skipped_steps), uint64(r.repairs),
	}
}

// count is how many rows of width a slice has.
func count(numbers, width int) (C.int32_t, error) {
	if numbers%width != 0 || numbers/width > 1<<31-1 {
		return 0, &Error{ShapeMismatch, fmt.Sprintf("%d numbers are not a whole number of rows of %d", numbers, width), -1}
	}
	return C.int32_t(numbers / width), nil
}

func floats(slice []float32) *C.float { return (*C.float)(pointer(slice)) }

// Stage is a part of learning a stream.
type Stage int32

// Stages of a stream, in order.
const (
	Pretrain Stage = C.ADAPVAE_STAGE_PRETRAIN
	Adapt    Stage = C.ADAPVAE_STAGE_ADAPT
	Embed    Stage = C.ADAPVAE_STAGE_EMBED
	Births   Stage = C.ADAPVAE_STAGE_BIRTHS
	Joint    Stage = C.ADAPVAE_STAGE_JOINT
	Closing  Stage = C.ADAPVAE_STAGE_CLOSE
)

// listener is what a progress call needs: what a panic said must not cross the library.
type listener struct {
	tell     func(Stage, float64) bool
	panicked any
}

//export goAdapvaeProgress
func goAdapvaeProgress(context unsafe.Pointer, stage C.int32_t, fraction C.double) (on C.int32_t) {
	l := cgo.Handle(uintptr(context)).Value().(*listener)
	defer func() {
		if p := recover(); p != nil {
			l.panicked, on = p, 0
		}
	}()
	if l.panicked == nil && l.tell(Stage(stage), float64(fraction)) {
		return 1
	}
	return 0
}

func (m *Model) learning(use func() C.adapvae_status) error {
	l := &listener{tell: m.progress}
	err := m.call(func() C.adapvae_status {
		if l.tell == nil {
			return use()
		}
		handle := cgo.NewHandle(l)
		defer handle.Delete()
		C.listen_to(m.handle, C.uintptr_t(handle))
		defer C.listen_to(m.handle, 0)
		return use()
	})
	if l.panicked != nil {
		panic(l.panicked)
	}
	return err
}

// SetProgress has tell called often while a stream is learnt, with the part of it that is done; false ends the
// stream early. It may call nothing of the model but Stop.
func (m *Model) SetProgress(tell func(stage Stage, fraction float64) bool) { m.progress = tell }

// Stop, from any goroutine: the stream that is being learnt ends early. Not after Close.
func (m *Model) Stop() {
	C.adapvae_stop(m.handle)
	runtime.KeepAlive(m)
}

// Learn learns a stream of 1 to block_rows rows. The first teaches the network its features: it should be full.
func (m *Model) Learn(rows []float32) (Report, error) {
	n, err := count(len(rows), m.inputs)
	r := newReport()
	if err == nil {
		err = m.learning(func() C.adapvae_status { return C.adapvae_learn(m.handle, floats(rows), n, 0, r) })
	}
	return reportOf(r), err
}

// Push takes any number of rows, which wait in the model until there are block_rows of them.
func (m *Model) Push(rows []float32) (Report, error) {
	n, err := count(len(rows), m.inputs)
	r := newReport()
	if err == nil {
		err = m.learning(func() C.adapvae_status { return C.adapvae_push(m.handle, floats(rows), n, 0, r) })
	}
	return reportOf(r), err
}

// Flush learns the rows that wait, however few.
func (m *Model) Flush() (Report, error) {
	r := newReport()
	err := m.learning(func() C.adapvae_status { return C.adapvae_flush(m.handle, r) })
	return reportOf(r), err
}

// Pretrain teaches the network its features from rows given apart, before anything else. May change.
func (m *Model) Pretrain(rows []float32) error {
	n, err := count(len(rows), m.inputs)
	if err != nil {
		return err
	}
	return m.learning(func() C.adapvae_status { return C.adapvae_pretrain(m.handle, floats(rows), n, 0) })
}

// SetTime is the time of the rows to come, for half_life_time.
func (m *Model) SetTime(time float64) error {
	return m.call(func() C.adapvae_status { return C.adapvae_set_time(m.handle, C.double(time)) })
}

// SetBudget is how many seconds a stream may take; 0: as long as it takes.
func (m *Model) SetBudget(seconds float64) error {
	return m.call(func() C.adapvae_status { return C.adapvae_set_budget(m.handle, C.double(seconds)) })
}

// Reset unlearns everything; live settings stay.
func (m *Model) Reset() error {
	return m.call(func() C.adapvae_status { return C.adapvae_reset(m.handle) })
}

// ---- rows, without learning ----

// Flags of a Result.
const (
	Provisional   = C.ADAPVAE_PROVISIONAL
	NothingLearnt = C.ADAPVAE_NOTHING_LEARNT
	Novel         = C.ADAPVAE_NOVEL
)

// Result is what is known of a row. It lies as adapvae_result does.
type Result struct {
	ID          uint32 // most probable cluster; 0: nothing is learnt
	Component   uint32
	Probability float32
	Novelty     float32 // in [0, 1]; novel if above 0.5
	LogDensity  float32
	Flags       uint32
}

// Score tells what each row is.
func (m *Model) Score(rows []float32) ([]Result, error) {
	out := make([]Result, len(rows)/m.inputs)
	return out, m.ScoreInto(out, rows)
}

// ScoreInto is Score without an allocation; out has a Result for each row.
func (m *Model) ScoreInto(out []Result, rows []float32) error {
	n, err := count(len(rows), m.inputs)
	if err != nil {
		return err
	}
	if len(out) != int(n) {
		return &Error{ShapeMismatch, fmt.Sprintf("%d results for %d rows", len(out), n), -1}
	}
	return m.call(func() C.adapvae_status {
		return C.adapvae_score(m.handle, floats(rows), n, 0, (*C.adapvae_result)(unsafe.Pointer(pointer(out))))
	})
}

// Probabilities are those of every cluster: ids has the columns, probability is row after row.
func (m *Model) Probabilities(rows []float32) (ids []uint32, probability []float32, err error) {
	n, err := count(len(rows), m.inputs)
	if err != nil {
		return nil, nil, err
	}
	err = m.call(func() C.adapvae_status {
		for _, c := range m.clusters() {
			ids = append(ids, c.ID)
		}
		probability = make([]float32, int(n)*len(ids)+1) // never null
		return C.adapvae_probabilities(m.handle, floats(rows), n, 0, floats(probability))
	})
	if err != nil {
		return nil, nil, err
	}
	return ids, probability[:int(n)*len(ids)], nil
}

// Encode gives mean and variance of the features.
func (m *Model) Encode(rows []float32) (mean, variance []float32, err error) {
	n, err := count(len(rows), m.inputs)
	if err != nil {
		return nil, nil, err
	}
	mean, variance = make([]float32, int(n)*m.latent), make([]float32, int(n)*m.latent)
	return mean, variance, m.call(func() C.adapvae_status {
		return C.adapvae_encode(m.handle, floats(rows), n, 0, floats(mean), floats(variance))
	})
}

// Decode gives the rows that the network makes of features.
func (m *Model) Decode(features []float32) ([]float32, error) {
	n, err := count(len(features), m.latent)
	if err != nil {
		return nil, err
	}
	rows := make([]float32, int(n)*m.inputs)
	return rows, m.call(func() C.adapvae_status {
		return C.adapvae_decode(m.handle, floats(features), n, 0, floats(rows))
	})
}

// Reconstruct is Decode of Encode.
func (m *Model) Reconstruct(rows []float32) ([]float32, error) {
	n, err := count(len(rows), m.inputs)
	if err != nil {
		return nil, err
	}
	out := make([]float32, len(rows))
	return out, m.call(func() C.adapvae_status {
		return C.adapvae_reconstruct(m.handle, floats(rows), n, 0, floats(out))
	})
}

// Generate makes up rows, of a cluster or (id 0) of all by their weight. Row i of a seed is always the same.
func (m *Model) Generate(id, seed uint32, n int) (rows, features []float32, ids []uint32, err error) {
	if n < 0 || n > 1<<31-1 {
		return nil, nil, nil, invalid("%d is not a number of rows", n)
	}
	rows, features, ids = make([]float32, n*m.inputs+1), make([]float32, n*m.latent+1), make([]uint32, n+1)
	err = m.call(func() C.adapvae_status {
		return C.adapvae_generate(m.handle, C.adapvae_id(id), C.uint32_t(seed), C.int32_t(n), floats(rows),
			floats(features), (*C.adapvae_id)(&ids[0]))
	})
	return rows[:n*m.inputs], features[:n*m.latent], ids[:n], err
}

// Interpolate goes from one cluster's mean to another's, both included.
func (m *Model) Interpolate(from, to uint32, n int) (rows, features []float32, err error) {
	if n < 0 || n > 1<<31-1 {
		return nil, nil, invalid("%d is not a number of rows", n)
	}
	rows, features = make([]float32, n*m.inputs+1), make([]float32, n*m.latent+1)
	err = m.call(func() C.adapvae_status {
		return C.adapvae_interpolate(m.handle, C.adapvae_id(from), C.adapvae_id(to), C.int32_t(n), floats(rows),
			floats(features))
	})
	return rows[:n*m.inputs], features[:n*m.latent], err
}

// Format is of explanations.
type Format int32

// English, or a JSON object.
const (
	Text Format = C.ADAPVAE_TEXT
	JSON Format = C.ADAPVAE_JSON
)

// Explain tells why a row is as novel as it is.
func (m *Model) Explain(row []float32, format Format) (out string, err error) {
	if len(row) != m.inputs {
		return "", &Error{ShapeMismatch, "explain takes one row", -1}
	}
	err = m.call(func() (status C.adapvae_status) {
		out, status = text(func(to *C.char, room C.size_t, needed *C.size_t) C.adapvae_status {
			return C.adapvae_explain(m.handle, floats(row), C.int32_t(format), to, room, needed)
		})
		return status
	})
	return out, err
}

// ---- clusters, corrections, settings ----

// Info is a model at a glance.
type Info struct {
	Clusters, RowsWaiting, UndoSteps int
	Streams, Rows, IDsGiven, Events  uint64
	MemoryBytes, SnapshotBytes       uint64
	Time                             float64
	Backend                          string
	ScoresOnly                       bool
	Latent, Inputs, BlockRows        int
	Components                       int // of the mixture
}

// Info takes as long as scoring some rows.
func (m *Model) Info() (Info, error) {
	i := sized(func(i *C.adapvae_info) *C.uint32_t { return &i.struct_size })
	if err := m.call(func() C.adapvae_status { return C.adapvae_get_info(m.handle, i) }); err != nil {
		return Info{}, err
	}
	return Info{int(i.clusters), int(i.rows_waiting), int(i.undo_steps), uint64(i.streams), uint64(i.rows),
		uint64(i.ids_given), uint64(i.events), uint64(i.memory_bytes), uint64(i.snapshot_bytes), float64(i.time),
		C.GoString(i.backend), i.scores_only != 0, int(i.latent), int(i.inputs), int(i.block_rows), int(i.components)}, nil
}

// Cluster has an ID that never changes. Parent 0: none.
type Cluster struct {
	ID                                 uint32
	Components                         int // of the mixture
	Parent                             uint32
	BornStream, SeenStream             uint64
	Rows, Weight, BirthRows, BirthGain float64
	Provisional                        bool
	Name                               string
}

func newCluster() *C.adapvae_cluster {
	return sized(func(c *C.adapvae_cluster) *C.uint32_t { return &c.struct_size })
}

func clusterOf(c *C.adapvae_cluster) Cluster {
	return Cluster{uint32(c.id), int(c.components), uint32(c.parent), uint64(c.born_stream), uint64(c.seen_stream),
		float64(c.rows), float64(c.weight), float64(c.birth_rows), float64(c.birth_gain), c.provisional != 0,
		C.GoString(&c.name[0])}
}

func (m *Model) clusters() (out []Cluster) {
	for c := newCluster(); C.adapvae_cluster_at(m.handle, C.int32_t(len(out)), c) == C.ADAPVAE_OK; {
		out = append(out, clusterOf(c))
	}
	return out
}

// Clusters are all that there are; their order means nothing.
func (m *Model) Clusters() (out []Cluster, err error) {
	err = m.call(func() C.adapvae_status {
		out = m.clusters()
		return C.ADAPVAE_OK
	})
	return out, err
}

// Cluster is the one that holds what id held.
func (m *Model) Cluster(id uint32) (Cluster, error) {
	c := newCluster()
	err := m.call(func() C.adapvae_status { return C.adapvae_cluster_of(m.handle, C.adapvae_id(id), c) })
	return clusterOf(c), err
}

// Resolve gives the id of the cluster that holds what id held; 0: there is none.
func (m *Model) Resolve(id uint32) (out uint32, err error) {
	err = m.call(func() C.adapvae_status {
		out = uint32(C.adapvae_resolve(m.handle, C.adapvae_id(id)))
		return C.ADAPVAE_OK
	})
	return out, err
}

// Moments are mean and covariance, row after row, of a cluster's features.
func (m *Model) Moments(id uint32) (mean, covariance []float64, err error) {
	mean, covariance = make([]float64, m.latent), make([]float64, m.latent*m.latent)
	return mean, covariance, m.call(func() C.adapvae_status {
		return C.adapvae_moments(m.handle, C.adapvae_id(id), (*C.double)(&mean[0]), (*C.double)(&covariance[0]))
	})
}

// Label names a cluster, in at most 31 bytes; "" takes the name away.
func (m *Model) Label(id uint32, name string) error {
	for i := range name {
		if name[i] == 0 {
			return invalid("a name has no zero byte")
		}
	}
	native := C.CString(name)
	defer C.free(unsafe.Pointer(native))
	return m.call(func() C.adapvae_status { return C.adapvae_label(m.handle, C.adapvae_id(id), native) })
}

func number(b bool) C.int32_t {
	if b {
		return 1
	}
	return 0
}

// Merge has other go into id; gain is the change of the evidence bound, also if refused.
func (m *Model) Merge(id, other uint32, force bool) (gain float64, err error) {
	err = m.call(func() C.adapvae_status {
		return C.adapvae_merge(m.handle, C.adapvae_id(id), C.adapvae_id(other), number(force), (*C.double)(&gain))
	})
	return gain, err
}

// Split parts a cluster in two; part is the new one.
func (m *Model) Split(id uint32, force bool) (part uint32, gain float64, err error) {
	err = m.call(func() C.adapvae_status {
		return C.adapvae_split(m.handle, C.adapvae_id(id), number(force), (*C.adapvae_id)(&part), (*C.double)(&gain))
	})
	return part, gain, err
}

// Forget drops all that a cluster holds.
func (m *Model) Forget(id uint32) error {
	return m.call(func() C.adapvae_status { return C.adapvae_forget(m.handle, C.adapvae_id(id)) })
}

// Undo takes the last correction back.
func (m *Model) Undo() error {
	return m.call(func() C.adapvae_status { return C.adapvae_undo(m.handle) })
}

// Set changes a live field.
func (m *Model) Set(name string, value any) error {
	field, text := C.CString(name), C.CString(fieldText(value))
	defer C.free(unsafe.Pointer(field))
	defer C.free(unsafe.Pointer(text))
	return m.call(func() C.adapvae_status { return C.adapvae_set(m.handle, field, text) })
}

// SetSensitivity above 1: more is called novel; below 1: less.
func (m *Model) SetSensitivity(sensitivity float64) error {
	return m.call(func() C.adapvae_status { return C.adapvae_set_sensitivity(m.handle, C.double(sensitivity)) })
}

// Config has every field as the model has it, as text.
func (m *Model) Config() (Config, error) {
	config := sized(func(c *C.adapvae_config) *C.uint32_t { return &c.struct_size })
	err := m.call(func() C.adapvae_status { return C.adapvae_get_config(m.handle, config) })
	return configOf(config), err
}

// ---- events ----

// EventType is what happened.
type EventType int32

// Types of events; see adapvae.h.
const (
	Born      EventType = C.ADAPVAE_BORN
	Merged    EventType = C.ADAPVAE_MERGED
	Retired   EventType = C.ADAPVAE_RETIRED
	NotBorn   EventType = C.ADAPVAE_NOT_BORN
	Forgotten EventType = C.ADAPVAE_FORGOTTEN
	Parted    EventType = C.ADAPVAE_SPLIT
	Noticed   EventType = C.ADAPVAE_NOTICED
	Labelled  EventType = C.ADAPVAE_LABELLED
	Undone    EventType = C.ADAPVAE_UNDONE
	Drifted   EventType = C.ADAPVAE_DRIFTED
	Repaired  EventType = C.ADAPVAE_REPAIRED
	Learnt    EventType = C.ADAPVAE_LEARNT
	Rescaled  EventType = C.ADAPVAE_RESCALED
	Warned    EventType = C.ADAPVAE_WARNED
)

// Reason is why, for NotBorn, Repaired, Learnt, Rescaled and Warned.
type Reason int32

// Reasons; see adapvae.h.
const (
	ReasonNone       Reason = C.ADAPVAE_REASON_NONE
	ReasonBound      Reason = C.ADAPVAE_REASON_BOUND
	ReasonRows       Reason = C.ADAPVAE_REASON_ROWS
	ReasonRoom       Reason = C.ADAPVAE_REASON_ROOM
	ReasonOne        Reason = C.ADAPVAE_REASON_ONE
	ReasonCovariance Reason = C.ADAPVAE_REASON_COVARIANCE
	ReasonStep       Reason = C.ADAPVAE_REASON_STEP
	ReasonRate       Reason = C.ADAPVAE_REASON_RATE
	ReasonKnown      Reason = C.ADAPVAE_REASON_KNOWN
	ReasonRange      Reason = C.ADAPVAE_REASON_RANGE
	ReasonCapacity   Reason = C.ADAPVAE_REASON_CAPACITY
	ReasonStuck      Reason = C.ADAPVAE_REASON_STUCK
	ReasonTraining   Reason = C.ADAPVAE_REASON_TRAINING
	ReasonMissing    Reason = C.ADAPVAE_REASON_MISSING
)

// Event is one that is kept; Text says it in English.
type Event struct {
	Type             EventType
	Reason           Reason
	Missed           bool // events between the one before and this are not here any more
	Sequence, Stream uint64
	ID, Other        uint32
	Gain, Rows       float64
	Clusters         int
	Input            int // for ReasonRange: the input that is farthest out, from 0; else -1
	Text             string
}

// Events are those after number `after` that are still kept.
func (m *Model) Events(after uint64) (out []Event, err error) {
	err = m.call(func() C.adapvae_status {
		e := sized(func(e *C.adapvae_event) *C.uint32_t { return &e.struct_size })
		e.sequence = C.uint64_t(after)
		for {
			status := C.adapvae_next_event(m.handle, e)
			if status == C.ADAPVAE_NO_MORE {
				return C.ADAPVAE_OK
			}
			if status != C.ADAPVAE_OK {
				return status
			}
			told, status := text(func(to *C.char, room C.size_t, needed *C.size_t) C.adapvae_status {
				return C.adapvae_event_text(e, C.ADAPVAE_TEXT, to, room, needed)
			})
			if status != C.ADAPVAE_OK {
				return status
			}
			out = append(out, Event{EventType(e._type), Reason(e.reason), e.missed != 0, uint64(e.sequence),
				uint64(e.stream), uint32(e.id), uint32(e.other), float64(e.gain), float64(e.rows), int(e.clusters),
				int(e.input), told})
		}
	})
	return out, err
}

// ---- files ----

// Bytes is everything that the model knows, as every language and platform reads it.
func (m *Model) Bytes() (out []byte, err error) {
	err = m.call(func() C.adapvae_status {
		var size C.size_t
		if status := C.adapvae_save(m.handle, nil, 0, &size); status != C.ADAPVAE_OK {
			return status
		}
		out = make([]byte, size)
		return C.adapvae_save(m.handle, unsafe.Pointer(&out[0]), size, &size)
	})
	return out, err
}

// Update takes over what Bytes of a model with the same configuration gave.
func (m *Model) Update(bytes []byte) error {
	return m.call(func() C.adapvae_status {
		return C.adapvae_load(m.handle, unsafe.Pointer(pointer(bytes)), C.size_t(len(bytes)))
	})
}

// Save writes a file, whole or not at all.
func (m *Model) Save(path string) error {
	bytes, err := m.Bytes()
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // gone already if all went well
	_, err = file.Write(bytes)
	if err == nil {
		err = file.Chmod(0o644)
	}
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// Snapshot is what is in a file.
type Snapshot struct {
	Clusters                                   int
	Format, Streams, Rows, RowsWaiting, Events uint64
	Time                                       float64
	Version                                    string
	Config                                     Config
}

// Inspect looks at what Bytes gave without making a model of it.
func Inspect(bytes []byte) (Snapshot, error) {
	s := sized(func(s *C.adapvae_snapshot) *C.uint32_t { return &s.struct_size })
	config := sized(func(c *C.adapvae_config) *C.uint32_t { return &c.struct_size })
	err := demand(func(e *C.adapvae_error) C.adapvae_status {
		return C.adapvae_inspect(unsafe.Pointer(pointer(bytes)), C.size_t(len(bytes)), s, config, e)
	})
	if err != nil {
		return Snapshot{}, err
	}
	return Snapshot{int(s.clusters), uint64(s.format), uint64(s.streams), uint64(s.rows), uint64(s.rows_waiting),
		uint64(s.events), float64(s.time), C.GoString(&s.version[0]), configOf(config)}, nil
}

// ---- one model, many machines ----

// Gain is what rows, any number of them, would add to this model, the base, which stays as it is: a set of one gain,
// for MergeGains and ApplyGains. A pair of worker and sequence counts once.
func (m *Model) Gain(rows []float32, worker, sequence uint64) (out []byte, err error) {
	n, err := count(len(rows), m.inputs)
	if err != nil {
		return nil, err
	}
	var size C.size_t
	err = m.call(func() C.adapvae_status {
		if status := C.adapvae_gain(m.handle, nil, 0, 0, nil, nil, 0, &size); status != C.ADAPVAE_OK {
			return status
		}
		out = make([]byte, size)
		key := C.adapvae_gain_key{worker: C.uint64_t(worker), sequence: C.uint64_t(sequence)}
		return C.adapvae_gain(m.handle, floats(rows), n, 0, &key, unsafe.Pointer(&out[0]), size, &size)
	})
	if err != nil {
		return nil, err
	}
	return out[:size], nil
}

// MergeGains is all gains of both sets, each once: the same bytes whatever the order.
func MergeGains(a, b []byte) (out []byte, err error) {
	var size C.size_t
	for i := 0; i < 2 && err == nil; i++ {
		out = make([]byte, size)
		err = demand(func(e *C.adapvae_error) C.adapvae_status {
			return C.adapvae_merge_gains(unsafe.Pointer(pointer(a)), C.size_t(len(a)), unsafe.Pointer(pointer(b)),
				C.size_t(len(b)), unsafe.Pointer(pointer(out)), C.size_t(len(out)), &size, e)
		})
	}
	return out, err
}

// Gains is what is in a set of them; BaseStreams: that the base has learnt.
type Gains struct {
	Gains, Born       int
	Rows, BaseStreams uint64
}

// InspectGains looks at what Gain or MergeGains gave.
func InspectGains(gains []byte) (Gains, error) {
	g := sized(func(g *C.adapvae_gains) *C.uint32_t { return &g.struct_size })
	err := demand(func(e *C.adapvae_error) C.adapvae_status {
		return C.adapvae_inspect_gains(unsafe.Pointer(pointer(gains)), C.size_t(len(gains)), g, e)
	})
	return Gains{int(g.gains), int(g.born), uint64(g.rows), uint64(g.base_streams)}, err
}

// Alias is what became of the cluster that was born as number Local, from 1, of a worker's gain.
type Alias struct {
	Worker, Sequence uint64
	Local, ID        uint32
}

// ApplyGains adds gains of this model, of any number of workers, as one stream: all of them, or none.
func (m *Model) ApplyGains(gains []byte) (Report, []Alias, error) {
	found, err := InspectGains(gains)
	r := newReport()
	if err != nil {
		return reportOf(r), nil, err
	}
	aliases := make([]Alias, found.Born)
	err = m.call(func() C.adapvae_status {
		return C.adapvae_apply_gains(m.handle, unsafe.Pointer(pointer(gains)), C.size_t(len(gains)),
			(*C.adapvae_alias)(unsafe.Pointer(pointer(aliases))), C.int32_t(len(aliases)), r)
	})
	return reportOf(r), aliases, err
}

// ---- without a model ----

// Field is one of the configuration.
type Field struct {
	Name, Group, Choices, Sentence string
	Type                           int // 0 whole number, 1 real number, 2 switch, 3 choice
	Live                           bool
	Lowest, Highest, Default       float64
}

// Fields are all of the configuration.
func Fields() (out []Field) {
	f := sized(func(f *C.adapvae_field) *C.uint32_t { return &f.struct_size })
	for C.adapvae_config_field(C.int32_t(len(out)), f) == C.ADAPVAE_OK {
		out = append(out, Field{C.GoString(f.name), C.GoString(f.group), C.GoString(f.choices), C.GoString(f.sentence),
			int(f._type), f.live != 0, float64(f.lowest), float64(f.highest), float64(f.preset)})
	}
	return out
}

// Presets are their names.
func Presets() (out []string) {
	for {
		name := C.adapvae_preset_name(C.int32_t(len(out)))
		if name == nil {
			return out
		}
		out = append(out, C.GoString(name))
	}
}

// Version is the library's.
func Version() string { return C.GoString(C.adapvae_version_string()) }

// InstructionSet is what the kernels use; ADAPVAE_ISA in the environment forces another.
func InstructionSet() string { return C.GoString(C.adapvae_instruction_set()) }

// Metrics are agreement of clusters with labels; 1 is best.
type Metrics struct {
	Rows, Labels, Clusters                                                        int
	NMI, NMIGeometric, ARI, Homogeneity, Completeness, VMeasure, Accuracy, Purity float64
}

// Evaluate compares labels that the model has never seen with ids.
func Evaluate(labels []int32, ids []uint32) (Metrics, error) {
	if len(labels) != len(ids) {
		return Metrics{}, invalid("%d labels, but %d ids", len(labels), len(ids))
	}
	r := sized(func(r *C.adapvae_metrics) *C.uint32_t { return &r.struct_size })
	err := demand(func(e *C.adapvae_error) C.adapvae_status {
		return C.adapvae_evaluate((*C.int32_t)(pointer(labels)), (*C.adapvae_id)(pointer(ids)), C.int32_t(len(ids)), nil,
			r, e)
	})
	return Metrics{int(r.rows), int(r.labels), int(r.clusters), float64(r.nmi), float64(r.nmi_geometric), float64(r.ari),
		float64(r.homogeneity), float64(r.completeness), float64(r.v_measure), float64(r.accuracy), float64(r.purity)}, err
}
