package adapvae

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const inputs = 8

var small = Config{"inputs": inputs, "latent": 3, "hidden1": 16, "hidden2": 0, "pretrain_epochs": 30, "joint_epochs": 4,
	"adapt_epochs": 4, "learning_rate": 0.005, "block_rows": 200, "batch": 20, "max_clusters": 10, "seed": 3}

// kinds makes rows of these kinds in turn.
func kinds(seed int64, n int, which ...int) (rows []float32, labels []int32) {
	random := rand.New(rand.NewSource(seed))
	for i := 0; i < n; i++ {
		kind := which[i%len(which)]
		labels = append(labels, int32(kind))
		for j := 0; j < inputs; j++ {
			centre := 0.1 + 0.8*float64((kind*37+11)>>(j%6)&1^j&kind&1)
			rows = append(rows, float32(math.Min(1, math.Max(0, centre+0.02*random.NormFloat64()))))
		}
	}
	return rows, labels
}

func with(more Config) Config {
	out := Config{}
	for _, config := range []Config{small, more} {
		for name, value := range config {
			out[name] = value
		}
	}
	return out
}

func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func learnt(t *testing.T) *Model {
	t.Helper()
	model := must[*Model](t)(New(small))
	rows, _ := kinds(1, 200, 0, 1, 2)
	must[Report](t)(model.Learn(rows))
	t.Cleanup(func() { model.Close() })
	return model
}

func TestLearnsAndScores(t *testing.T) {
	model := learnt(t)
	rows, labels := kinds(2, 150, 0, 1, 2)
	before := must[[]byte](t)(model.Bytes())
	results := must[[]Result](t)(model.Score(rows))
	ids := make([]uint32, len(results))
	for i, result := range results {
		ids[i] = result.ID
		if (result.Novelty > 0.5) != (result.Flags&Novel != 0) {
			t.Fatal("a row is novel if and only if its novelty is above 0.5")
		}
	}
	metrics := must[Metrics](t)(Evaluate(labels, ids))
	if metrics.NMI < 0.8 {
		t.Fatalf("NMI %v", metrics.NMI)
	}
	columns, probability, err := model.Probabilities(rows)
	if err != nil {
		t.Fatal(err)
	}
	for i, result := range results {
		for k, id := range columns {
			if id == result.ID && probability[i*len(columns)+k] != result.Probability {
				t.Fatalf("row %d: %v, scored %v", i, probability[i*len(columns)+k], result.Probability)
			}
		}
	}
	mean, _, err := model.Encode(rows)
	if err != nil {
		t.Fatal(err)
	}
	decoded := must[[]float32](t)(model.Decode(mean))
	rebuilt := must[[]float32](t)(model.Reconstruct(rows))
	for i := range decoded {
		if decoded[i] != rebuilt[i] {
			t.Fatal("reconstruct is decode of encode")
		}
	}
	if !bytes.Equal(before, must[[]byte](t)(model.Bytes())) {
		t.Fatal("looking changed the model")
	}
}

func TestBeforeAnythingIsLearnt(t *testing.T) {
	model := must[*Model](t)(New(small))
	defer model.Close()
	rows, _ := kinds(1, 3, 0)
	for _, result := range must[[]Result](t)(model.Score(rows)) {
		if result.ID != 0 || result.Novelty != 1 || result.Flags&NothingLearnt == 0 {
			t.Fatalf("%+v", result)
		}
	}
	ids, probability, err := model.Probabilities(rows)
	if len(ids) != 0 || len(probability) != 0 || err != nil {
		t.Fatal(ids, probability, err)
	}
	if len(must[[]Result](t)(model.Score(nil))) != 0 {
		t.Fatal("no rows, no results")
	}
}

func TestRefusalsChangeNothing(t *testing.T) {
	model := learnt(t)
	before := must[[]byte](t)(model.Bytes())
	rows, _ := kinds(1, 20, 0)
	rows[13*inputs+2] = float32(math.NaN())
	_, err := model.Learn(rows)
	var refused *Error
	if !errors.Is(err, NonFinite) || !errors.As(err, &refused) || refused.Index != 13 {
		t.Fatal(err)
	}
	if _, err := model.Score(rows[:9]); !errors.Is(err, ShapeMismatch) {
		t.Fatal(err)
	}
	if _, err := model.Learn(nil); !errors.Is(err, ShapeMismatch) {
		t.Fatal(err)
	}
	if err := model.ScoreInto(nil, rows[:inputs]); !errors.Is(err, ShapeMismatch) {
		t.Fatal(err)
	}
	if _, err := model.Cluster(4000); !errors.Is(err, UnknownCluster) {
		t.Fatal(err)
	}
	if err := model.Label(1, "a\x00b"); !errors.Is(err, InvalidArgument) {
		t.Fatal(err)
	}
	if err := model.Set("latent", 2); err == nil {
		t.Fatal("latent is not live")
	}
	if _, err := New(Config{"inputs": 8, "hiden1": 3}); err == nil || !strings.Contains(err.Error(), "hidden1") {
		t.Fatal(err)
	}
	if _, err := New(Config{}); err == nil {
		t.Fatal("inputs must be given")
	}
	if _, err := FromBytes(before[:len(before)-1]); !errors.Is(err, CorruptData) {
		t.Fatal(err)
	}
	if _, err := FromBytes(nil); err == nil {
		t.Fatal("no bytes, no model")
	}
	if _, err := Inspect([]byte("x")); err == nil {
		t.Fatal("not a model")
	}
	if _, err := Evaluate([]int32{1}, nil); err == nil {
		t.Fatal("lengths differ")
	}
	if !bytes.Equal(before, must[[]byte](t)(model.Bytes())) {
		t.Fatal("a refusal changed the model")
	}
}

func TestFilesGoOnByteForByte(t *testing.T) {
	model := learnt(t)
	path := filepath.Join(t.TempDir(), "model")
	if err := model.Save(path); err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(filepath.Dir(path))
	if len(entries) != 1 {
		t.Fatal("something is left beside the file")
	}
	loaded := must[*Model](t)(Load(path))
	defer loaded.Close()
	rows, _ := kinds(5, 200, 0, 1, 2, 3)
	must[Report](t)(model.Learn(rows))
	for at := 0; at < len(rows); at += 40 * inputs {
		must[Report](t)(loaded.Push(rows[at : at+40*inputs]))
	}
	if !bytes.Equal(must[[]byte](t)(model.Bytes()), must[[]byte](t)(loaded.Bytes())) {
		t.Fatal("the loaded model went another way")
	}
	told := must[Snapshot](t)(Inspect(must[[]byte](t)(model.Bytes())))
	if told.Rows != 400 || told.Version != Version() || told.Config["latent"] != "3" {
		t.Fatalf("%+v", told)
	}
	// What a model has, given again, makes the same one.
	again := must[*Model](t)(New(must[Config](t)(loaded.Config())))
	defer again.Close()
	if must[Info](t)(again.Info()).MemoryBytes != uint64(must[int](t)(told.Config.MemoryRequired())) {
		t.Fatal("memory")
	}
}

func TestProgressStopAndPanic(t *testing.T) {
	model := learnt(t)
	rows, _ := kinds(5, 200, 0, 1, 2)
	last := 0.0
	model.SetProgress(func(stage Stage, fraction float64) bool {
		last = fraction
		if _, err := model.Score(rows); !errors.Is(err, Busy) {
			t.Errorf("from within: %v", err)
		}
		return true
	})
	if report := must[Report](t)(model.Learn(rows)); report.Stopped || last != 1 {
		t.Fatal(report.Stopped, last)
	}
	// Blocks that bring something new: others are over at once.
	rows, _ = kinds(6, 200, 3, 4)
	model.SetProgress(func(Stage, float64) bool { model.Stop(); return true })
	if report := must[Report](t)(model.Learn(rows)); !report.Stopped {
		t.Fatal("not stopped")
	}
	model.SetProgress(func(Stage, float64) bool { panic("mine") })
	func() {
		defer func() {
			if recover() != "mine" {
				t.Error("the panic was lost")
			}
		}()
		model.Learn(rows)
	}()
	model.SetProgress(nil)
	if err := model.SetBudget(1e-9); err != nil {
		t.Fatal(err)
	}
	rows, _ = kinds(7, 200, 5, 6)
	if report := must[Report](t)(model.Learn(rows)); !report.Stopped {
		t.Fatal("a budget")
	}
}

func TestCorrectionsAndEvents(t *testing.T) {
	model := learnt(t)
	clusters := must[[]Cluster](t)(model.Clusters())
	if len(clusters) < 2 {
		t.Fatal(clusters)
	}
	a, b := clusters[0].ID, clusters[1].ID
	if err := model.Label(a, "größer"); err != nil || must[Cluster](t)(model.Cluster(a)).Name != "größer" {
		t.Fatal(err)
	}
	if _, err := model.Merge(a, b, false); !errors.Is(err, Refused) {
		t.Fatal(err)
	}
	must[float64](t)(model.Merge(a, b, true))
	if must[uint32](t)(model.Resolve(b)) != a {
		t.Fatal("b is not in a")
	}
	if err := model.Undo(); err != nil || must[uint32](t)(model.Resolve(b)) != b {
		t.Fatal(err)
	}
	events := must[[]Event](t)(model.Events(0))
	if last := events[len(events)-1]; last.Type != Undone || last.Text == "" {
		t.Fatalf("%+v", last)
	}
	for i, event := range events {
		if event.Sequence != uint64(i+1) {
			t.Fatal("events are numbered from 1")
		}
	}
	if left := must[[]Event](t)(model.Events(uint64(len(events)))); len(left) != 0 {
		t.Fatal(left)
	}
	rows, _ := kinds(1, 1, 7)
	if why := must[string](t)(model.Explain(rows, Text)); why == "" {
		t.Fatal("no reason")
	}
	var reason map[string]any
	if err := json.Unmarshal([]byte(must[string](t)(model.Explain(rows, JSON))), &reason); err != nil {
		t.Fatal(err)
	}
	drawn, features, ids, err := model.Generate(a, 4, 5)
	if err != nil || len(drawn) != 5*inputs || len(features) != 15 || ids[0] != a {
		t.Fatal(err, ids)
	}
	if line, _, err := model.Interpolate(a, b, 4); err != nil || len(line) != 4*inputs {
		t.Fatal(err)
	}
	if mean, covariance, err := model.Moments(a); err != nil || len(mean) != 3 || covariance[0] <= 0 {
		t.Fatal(err)
	}
	part, _, err := model.Split(a, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := model.Forget(part); err != nil || must[uint32](t)(model.Resolve(part)) != 0 {
		t.Fatal(err)
	}
	if err := model.SetSensitivity(3); err != nil || must[Config](t)(model.Config())["sensitivity"] != "3" {
		t.Fatal(err)
	}
	if err := model.Reset(); err != nil || must[Info](t)(model.Info()).Clusters != 0 {
		t.Fatal(err)
	}
}

func TestScorersBesideALearner(t *testing.T) {
	model := learnt(t)
	rows, _ := kinds(6, 200, 0, 1, 2)
	expected := must[[]Result](t)(model.Score(rows))
	var all sync.WaitGroup
	for i := 0; i < 3; i++ {
		scorer := must[*Model](t)(model.Scorer())
		all.Add(1)
		go func() {
			defer all.Done()
			defer scorer.Close()
			out := make([]Result, len(expected))
			for i := 0; i < 20; i++ {
				if err := scorer.ScoreInto(out, rows); err != nil || out[7] != expected[7] {
					t.Error(err, out[7], expected[7])
				}
			}
			if _, err := scorer.Learn(rows); !errors.Is(err, Unavailable) {
				t.Error(err)
			}
		}()
	}
	must[Report](t)(model.Learn(rows))
	all.Wait()
	scorer := must[*Model](t)(ScorerFromBytes(must[[]byte](t)(model.Bytes())))
	if err := scorer.Update(must[[]byte](t)(model.Bytes())); err != nil {
		t.Fatal(err)
	}
	scorer.Close()
}

// Two goroutines on one model: one of them is refused, nothing breaks.
func TestOneGoroutineAtATime(t *testing.T) {
	model := learnt(t)
	rows, _ := kinds(6, 200, 0, 1, 2)
	begun, done := make(chan bool), make(chan error)
	first := true
	model.SetProgress(func(Stage, float64) bool {
		if first {
			first = false
			close(begun)
			time.Sleep(20 * time.Millisecond)
		}
		return true
	})
	go func() {
		_, err := model.Learn(rows)
		done <- err
	}()
	<-begun
	if _, err := model.Score(rows); !errors.Is(err, Busy) {
		t.Error(err)
	}
	if err := model.Close(); !errors.Is(err, Busy) {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestClosed(t *testing.T) {
	model := must[*Model](t)(New(small))
	model.Close()
	model.Close()
	if _, err := model.Info(); !errors.Is(err, Unavailable) {
		t.Fatal(err)
	}
}

// Models that nobody closes do not fill the memory.
func TestForgottenModels(t *testing.T) {
	large := with(Config{"hidden1": 4000, "block_rows": 10, "inputs": 100, "batch": 10})
	needed := must[int](t)(large.MemoryRequired())
	start := resident(t)
	for i := 0; i < 50; i++ {
		must[*Model](t)(New(large))
		runtime.GC()
		time.Sleep(2 * time.Millisecond)
	}
	if grown := resident(t) - start; grown > 20*needed {
		t.Fatalf("%d bytes more, a model has %d", grown, needed)
	}
}

func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("no /proc")
	}
	return must[int](t)(strconv.Atoi(strings.Fields(string(text))[1])) * os.Getpagesize()
}

func ExampleNew() {
	model, err := New(Config{"inputs": 4, "hidden1": 8, "pretrain_epochs": 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer model.Close()
	rows := make([]float32, 50*4)
	report, err := model.Learn(rows)
	fmt.Println(report.Rows, err)
	results, err := model.Score(rows[:4])
	fmt.Println(len(results), err)
	// Output:
	// 50 <nil>
	// 1 <nil>
}

func TestConfiguration(t *testing.T) {
	if len(Fields()) < 70 || len(Presets()) != 4 || InstructionSet() == "" {
		t.Fatal(len(Fields()), Presets())
	}
	config := with(Config{"drift": "shift", "kinds": false})
	model := must[*Model](t)(New(config))
	defer model.Close()
	has := must[Config](t)(model.Config())
	if has["drift"] != "shift" || has["kinds"] != "off" || has["learning_rate"] != "0.005" {
		t.Fatal(has)
	}
	if uint64(must[int](t)(config.MemoryRequired())) != must[Info](t)(model.Info()).MemoryBytes {
		t.Fatal("memory")
	}
}

func BenchmarkScoreOne(b *testing.B) {
	model, err := New(with(Config{"pretrain_epochs": 1}))
	if err != nil {
		b.Fatal(err)
	}
	defer model.Close()
	rows, _ := kinds(1, 200, 0, 1)
	if _, err := model.Learn(rows); err != nil {
		b.Fatal(err)
	}
	out := make([]Result, 1)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if err := model.ScoreInto(out, rows[:inputs]); err != nil {
			b.Fatal(err)
		}
	}
}

func TestGainsOfTwoWorkers(t *testing.T) {
	rows, _ := kinds(7, 600, 0, 1, 2)
	base := learnt(t)
	before := must[[]byte](t)(base.Bytes())
	worker := must[*Model](t)(FromBytes(before))
	defer worker.Close()
	half := len(rows) / 2
	a := must[[]byte](t)(base.Gain(rows[:half], 1, 1))
	b := must[[]byte](t)(worker.Gain(rows[half:], 2, 1))
	if !bytes.Equal(before, must[[]byte](t)(base.Bytes())) {
		t.Fatal("a gain has changed its base")
	}
	set := must[[]byte](t)(MergeGains(b, a))
	if !bytes.Equal(set, must[[]byte](t)(MergeGains(a, must[[]byte](t)(MergeGains(set, b))))) {
		t.Fatal("the order matters")
	}
	found := must[Gains](t)(InspectGains(set))
	if found.Gains != 2 || found.Rows != 600 || found.BaseStreams != 1 {
		t.Fatal(found)
	}
	report, aliases, err := base.ApplyGains(set)
	if err != nil || report.Rows != 600 || len(aliases) != found.Born {
		t.Fatal(report, aliases, err)
	}
	if _, _, err := base.ApplyGains(set); !errors.Is(err, Late) {
		t.Fatal(err)
	}
	if _, _, err := base.ApplyGains(set[1:]); !errors.Is(err, CorruptData) {
		t.Fatal(err)
	}
	other := must[*Model](t)(New(with(Config{"seed": 9})))
	defer other.Close()
	must[Report](t)(other.Learn(rows[:half/2]))
	if _, _, err := other.ApplyGains(set); !errors.Is(err, Foreign) {
		t.Fatal(err)
	}
}
