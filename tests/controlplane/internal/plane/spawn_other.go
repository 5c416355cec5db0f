//go:build !linux

package plane

import "syscall"

// apart puts a child into a process group of its own. Where the kernel has no death signal, the pipe
// that each child reads must do.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
