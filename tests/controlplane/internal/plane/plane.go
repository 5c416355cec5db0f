// Package plane starts the parts of a control plane as child processes, watches over them, lets
// faults hit them one by one, and ends them all.
package plane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"sluice.dev/controlplane/internal/pki"
)

// How long all of it has to come up. A loaded machine takes ten times as long as an idle one.
const startLimit = 3 * time.Minute

// Plane is a control plane that is up or coming up.
type Plane struct {
	dir      Dir
	options  Options
	version  string
	out      io.Writer
	begun    time.Time
	ports    ports
	users    []pki.User
	probe    *probe
	children map[string]*child
	// The end that we hold of the pipe that each child reads.
	lifeline *os.File
	childEnd *os.File

	lock  sync.Mutex
	ready bool
	after map[string]int64
}

// Up brings a control plane up, says so on out, and keeps it until the context is done or somebody
// asks for its end. All children are gone when it returns.
func Up(ctx context.Context, dir Dir, options Options, version string, out io.Writer) error {
	if err := refuseSecond(dir); err != nil {
		return err
	}
	p := &Plane{
		dir: dir, options: options, version: version, out: out, begun: time.Now(),
		children: map[string]*child{}, after: map[string]int64{},
	}
	if err := p.prepare(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	control, err := p.listen(cancel)
	if err != nil {
		return err
	}
	defer control.Close()
	defer p.down()
	if err := p.start(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	<-ctx.Done()
	return nil
}

// prepare writes all files that the components read.
func (p *Plane) prepare() error {
	if err := p.dir.prepare(); err != nil {
		return err
	}
	var err error
	if p.ports, err = reservePorts(); err != nil {
		return err
	}
	if p.childEnd, p.lifeline, err = os.Pipe(); err != nil {
		return err
	}
	pkiFile := func(name string) string { return p.dir.at("pki", name) }
	authority, err := pki.NewAuthority(pkiFile("ca.crt"), pkiFile("ca.key"), p.begun)
	if err != nil {
		return err
	}
	p.users = pki.Merge(pki.Everybody(), p.options.Users)
	pki.GiveTokens(p.users)
	server := local("https", p.ports.apiserver)
	for _, user := range p.users {
		err = errors.Join(err, pki.WriteKubeconfig(p.dir.KubeconfigOf(user.Name), server, authority.PEM, user))
	}
	named := func(name string) pki.User {
		return p.users[slices.IndexFunc(p.users, func(user pki.User) bool { return user.Name == name })]
	}
	p.probe = newProbe(authority.PEM, named(pki.Prober).Token, p.ports, p.options.Nodes)
	for _, name := range Components {
		p.children[name] = &child{
			name: name, state: stateExited, changed: func() { p.changed(name) },
			command: func() (*exec.Cmd, error) { return p.command(name) },
		}
	}
	return errors.Join(err,
		authority.Serve(pkiFile("server.crt"), pkiFile("server.key"), p.begun),
		pki.NewKey(pkiFile("service-account.key")),
		pki.WriteTokens(p.dir.at("tokens.csv"), p.users),
		pki.WriteKubeconfig(p.dir.Kubeconfig(), server, authority.PEM, named("admin")),
		os.WriteFile(p.dir.at("audit-policy.yaml"), []byte(auditPolicy), 0o600),
		os.WriteFile(p.dir.at("scheduler.yaml"), []byte(schedulerConfig(p.dir)), 0o600),
	)
}

func (p *Plane) command(name string) (*exec.Cmd, error) {
	path, before, err := program(name, p.options.Assets)
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(p.dir.Log(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, append(before, argumentsOf(name, p.dir, p.options, p.ports)...)...)
	cmd.Dir = string(p.dir)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{p.childEnd}
	cmd.SysProcAttr = apart()
	return cmd, nil
}

// start starts all components and waits until each does its work. Of those that need the API server
// none is started before it answers: they would give up or back off.
func (p *Plane) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	waits := make(chan error, len(Components))
	start := func(name string) error {
		if err := p.children[name].start(); err != nil {
			return err
		}
		go func() { waits <- p.wait(ctx, name) }()
		return nil
	}
	// The API server takes longer to get ready to ask for etcd than etcd takes to be there.
	if err := errors.Join(start(Etcd), start(APIServer)); err != nil {
		return err
	}
	p.record()
	for range 2 {
		if err := <-waits; err != nil {
			return err
		}
	}
	for _, name := range Components[2:] {
		if err := start(name); err != nil {
			return err
		}
	}
	if err := p.grant(ctx); err != nil {
		return err
	}
	for range Components[2:] {
		if err := <-waits; err != nil {
			return err
		}
	}
	p.lock.Lock()
	p.ready = true
	p.after["all"] = p.elapsed()
	p.lock.Unlock()
	p.record()
	fmt.Fprintf(p.out, "%8.2fs  ready: Kubernetes %s, %s\n", time.Since(p.begun).Seconds(), p.version, p.dir.Kubeconfig())
	return nil
}

func (p *Plane) elapsed() int64 { return time.Since(p.begun).Milliseconds() }

// wait waits until a component is ready, or has exited.
func (p *Plane) wait(ctx context.Context, name string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := p.children[name].ended()
	go func() {
		select {
		case <-ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	if err := p.probe.until(ctx, name); err != nil {
		return fmt.Errorf("%w; %s ends with:\n%s", err, p.dir.Log(name), tail(p.dir.Log(name)))
	}
	p.lock.Lock()
	p.after[name] = p.elapsed()
	p.lock.Unlock()
	fmt.Fprintf(p.out, "%8.2fs  %s\n", time.Since(p.begun).Seconds(), name)
	return nil
}

// grant gives the groups of editors and viewers the roles of those names.
func (p *Plane) grant(ctx context.Context) error {
	for _, role := range []string{"edit", "view"} {
		group := map[string]string{"edit": "sluice:editors", "view": "sluice:viewers"}[role]
		err := p.probe.create(ctx, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
			"metadata": map[string]any{"name": group},
			"roleRef": map[string]any{
				"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role,
			},
			"subjects": []any{map[string]any{
				"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": group,
			}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// down ends everything: first those that talk to the API server, then it, then etcd.
func (p *Plane) down() {
	for _, child := range p.children {
		// The others would wait for a paused one, whoever has paused it.
		_ = child.signal(syscall.SIGCONT, stateRunning, stateRunning, statePaused)
	}
	stages := [][]string{{Kubelets, Scheduler, ControllerManager}, {APIServer}, {Etcd}}
	for _, stage := range stages {
		var all sync.WaitGroup
		for _, name := range stage {
			all.Go(p.children[name].stop)
		}
		all.Wait()
	}
	_ = os.Remove(p.dir.stateFile())
	fmt.Fprintf(p.out, "%8.2fs  down\n", time.Since(p.begun).Seconds())
}

// State is how everything is.
func (p *Plane) State() State {
	p.lock.Lock()
	defer p.lock.Unlock()
	state := State{
		PID: os.Getpid(), Version: p.version, Ready: p.ready, ReadyAfter: map[string]int64{},
		Server: local("https", p.ports.apiserver), Authority: p.dir.at("pki", "ca.crt"),
		Kubeconfig: p.dir.Kubeconfig(), Users: map[string]string{},
	}
	for name, after := range p.after {
		state.ReadyAfter[name] = after
	}
	for _, user := range p.users {
		state.Users[user.Name] = p.dir.KubeconfigOf(user.Name)
	}
	if p.options.Audit {
		state.AuditLog = p.dir.AuditLog()
	}
	for _, name := range Components {
		state.Components = append(state.Components, p.children[name].show())
	}
	return state
}

// recording keeps an older state from being written over a newer one.
var recording sync.Mutex

func (p *Plane) record() {
	recording.Lock()
	defer recording.Unlock()
	if err := p.State().write(p.dir.stateFile()); err != nil {
		fmt.Fprintf(p.out, "the state file: %v\n", err)
	}
}

// changed follows a change of a child: the state file, and a word about an end that nobody asked for.
func (p *Plane) changed(name string) {
	if ending := p.children[name].show().Ending; ending != "" {
		fmt.Fprintf(p.out, "%8.2fs  %s ended: %s; see %s\n", time.Since(p.begun).Seconds(), name, ending, p.dir.Log(name))
	}
	p.record()
}

// tail is the last of a log, for an error.
func tail(file string) []byte {
	text, err := os.ReadFile(file)
	if err != nil {
		return []byte(err.Error())
	}
	return text[max(0, len(text)-2000):]
}
