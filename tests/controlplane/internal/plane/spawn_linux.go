package plane

import "syscall"

// apart puts a child into a process group of its own, so that Ctrl-C at the terminal reaches us
// alone, and has the kernel kill it when we are gone, even a paused one.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
