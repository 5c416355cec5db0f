package plane

import (
	"os/exec"
	"runtime"
	"sync"
)

type request struct {
	cmd    *exec.Cmd
	result chan error
}

// All children are started by one thread that lives as long as the process: on Linux a child's death
// signal comes when the thread that made it ends, not the process.
var nursery = sync.OnceValue(func() chan<- request {
	requests := make(chan request)
	go func() {
		runtime.LockOSThread()
		for request := range requests {
			request.result <- request.cmd.Start()
		}
	}()
	return requests
})

func spawn(cmd *exec.Cmd) error {
	request := request{cmd, make(chan error)}
	nursery() <- request
	return <-request.result
}
