// Command controlplane runs a real Kubernetes control plane for tests, in child processes of itself.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"sluice.dev/controlplane/internal/component"
	"sluice.dev/controlplane/internal/plane"
)

func main() {
	os.Exit(run(filepath.Base(os.Args[0]), os.Args[1:]))
}

// run picks the command; the exit code is 0, 1 for an error, 2 for a wrong command line, and a
// component's or kubectl's own.
func run(program string, arguments []string) int {
	if program == "kubectl" {
		return component.Kubectl(arguments)
	}
	if len(arguments) == 0 {
		fmt.Fprint(os.Stderr, usage)
		return 2
	}
	name, arguments := arguments[0], arguments[1:]
	switch {
	case name == "kubectl":
		return component.Kubectl(arguments)
	case name == plane.ChildCommand && len(arguments) > 0:
		component.DieWith(os.NewFile(3, "lifeline"))
		return component.Run(interrupted(arguments[0]), arguments[0], arguments[1:])
	}
	command := commands[name]
	if command == nil {
		fmt.Fprint(os.Stderr, usage)
		return 2
	}
	if err := command(arguments); err != nil {
		fmt.Fprintf(os.Stderr, "controlplane %s: %v\n", name, err)
		return 1
	}
	return 0
}

// interrupted is done at the first signal that asks for an end. Components of Kubernetes see to
// their signals themselves, and panic where somebody else has.
func interrupted(name string) context.Context {
	if name != plane.Etcd && name != plane.Kubelets {
		return context.Background()
	}
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	return ctx
}
