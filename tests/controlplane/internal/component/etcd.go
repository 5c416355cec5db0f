package component

import (
	"context"
	"flag"
	"fmt"
	"net/url"

	"go.etcd.io/etcd/server/v3/embed"
)

// runEtcd takes those of etcd's own flags that we use, so that a ready-made etcd can take its place.
func runEtcd(ctx context.Context, arguments []string) error {
	config := embed.NewConfig()
	flags := flag.NewFlagSet("etcd", flag.ContinueOnError)
	flags.StringVar(&config.Name, "name", config.Name, "")
	flags.StringVar(&config.Dir, "data-dir", "", "")
	flags.StringVar(&config.InitialCluster, "initial-cluster", "", "")
	flags.StringVar(&config.LogLevel, "log-level", "warn", "")
	flags.BoolVar(&config.UnsafeNoFsync, "unsafe-no-fsync", false, "")
	flags.BoolVar(&config.SocketOpts.ReusePort, "socket-reuse-port", false, "")
	client := flags.String("listen-client-urls", "", "")
	_ = flags.String("advertise-client-urls", "", "the same as --listen-client-urls")
	peer := flags.String("listen-peer-urls", "", "")
	_ = flags.String("initial-advertise-peer-urls", "", "the same as --listen-peer-urls")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	clientURL, err := url.Parse(*client)
	if err != nil {
		return err
	}
	peerURL, err := url.Parse(*peer)
	if err != nil {
		return err
	}
	config.ListenClientUrls = []url.URL{*clientURL}
	config.AdvertiseClientUrls = config.ListenClientUrls
	config.ListenPeerUrls = []url.URL{*peerURL}
	config.AdvertisePeerUrls = config.ListenPeerUrls
	config.LogOutputs = []string{"stderr"}
	// Zero, which is the default here, logs each request.
	config.WarningUnaryRequestDuration = embed.DefaultWarningUnaryRequestDuration
	server, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		// Closing it would wait seconds for clients to go, and saves nothing: what was answered is in
		// the write-ahead log.
		return nil
	case <-server.Server.StopNotify():
		return fmt.Errorf("stopped by itself")
	case err := <-server.Err():
		return err
	}
}
