package plane

import (
	"encoding/json"
	"os"
)

// State is what the state file says, for programs. It is written anew at each change, and gone when
// the control plane is.
type State struct {
	PID     int    `json:"pid"`
	Version string `json:"version"`
	Ready   bool   `json:"ready"`
	// From the start until each part was ready, in milliseconds.
	ReadyAfter map[string]int64 `json:"readyAfterMilliseconds"`
	Server     string           `json:"server"`
	Authority  string           `json:"certificateAuthority"`
	Kubeconfig string           `json:"kubeconfig"`
	// Kubeconfigs by user.
	Users      map[string]string `json:"users"`
	AuditLog   string            `json:"auditLog,omitempty"`
	Components []Component       `json:"components"`
}

// Component is one process.
type Component struct {
	Name string `json:"name"`
	// 0 when it has exited.
	PID int `json:"pid,omitempty"`
	// running, paused or exited.
	State string `json:"state"`
	// How it ended when nobody had asked it to.
	Ending string `json:"ending,omitempty"`
}

// write replaces the file in one go, so that a reader never meets half of it.
func (s State) write(file string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	beside := file + ".new"
	if err := os.WriteFile(beside, append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(beside, file)
}
