// Record_stream learns rows stream by stream and tells what came of it: the golden stream of tests/bindings.
//
//	record_stream ROWS STREAM_ROWS MODEL_OUT preset=NAME [FIELD=VALUE]...
//
// ROWS: little-endian floats. One JSON object a line: every stream's report, every cluster, every row's score.
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"math"
	"os"
	"strconv"
	"strings"

	"adapvae"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	if len(os.Args) < 5 {
		log.Fatal("usage: record_stream ROWS STREAM_ROWS MODEL_OUT preset=NAME [FIELD=VALUE]...")
	}
	bytes := must(os.ReadFile(os.Args[1]))
	rows := make([]float32, len(bytes)/4)
	for i := range rows {
		rows[i] = math.Float32frombits(binary.LittleEndian.Uint32(bytes[4*i:]))
	}
	config := adapvae.Config{}
	for _, setting := range os.Args[4:] {
		name, value, _ := strings.Cut(setting, "=")
		config[name] = value
	}
	model := must(adapvae.New(config))
	defer model.Close()
	block := must(strconv.Atoi(os.Args[2])) * model.Inputs()
	for at := 0; at < len(rows); at += block {
		end := at + block
		if end > len(rows) {
			end = len(rows)
		}
		r := must(model.Learn(rows[at:end]))
		fmt.Printf("{\"stream\":%d,\"clusters\":%d,\"births\":%d,\"bound\":%.17g,\"loss\":%.17g}\n", at/block, r.Clusters,
			r.Births, r.Bound, r.Loss)
	}
	for _, c := range must(model.Clusters()) {
		fmt.Printf("{\"cluster\":%d,\"components\":%d,\"parent\":%d,\"rows\":%.17g}\n", c.ID, c.Components, c.Parent, c.Rows)
	}
	for _, s := range must(model.Score(rows)) {
		fmt.Printf("{\"id\":%d,\"component\":%d,\"novelty\":%.9g}\n", s.ID, s.Component, s.Novelty)
	}
	if err := model.Save(os.Args[3]); err != nil {
		log.Fatal(err)
	}
}
