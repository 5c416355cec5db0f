package kubelet

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Prefix is what our annotations begin with; the embedded cluster reads the same ones.
const Prefix = "simcluster.sluice.dev/"

// Lost is the annotation of a Node that cuts it off.
const Lost = Prefix + "lost"

const (
	// How long containers take to exit when nothing says otherwise.
	terminate = 500 * time.Millisecond
	// How long a `slow` image takes to start.
	slow = time.Minute
	// How much longer than asked a start may take when no annotation fixes it: 5 percent.
	jitter = 0.05
)

// Script is how a Pod's life goes, as its images and annotations tell.
type Script struct {
	// The image of the first container that can't be pulled; empty when all can.
	Broken string
	// It starts and dies at once, again and again.
	Crashes bool
	// From the binding until the containers run.
	StartUp time.Duration
	// From running until ready.
	ReadyAfter time.Duration
	// From running until the containers die, each time; nil when they don't.
	CrashAfter *time.Duration
	// From the deletion until the containers have exited; the grace period cuts it short.
	TerminateAfter time.Duration
}

// ScriptOf reads a Pod. startUp is what a Pod takes by default. What is left to chance depends on
// the seed and the Pod's UID alone, so that every look at a Pod reads the same script.
func ScriptOf(pod *v1.Pod, startUp time.Duration, seed uint64) Script {
	hash := fnv.New64a()
	hash.Write([]byte(pod.UID))
	chance := rand.New(rand.NewPCG(seed, hash.Sum64()))
	fails := chance.Float64() < probability(pod)
	if hasWord(pod, "slow") {
		startUp = max(slow, startUp)
	}
	script := Script{
		Broken:         brokenImage(pod),
		Crashes:        fails || hasWord(pod, "crash"),
		StartUp:        startUp + time.Duration(float64(startUp)*jitter*chance.Float64()),
		TerminateAfter: terminate,
	}
	if span, found := annotated(pod, "startup"); found {
		script.StartUp = span
	}
	if span, found := annotated(pod, "ready-after"); found {
		script.ReadyAfter = span
	}
	if span, found := annotated(pod, "crash-after"); found {
		script.CrashAfter = &span
	}
	if span, found := annotated(pod, "terminate-after"); found {
		script.TerminateAfter = span
	}
	return script
}

func probability(pod *v1.Pod) float64 {
	chance, err := strconv.ParseFloat(pod.Annotations[Prefix+"fail-probability"], 64)
	if err != nil {
		return 0
	}
	return chance
}

func annotated(pod *v1.Pod, name string) (time.Duration, bool) {
	return ParseSpan(pod.Annotations[Prefix+name])
}

// says tells whether a word stands in an image's name by itself: `app:broken`, not `app:unbroken`.
func says(image, word string) bool {
	parts := strings.FieldsFunc(image, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9')
	})
	for _, part := range parts {
		if part == word {
			return true
		}
	}
	return false
}

func hasWord(pod *v1.Pod, word string) bool {
	for _, container := range pod.Spec.Containers {
		if says(container.Image, word) {
			return true
		}
	}
	return false
}

func brokenImage(pod *v1.Pod) string {
	for _, container := range pod.Spec.Containers {
		if says(container.Image, "broken") {
			return container.Image
		}
	}
	return ""
}

// ParseSpan reads a duration as Go writes it (`1m30s`, `500ms`), where a bare number is seconds.
func ParseSpan(text string) (time.Duration, bool) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if seconds < 0 || math.IsNaN(seconds) || seconds > math.MaxInt64/float64(time.Second) {
			return 0, false
		}
		return time.Duration(seconds * float64(time.Second)), true
	}
	span, err := time.ParseDuration(text)
	return span, err == nil && span >= 0
}
