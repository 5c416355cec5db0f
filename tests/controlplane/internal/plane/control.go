package plane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Where a control plane takes orders. It is reached by its name alone, from inside the directory: a
// socket's path may hold no more than a hundred characters.
const socket = "control.sock"

// ErrDown says that no control plane runs in a directory.
var ErrDown = errors.New("no control plane is up")

// listen takes orders until the returned server is closed.
func (p *Plane) listen(end func()) (*http.Server, error) {
	if err := os.Chdir(string(p.dir)); err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	orders := http.NewServeMux()
	orders.HandleFunc("GET /state", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(p.State())
	})
	orders.HandleFunc("POST /down", func(w http.ResponseWriter, r *http.Request) {
		end()
		// The answer is our end: the connection closes with the process.
		if flusher, ok := w.(http.Flusher); ok {
			flusher.Flush()
		}
		<-r.Context().Done()
	})
	orders.HandleFunc("POST /{fault}/{component}", func(w http.ResponseWriter, r *http.Request) {
		if err := p.fault(r.Context(), r.PathValue("fault"), r.PathValue("component")); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
		}
	})
	server := &http.Server{Handler: orders}
	go func() { _ = server.Serve(listener) }()
	return server, nil
}

// fault does to one component what is asked for, and returns when it is done.
func (p *Plane) fault(ctx context.Context, fault, component string) error {
	child := p.children[component]
	if child == nil {
		return fmt.Errorf("%s: no such component; there are %s", component, strings.Join(Components, ", "))
	}
	switch fault {
	case "kill":
		return child.kill()
	case "pause":
		return child.pause()
	case "resume":
		return child.resume()
	case "restart":
		child.stop()
		if err := child.start(); err != nil {
			return err
		}
		p.record()
		ctx, cancel := context.WithTimeout(ctx, startLimit)
		defer cancel()
		return p.probe.until(ctx, component)
	}
	return fmt.Errorf("%s: no such fault", fault)
}

func refuseSecond(dir Dir) error {
	state, err := Ask(dir)
	if err == nil {
		return fmt.Errorf("%s: a control plane is up already, process %d", dir, state.PID)
	}
	return nil
}

// dial reaches the control plane of a directory. It changes the working directory.
func dial(dir Dir) (*http.Client, error) {
	if err := os.Chdir(string(dir)); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, ErrDown)
	}
	connect := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	return &http.Client{Transport: &http.Transport{DialContext: connect, DisableKeepAlives: true}}, nil
}

// Ask asks a running control plane how it is.
func Ask(dir Dir) (State, error) {
	var state State
	client, err := dial(dir)
	if err != nil {
		return state, err
	}
	response, err := client.Get("http://controlplane/state")
	if err != nil {
		return state, fmt.Errorf("%s: %w", dir, ErrDown)
	}
	defer response.Body.Close()
	return state, json.NewDecoder(response.Body).Decode(&state)
}

// Order has a running control plane kill, pause, resume or restart a component.
func Order(dir Dir, fault, component string) error {
	client, err := dial(dir)
	if err != nil {
		return err
	}
	response, err := client.Post("http://controlplane/"+fault+"/"+component, "", nil)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, ErrDown)
	}
	defer response.Body.Close()
	words, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(strings.TrimSpace(string(words)))
	}
	return nil
}

// Down ends a running control plane and returns when it is gone. The state file that one left which
// was killed is removed; there is nothing else to end then.
func Down(dir Dir) error {
	client, err := dial(dir)
	if err != nil {
		return err
	}
	response, err := client.Post("http://controlplane/down", "", nil)
	if err == nil {
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	for range 200 {
		if _, err := os.Stat(dir.stateFile()); err != nil {
			return nil
		}
		if _, err := Ask(dir); errors.Is(err, ErrDown) {
			return os.Remove(dir.stateFile())
		}
		time.Sleep(look)
	}
	return fmt.Errorf("%s: still there", dir)
}

// Absolute is a directory as the other functions want it.
func Absolute(dir string) (Dir, error) {
	path, err := filepath.Abs(dir)
	return Dir(path), err
}
