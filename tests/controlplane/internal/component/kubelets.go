package component

import (
	"context"
	"flag"

	"sluice.dev/controlplane/internal/kubelet"
)

func runKubelets(ctx context.Context, arguments []string) error {
	options := kubelet.Options{Version: Version()}
	flags := flag.NewFlagSet("kubelets", flag.ContinueOnError)
	flags.StringVar(&options.Kubeconfig, "kubeconfig", "", "")
	flags.IntVar(&options.Nodes, "nodes", 0, "")
	flags.DurationVar(&options.StartUp, "start-up", 0, "")
	flags.Uint64Var(&options.Seed, "seed", 0, "")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	return kubelet.Run(ctx, options)
}
