package plane

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// How a child is.
const (
	stateRunning = "running"
	statePaused  = "paused"
	stateExited  = "exited"
)

// How long a component has to end by itself. Its data are thrown away, so nothing is lost after that.
const patience = 2 * time.Second

// child is one component in a process of its own.
type child struct {
	name string
	// Makes the command anew for each start.
	command func() (*exec.Cmd, error)
	// Called after each change of state, without the lock.
	changed func()

	lock  sync.Mutex
	cmd   *exec.Cmd
	done  chan struct{}
	state string
	// How the last process ended, when nobody had asked it to.
	ending string
	asked  bool
}

func (c *child) start() error {
	cmd, err := c.command()
	if err != nil {
		return err
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.state == stateRunning || c.state == statePaused {
		return fmt.Errorf("%s: already %s", c.name, c.state)
	}
	err = spawn(cmd)
	if log, ok := cmd.Stdout.(*os.File); ok {
		log.Close() // The child has its own.
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	c.cmd, c.done, c.state, c.ending, c.asked = cmd, make(chan struct{}), stateRunning, "", false
	go c.reap(cmd, c.done)
	return nil
}

func (c *child) reap(cmd *exec.Cmd, done chan struct{}) {
	err := cmd.Wait()
	c.lock.Lock()
	c.state = stateExited
	if !c.asked {
		c.ending = "exit status 0"
		if err != nil {
			c.ending = err.Error()
		}
	}
	c.lock.Unlock()
	close(done)
	c.changed()
}

// signal sends a signal to a child in one of these states, and sets the state that it has then.
func (c *child) signal(signal syscall.Signal, after string, from ...string) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	for _, state := range from {
		if c.state != state {
			continue
		}
		if err := c.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		c.state = after
		return nil
	}
	return fmt.Errorf("%s: is %s", c.name, c.state)
}

func (c *child) kill() error {
	c.expectEnd()
	if err := c.signal(syscall.SIGKILL, stateRunning, stateRunning, statePaused); err != nil {
		return err
	}
	c.wait()
	return nil
}

func (c *child) pause() error {
	defer c.changed()
	return c.signal(syscall.SIGSTOP, statePaused, stateRunning)
}

func (c *child) resume() error {
	defer c.changed()
	return c.signal(syscall.SIGCONT, stateRunning, statePaused)
}

// stop ends a child, gently at first. One that has ended is fine.
func (c *child) stop() {
	c.expectEnd()
	_ = c.signal(syscall.SIGCONT, stateRunning, statePaused)
	if c.signal(syscall.SIGTERM, stateRunning, stateRunning) != nil {
		return
	}
	select {
	case <-c.ended():
	case <-time.After(patience):
		_ = c.signal(syscall.SIGKILL, stateRunning, stateRunning)
		c.wait()
	}
}

func (c *child) expectEnd() {
	c.lock.Lock()
	c.asked = true
	c.lock.Unlock()
}

func (c *child) ended() <-chan struct{} {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.done
}

func (c *child) wait() { <-c.ended() }

// show is the child as the state file has it.
func (c *child) show() Component {
	c.lock.Lock()
	defer c.lock.Unlock()
	shown := Component{Name: c.name, State: c.state, Ending: c.ending}
	if c.cmd != nil && c.state != stateExited {
		shown.PID = c.cmd.Process.Pid
	}
	return shown
}
