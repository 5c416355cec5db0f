// Package component runs one part of the control plane in this process, as the command of its name
// would. Nothing else of the module imports these, so that all else compiles in seconds.
package component

import (
	"context"
	"fmt"
	"io"
	"os"
	_ "time/tzdata" // time zones of CronJobs

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/component-base/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// Version is the release of Kubernetes that is built in, as `v1.36.3`.
func Version() string {
	return version.Get().GitVersion
}

// Run runs the named component with its own command line until it ends, and returns its exit code.
func Run(ctx context.Context, name string, arguments []string) int {
	switch name {
	case "etcd":
		return report(name, runEtcd(ctx, arguments))
	case "kubelets":
		return report(name, runKubelets(ctx, arguments))
	case "kube-apiserver":
		return command(name, apiserver.NewAPIServerCommand, arguments)
	case "kube-controller-manager":
		return command(name, controllers.NewControllerManagerCommand, arguments)
	case "kube-scheduler":
		return command(name, func() *cobra.Command { return scheduler.NewSchedulerCommand() }, arguments)
	}
	return report(name, fmt.Errorf("no such component"))
}

// command runs a component of Kubernetes. They read os.Args here and there, for logs and events.
func command(name string, build func() *cobra.Command, arguments []string) int {
	os.Args = append([]string{name}, arguments...)
	command := build()
	command.SetArgs(arguments)
	return cli.Run(command)
}

func report(name string, err error) int {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return 1
	}
	return 0
}

// DieWith ends this process when the other end of a pipe is closed, that is when the process that
// holds it is gone, however it went.
func DieWith(pipe io.Reader) {
	go func() {
		_, _ = io.Copy(io.Discard, pipe)
		os.Exit(1)
	}()
}
