// client-go's thread-safe store, doing the work of benches/store.rs.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

func object(i int, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace:       fmt.Sprintf("namespace-%d", i%200),
		Name:            fmt.Sprintf("deployment-%08x-%07d", uint32(i)*2654435761, i),
		UID:             types.UID(fmt.Sprintf("9f2c6f0e-%08d", i)),
		ResourceVersion: version,
	}}
}

type random uint64

func (r *random) below(n int) int {
	*r ^= *r << 13
	*r ^= *r >> 7
	*r ^= *r << 17
	return int(uint64(*r) % uint64(n))
}

var sink any

func write(store cache.Store, states [2][]*corev1.ConfigMap, held []bool, stop func() bool) float64 {
	r, writes, start := random(9), 0, time.Now()
	for !stop() {
		i := r.below(len(held))
		held[i] = !held[i]
		state := 0
		if held[i] {
			state = 1
		}
		if err := store.Update(states[state][i]); err != nil {
			panic(err)
		}
		writes++
	}
	return float64(writes) / time.Since(start).Seconds()
}

func perCall(limit time.Duration, batch int, call func()) float64 {
	start, calls := time.Now(), 0
	for time.Since(start) < limit {
		for range batch {
			call()
			calls++
		}
	}
	return float64(time.Since(start).Nanoseconds()) / float64(calls)
}

func run(size int, limit time.Duration) {
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	var states [2][]*corev1.ConfigMap
	keys, names, held := make([]string, size), make([][2]string, size), make([]bool, size)
	all := make([]any, size)
	for i := range size {
		states[0], states[1] = append(states[0], object(i, "1")), append(states[1], object(i, "2"))
		names[i] = [2]string{states[0][i].Namespace, states[0][i].Name}
		keys[i] = names[i][0] + "/" + names[i][1]
		all[i] = states[0][i]
	}
	if err := store.Replace(all, "1"); err != nil {
		panic(err)
	}
	add := func(measure string, value float64) { fmt.Printf("%s\t%d\t%f\n", measure, size, value) }
	r := random(7)
	atHand := func() { sink, _, _ = store.GetByKey(keys[r.below(size)]) }
	built := func() {
		name := names[r.below(size)]
		sink, _, _ = store.GetByKey(name[0] + "/" + name[1])
	}
	add("get, key at hand, ns", perCall(limit, 64, atHand))
	add("get, key built for the call, ns", perCall(limit, 64, built))
	start := time.Now()
	add("writes/s, alone", write(store, states, held, func() bool { return time.Since(start) >= limit }))
	beside := func(batch int, call func()) (float64, float64) {
		var stop atomic.Bool
		writes := make(chan float64)
		go func() { writes <- write(store, states, held, stop.Load) }()
		value := perCall(limit, batch, call)
		stop.Store(true)
		return value, <-writes
	}
	ns, writes := beside(64, atHand)
	add("get beside a writer, key at hand, ns", ns)
	add("writes/s beside get", writes)
	ns, _ = beside(64, built)
	add("get beside a writer, key built for the call, ns", ns)
	ns, writes = beside(1, func() { sink = store.List() })
	add("snapshot beside a writer, ns", ns)
	add("writes/s beside snapshots", writes)
}

func main() {
	sizes := os.Getenv("STORE_BENCH_OBJECTS")
	if sizes == "" {
		sizes = "1000"
	}
	for _, size := range strings.Split(sizes, ",") {
		n, err := strconv.Atoi(size)
		if err != nil {
			panic(err)
		}
		run(n, time.Second)
	}
}
