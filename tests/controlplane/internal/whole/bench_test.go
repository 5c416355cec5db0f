// Package whole tests the built binary: it is named by $CONTROLPLANE, else the tests are skipped.
package whole

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice.dev/controlplane/internal/plane"
)

// A loaded machine needs many times what an idle one does.
const limit = 2 * time.Minute

// bench is one control plane, and the process that keeps it.
type bench struct {
	t    *testing.T
	dir  string
	up   *exec.Cmd
	said bytes.Buffer
}

func binary(t *testing.T) string {
	path := os.Getenv("CONTROLPLANE")
	if path == "" {
		t.Skip("CONTROLPLANE does not name the binary that build.sh makes")
	}
	return path
}

// newBench brings a control plane up, and takes it down when the test ends.
func newBench(t *testing.T, flags ...string) *bench {
	home, err := os.MkdirTemp("", "controlplane-")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: filepath.Join(home, "run")}
	b.up = exec.Command(binary(t), append([]string{"up", "--until-eof", "--dir", b.dir}, flags...)...)
	b.up.Stdout, b.up.Stderr = &b.said, &b.said
	// Held until the test ends, or this process does.
	lifeline, err := b.up.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.up.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = b.up.Process.Signal(syscall.SIGTERM)
		_ = b.up.Wait()
		_ = lifeline.Close()
		t.Log(b.said.String())
		if t.Failed() {
			t.Logf("its logs are in %s", b.dir)
			return
		}
		_ = os.RemoveAll(home)
	})
	b.until("it is ready", func() bool {
		state, err := b.state()
		return err == nil && state.Ready
	})
	return b
}

func (b *bench) state() (plane.State, error) {
	var state plane.State
	text, err := os.ReadFile(filepath.Join(b.dir, "state.json"))
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	return state, err
}

func (b *bench) until(claim string, holds func() bool) {
	b.t.Helper()
	end := time.Now().Add(limit)
	for !holds() {
		if time.Now().After(end) {
			b.t.Fatalf("not within %v: %s", limit, claim)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// order runs a command of the binary on this control plane.
func (b *bench) order(arguments ...string) {
	b.t.Helper()
	out, err := exec.Command(binary(b.t), append(arguments, "--dir", b.dir)...).CombinedOutput()
	if err != nil {
		b.t.Fatalf("%v: %v: %s", arguments, err, out)
	}
}

// try runs kubectl as a user, and returns all that it says.
func (b *bench) try(user, input string, arguments ...string) (string, error) {
	config := filepath.Join(b.dir, "users", user+".kubeconfig")
	cmd := exec.Command(binary(b.t), append([]string{"kubectl", "--kubeconfig", config}, arguments...)...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (b *bench) kubectl(arguments ...string) string {
	b.t.Helper()
	return b.apply("", arguments...)
}

func (b *bench) apply(input string, arguments ...string) string {
	b.t.Helper()
	out, err := b.try("admin", input, arguments...)
	if err != nil {
		b.t.Fatalf("kubectl %v: %v: %s", arguments, err, out)
	}
	return out
}

// shows waits until a jsonpath of an object reads as wanted.
func (b *bench) shows(object, path, want string) {
	b.t.Helper()
	got := ""
	end := time.Now().Add(limit)
	for time.Now().Before(end) {
		got, _ = b.try("admin", "", "get", object, "-o", "jsonpath="+path)
		if got == want {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	b.t.Errorf("%s %s: got %q, want %q", object, path, got, want)
}

func alive(pid int) bool {
	return syscall.Kill(pid, 0) == nil
}
