package pki

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
)

// Masters is the group that may do everything.
const Masters = "system:masters"

// Prober is the user of this program itself.
const Prober = "controlplane"

const accountPrefix = "system:serviceaccount:"

// User is somebody with a token.
type User struct {
	// What its kubeconfig is called.
	Name string
	// Who it is to Kubernetes, as audit logs and RBAC subjects have it.
	Identity string
	Groups   []string
	Token    string
}

// Everybody is who has a token on each control plane.
func Everybody() []User {
	return []User{
		{Name: "admin", Identity: "admin", Groups: []string{Masters}},
		{Name: "editor", Identity: "editor", Groups: []string{"sluice:editors"}},
		{Name: "viewer", Identity: "viewer", Groups: []string{"sluice:viewers"}},
		{Name: "nobody", Identity: "nobody"},
		// The ServiceAccount itself and its rights are for whoever installs the operator.
		account("operator", "sluice-system", "sluice"),
		// Who asks whether all is ready, so that the administrator's requests are the administrator's.
		{Name: Prober, Identity: "controlplane", Groups: []string{Masters}},
		// The components. The controllers' own accounts would need a token each.
		{Name: "kube-controller-manager", Identity: "system:kube-controller-manager", Groups: []string{Masters}},
		{Name: "kube-scheduler", Identity: "system:kube-scheduler"},
		{Name: "kubelets", Identity: "kubelets", Groups: []string{Masters}},
	}
}

func account(name, namespace, serviceAccount string) User {
	return User{
		Name:     name,
		Identity: accountPrefix + namespace + ":" + serviceAccount,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace},
	}
}

// ParseUser reads `NAME=IDENTITY[,GROUP]…`, and `NAME` alone as NAME=NAME. An identity of the form
// system:serviceaccount:NAMESPACE:NAME gets the groups that come with it.
func ParseUser(text string) (User, error) {
	name, rest, _ := strings.Cut(text, "=")
	if rest == "" {
		rest = name
	}
	parts := strings.Split(rest, ",")
	if name == "" || strings.ContainsAny(text, "\"\n/ ") {
		return User{}, fmt.Errorf("user %q: want NAME=IDENTITY[,GROUP]…", text)
	}
	user := User{Name: name, Identity: parts[0]}
	if tail, found := strings.CutPrefix(parts[0], accountPrefix); found {
		namespace, serviceAccount, found := strings.Cut(tail, ":")
		if !found || namespace == "" || serviceAccount == "" {
			return User{}, fmt.Errorf("user %q: want %sNAMESPACE:NAME", text, accountPrefix)
		}
		user = account(name, namespace, serviceAccount)
	}
	user.Groups = append(user.Groups, parts[1:]...)
	return user, nil
}

// Merge adds users; one of the same name takes the other's place.
func Merge(users, more []User) []User {
	merged := append([]User(nil), users...)
next:
	for _, user := range more {
		for i := range merged {
			if merged[i].Name == user.Name {
				merged[i] = user
				continue next
			}
		}
		merged = append(merged, user)
	}
	return merged
}

// GiveTokens gives each user a token of its own.
func GiveTokens(users []User) {
	for i := range users {
		users[i].Token = rand.Text()
	}
}

// WriteTokens writes what kube-apiserver takes as --token-auth-file.
func WriteTokens(file string, users []User) error {
	var lines strings.Builder
	for _, user := range users {
		fmt.Fprintf(&lines, "%s,%s,%s,%q\n", user.Token, user.Identity, user.Name,
			strings.Join(user.Groups, ","))
	}
	return os.WriteFile(file, []byte(lines.String()), 0o600)
}

// WriteKubeconfig writes a kubeconfig that needs no other file.
func WriteKubeconfig(file, server string, authority []byte, user User) error {
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: controlplane
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: %s
  user:
    token: %s
contexts:
- name: controlplane
  context:
    cluster: controlplane
    user: %s
current-context: controlplane
`, server, base64.StdEncoding.EncodeToString(authority), user.Name, user.Token, user.Name)
	return os.WriteFile(file, []byte(text), 0o600)
}
