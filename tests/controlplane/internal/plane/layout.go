package plane

import (
	"fmt"
	"os"
	"path/filepath"
)

// Dir is the directory of one control plane, an absolute path. All that it writes is in there.
type Dir string

func (d Dir) at(parts ...string) string {
	return filepath.Join(append([]string{string(d)}, parts...)...)
}

// Kubeconfig is the administrator's.
func (d Dir) Kubeconfig() string { return d.at("kubeconfig") }

// KubeconfigOf is a user's.
func (d Dir) KubeconfigOf(user string) string { return d.at("users", user+".kubeconfig") }

// Log is what a component prints.
func (d Dir) Log(component string) string { return d.at("logs", component+".log") }

// AuditLog is there when it was asked for.
func (d Dir) AuditLog() string { return d.at("audit.jsonl") }

// UpLog is what a detached `up` prints.
func (d Dir) UpLog() string { return d.at("up.log") }

func (d Dir) stateFile() string { return d.at("state.json") }

// The names in the directory that are ours; a run begins by removing what the one before left.
func (d Dir) ours() []string {
	return []string{
		"kubeconfig", "users", "pki", "etcd", "logs", "audit.jsonl", "audit-policy.yaml",
		"tokens.csv", "scheduler.yaml", "state.json", socket,
	}
}

// Claim makes a directory ours, so that a run may empty it. One that holds something else is refused.
func (d Dir) Claim() error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return err
	}
	marker := d.at(".controlplane")
	if _, err := os.Stat(marker); err != nil && len(entries) > 0 {
		return fmt.Errorf("%s: neither empty nor a control plane's", d)
	}
	return os.WriteFile(marker, nil, 0o600)
}

// prepare makes an empty directory for a run, readable by us alone since it holds tokens.
func (d Dir) prepare() error {
	if err := d.Claim(); err != nil {
		return err
	}
	for _, name := range d.ours() {
		if err := os.RemoveAll(d.at(name)); err != nil {
			return err
		}
	}
	for _, name := range []string{"users", "pki", "logs"} {
		if err := os.MkdirAll(d.at(name), 0o700); err != nil {
			return err
		}
	}
	return nil
}
