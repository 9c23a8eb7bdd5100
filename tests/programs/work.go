// SPDX-License-Identifier: Apache-2.0

// What Go programs do all day: goroutines, channels, maps, sorting, compression,
// hashing, reflection, panics, system calls and a collector that has to keep up.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"regexp"
	"runtime"
	"sort"
	"strings"
	"sync"
)

type record struct {
	Name   string
	Values []int
	Next   *record
}

func makeRecords(seed, count int) []record {
	list := make([]record, count)
	for i := range list {
		seed = seed*1103515245 + 12345
		list[i] = record{Name: fmt.Sprintf("name-%d", seed&0xffff), Values: []int{i, seed}}
		if i > 0 {
			list[i].Next = &list[i-1]
		}
	}
	return list
}

func countWords(list []record) map[string]int {
	words := make(map[string]int)
	for _, r := range list {
		words[r.Name]++
	}
	return words
}

func sortRecords(list []record) {
	sort.Slice(list, func(a, b int) bool { return list[a].Name < list[b].Name })
}

func encode(list []record) []byte {
	for i := range list {
		list[i].Next = nil
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	var back []record
	if err := json.Unmarshal(text, &back); err != nil {
		panic(err)
	}
	return text
}

func pack(text []byte) int {
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	writer.Write(text)
	writer.Close()
	return out.Len()
}

var number = regexp.MustCompile(`name-([0-9]+)`)

func match(text []byte) int {
	return len(number.FindAllSubmatch(text, -1))
}

func power(n int64) int {
	base := big.NewInt(n)
	return base.Exp(base, big.NewInt(700), nil).BitLen()
}

func deep(n int) int {
	var pad [64]byte // so that stacks have to grow
	pad[n%64] = 1
	if n == 0 {
		panic("the bottom")
	}
	return deep(n-1) + int(pad[n%64])
}

func recovered(depth int) (ret int) {
	defer func() {
		if recover() != nil {
			ret = depth
		}
	}()
	return deep(depth)
}

func systemCalls(out *os.File, text []byte) {
	for i := 0; i < 50; i++ {
		out.Write(text[:64])
	}
}

func worker(number int, jobs <-chan int, done chan<- int, out *os.File) {
	for job := range jobs {
		list := makeRecords(number*1000+job, 600)
		words := countWords(list)
		sortRecords(list)
		text := encode(list)
		sum := sha256.Sum256([]byte(strings.Repeat(string(text), 4)))
		systemCalls(out, text)
		done <- pack(text) + match(text) + power(int64(sum[0])+3) + recovered(200) + len(words)
	}
}

func main() {
	out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	jobs, done := make(chan int), make(chan int, 4)
	var group sync.WaitGroup
	for n := 0; n < 2*runtime.NumCPU(); n++ {
		group.Add(1)
		go func(n int) {
			defer group.Done()
			worker(n, jobs, done, out)
		}(n)
	}
	go func() {
		for job := 0; ; job++ {
			jobs <- job
		}
	}()
	total := 0
	for size := range done {
		total += size
	}
	group.Wait()
	fmt.Println(total)
}
