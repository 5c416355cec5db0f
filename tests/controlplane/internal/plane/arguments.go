package plane

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sluice.dev/controlplane/internal/pki"
)

// The components, in the order in which they come up.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubelets          = "kubelets"
)

// Components are all of them, each after those that it needs.
var Components = []string{Etcd, APIServer, ControllerManager, Scheduler, Kubelets}

// The controllers that something in the suite leans on. Each one costs watches and memory.
var controllers = []string{
	"clusterrole-aggregation-controller", // fills the roles edit and view
	"daemonset-controller",
	"deployment-controller",
	"disruption-controller",
	"garbage-collector-controller",
	"horizontal-pod-autoscaler-controller",
	"job-controller",
	"namespace-controller",
	"node-lifecycle-controller", // else nobody lifts the not-ready taint of a new Node
	"pod-garbage-collector-controller",
	"replicaset-controller",
	"serviceaccount-controller",
	"statefulset-controller",
	"taint-eviction-controller",
}

// Options are what `up` is asked for.
type Options struct {
	Nodes     int
	StartUp   time.Duration
	Seed      uint64
	NodeGrace time.Duration
	Audit     bool
	Users     []pki.User
	// Flags for a component beside and after ours, by its name.
	Extra map[string][]string
	// Where to look for ready-made binaries before our own; empty for none.
	Assets string
}

// ports are loopback ports that are ours for as long as this process lives.
type ports struct{ etcd, etcdPeer, apiserver, scheduler int }

func local(scheme string, port int) string {
	return fmt.Sprintf("%s://127.0.0.1:%d", scheme, port)
}

// argumentsOf is the command line of a component, without its name.
func argumentsOf(name string, dir Dir, options Options, ports ports) []string {
	certificate, key := dir.at("pki", "server.crt"), dir.at("pki", "server.key")
	var arguments []string
	switch name {
	case Etcd:
		client, peer := local("http", ports.etcd), local("http", ports.etcdPeer)
		arguments = []string{
			"--name=controlplane", "--data-dir=" + dir.at("etcd"), "--log-level=warn",
			"--unsafe-no-fsync=true", "--socket-reuse-port=true",
			"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
			"--initial-cluster=controlplane=" + peer,
		}
	case APIServer:
		account := dir.at("pki", "service-account.key")
		arguments = []string{
			"--etcd-servers=" + local("http", ports.etcd),
			"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
			fmt.Sprintf("--secure-port=%d", ports.apiserver), "--permit-port-sharing=true",
			// No endpoints of the Service "kubernetes": loopback may not be one.
			"--endpoint-reconciler-type=none",
			"--cert-dir=" + dir.at("pki"),
			"--tls-cert-file=" + certificate, "--tls-private-key-file=" + key,
			"--client-ca-file=" + dir.at("pki", "ca.crt"),
			"--token-auth-file=" + dir.at("tokens.csv"), "--authorization-mode=RBAC",
			// Pods don't need a ServiceAccount that has been made yet.
			"--disable-admission-plugins=ServiceAccount",
			"--service-account-key-file=" + account, "--service-account-signing-key-file=" + account,
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-cluster-ip-range=10.96.0.0/16",
			"--profiling=false",
		}
		if options.Audit {
			arguments = append(arguments, "--audit-log-path="+dir.AuditLog(),
				"--audit-policy-file="+dir.at("audit-policy.yaml"))
		}
	case ControllerManager:
		arguments = []string{
			"--kubeconfig=" + dir.KubeconfigOf(ControllerManager),
			"--leader-elect=false", "--secure-port=0", "--profiling=false",
			// 20 and 30 by default, which would pace every test.
			"--kube-api-qps=1000", "--kube-api-burst=2000",
			"--node-monitor-grace-period=" + options.NodeGrace.String(),
			// For root-ca-certificate-publisher-controller, which runs only if it is asked for.
			"--root-ca-file=" + dir.at("pki", "ca.crt"),
			"--controllers=" + strings.Join(controllers, ","),
		}
	case Scheduler:
		arguments = []string{
			"--config=" + dir.at("scheduler.yaml"),
			"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports.scheduler),
			"--permit-port-sharing=true", "--authentication-skip-lookup=true",
			"--tls-cert-file=" + certificate, "--tls-private-key-file=" + key,
		}
	case Kubelets:
		arguments = []string{
			"--kubeconfig=" + dir.KubeconfigOf(Kubelets),
			fmt.Sprintf("--nodes=%d", options.Nodes), "--start-up=" + options.StartUp.String(),
			fmt.Sprintf("--seed=%d", options.Seed),
		}
	}
	return append(arguments, options.Extra[name]...)
}

// program is what to run for a component, with the arguments that go before its own.
func program(name, assets string) (string, []string, error) {
	if assets != "" {
		ready := filepath.Join(assets, name)
		if _, err := os.Stat(ready); err == nil {
			return ready, nil, nil
		}
	}
	self, err := os.Executable()
	return self, []string{ChildCommand, name}, err
}

// ChildCommand is the hidden command of this binary that runs one component in its process.
const ChildCommand = "child"

// Each request once, when it is answered, and a watch when it begins.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`

func schedulerConfig(dir Dir) string {
	return fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection:
  kubeconfig: %q
  qps: 1000
  burst: 2000
leaderElection:
  leaderElect: false
`, dir.KubeconfigOf(Scheduler))
}
