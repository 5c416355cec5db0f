package plane

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAReservedPortIsNobodyElsesUntilAChildSharesIt(t *testing.T) {
	port, err := reserve()
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimPrefix(local("tcp", port), "tcp://")
	if listener, err := net.Listen("tcp", address); err == nil {
		listener.Close()
		t.Errorf("%s was taken", address)
	}
	if _, err := net.DialTimeout("tcp", address, time.Second); err == nil {
		t.Errorf("%s answered", address)
	}
	if other, err := reserve(); err != nil || other == port {
		t.Errorf("another port: %d, %v", other, err)
	}
}

func TestADirectoryThatHoldsSomethingElseIsRefused(t *testing.T) {
	dir := Dir(t.TempDir())
	precious := dir.at("pki")
	if err := os.MkdirAll(precious, 0o700); err != nil {
		t.Fatal(err)
	}
	if dir.prepare() == nil {
		t.Error("it was taken")
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
}

func TestARunBeginsWithoutWhatTheOneBeforeLeft(t *testing.T) {
	dir := Dir(filepath.Join(t.TempDir(), "new"))
	if err := dir.prepare(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir.at("logs", "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dir.prepare(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir.at("logs", "x")); err == nil {
		t.Error("the log is still there")
	}
}

func TestAFlagOfTheCallerComesAfterOurs(t *testing.T) {
	options := Options{Extra: map[string][]string{ControllerManager: {"--secure-port=1"}}}
	arguments := argumentsOf(ControllerManager, "/d", options, ports{})
	if arguments[len(arguments)-1] != "--secure-port=1" || !slices.Contains(arguments, "--secure-port=0") {
		t.Error(arguments)
	}
}

func TestANodeWithATaintIsNotUsableYet(t *testing.T) {
	check := func(text string, want int) {
		t.Helper()
		var nodes nodeList
		if err := json.Unmarshal([]byte(text), &nodes); err != nil {
			t.Fatal(err)
		}
		if got := nodes.usable(); got != want {
			t.Errorf("%s: got %d", text, got)
		}
	}
	ready := `"status": {"conditions": [{"type": "Ready", "status": "True"}]}`
	check(`{"items": [{`+ready+`}]}`, 1)
	check(`{"items": [{`+ready+`, "spec": {"taints": [{"key": "node.kubernetes.io/not-ready"}]}}]}`, 0)
	check(`{"items": [{"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}]}`, 0)
}

func sleeper(t *testing.T) *child {
	changed := make(chan struct{}, 10)
	sleeper := &child{
		name: "sleeper", state: stateExited, changed: func() { changed <- struct{}{} },
		command: func() (*exec.Cmd, error) {
			cmd := exec.Command("sleep", "600")
			cmd.SysProcAttr = apart()
			return cmd, nil
		},
	}
	t.Cleanup(sleeper.stop)
	if err := sleeper.start(); err != nil {
		t.Fatal(err)
	}
	return sleeper
}

func checkState(t *testing.T, child *child, want string) {
	t.Helper()
	if got := child.show(); got.State != want || got.Ending != "" {
		t.Errorf("got %+v, want %s", got, want)
	}
}

func TestAChildIsPausedResumedKilledAndStartedAgain(t *testing.T) {
	child := sleeper(t)
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	checkState(t, child, stateRunning)
	do(child.pause())
	checkState(t, child, statePaused)
	do(child.resume())
	do(child.kill())
	checkState(t, child, stateExited)
	do(child.start())
	checkState(t, child, stateRunning)
}

func TestAFaultThatDoesNotFitTheStateIsRefused(t *testing.T) {
	child := sleeper(t)
	if child.resume() == nil || child.start() == nil {
		t.Error("a running child was resumed or started")
	}
	child.stop()
	if child.kill() == nil || child.pause() == nil {
		t.Error("a child that has ended was killed or paused")
	}
}

func TestAPausedChildStops(t *testing.T) {
	child := sleeper(t)
	if err := child.pause(); err != nil {
		t.Fatal(err)
	}
	child.stop()
	checkState(t, child, stateExited)
}

func TestAnEndThatNobodyAskedForIsTold(t *testing.T) {
	child := sleeper(t)
	if err := child.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	child.wait()
	if got := child.show(); got.State != stateExited || got.Ending != "signal: killed" {
		t.Errorf("got %+v", got)
	}
}

func TestAReadyMadeBinaryGoesBeforeOurOwn(t *testing.T) {
	assets := t.TempDir()
	ready := filepath.Join(assets, Etcd)
	if err := os.WriteFile(ready, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	check := func(name, assets, want string, before ...string) {
		t.Helper()
		path, arguments, err := program(name, assets)
		if err != nil || path != want || !slices.Equal(arguments, before) {
			t.Errorf("%s: got %s %v, %v", name, path, arguments, err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	check(Etcd, assets, ready)
	check(APIServer, assets, self, ChildCommand, APIServer)
	check(Etcd, "", self, ChildCommand, Etcd)
}
