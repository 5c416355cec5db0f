package plane

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// reserve finds a free loopback port and keeps it for this process and its children: the socket is
// bound and never listens, and a child binds beside it with SO_REUSEPORT. So nobody takes the port
// while a component is being restarted, and several control planes never meet.
func reserve() (int, error) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return 0, fmt.Errorf("a port: %w", err)
	}
	unix.CloseOnExec(socket)
	if err := unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return 0, fmt.Errorf("a port: %w", err)
	}
	if err := unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, fmt.Errorf("a port: %w", err)
	}
	address, err := unix.Getsockname(socket)
	if err != nil {
		return 0, fmt.Errorf("a port: %w", err)
	}
	return address.(*unix.SockaddrInet4).Port, nil
}

func reservePorts() (ports, error) {
	var found [4]int
	for i := range found {
		port, err := reserve()
		if err != nil {
			return ports{}, err
		}
		found[i] = port
	}
	return ports{found[0], found[1], found[2], found[3]}, nil
}
