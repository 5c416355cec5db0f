package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sluice.dev/controlplane/internal/audit"
	"sluice.dev/controlplane/internal/component"
	"sluice.dev/controlplane/internal/pki"
	"sluice.dev/controlplane/internal/plane"
)

const usage = `usage: controlplane COMMAND [--dir DIR] …

  up         start a control plane and keep it until a signal or "down"; up -h lists its flags
  down       end it
  status     print its state file's content, as it is now
  kill       kill a component with signal 9      \
  pause      stop a component's process           | NAME: etcd, kube-apiserver,
  resume     let a paused component go on         | kube-controller-manager,
  restart    end a component and start it anew   /  kube-scheduler, kubelets
  audit      count the requests of an "up --audit" by user, verb and resource; audit -h
  kubectl    kubectl of the same release; so is a link to this binary with that name
  version    the release of Kubernetes
`

const defaultDir = "target/controlplane/run"

var commands = map[string]func(arguments []string) error{
	"up":      up,
	"down":    down,
	"status":  status,
	"kill":    fault("kill"),
	"pause":   fault("pause"),
	"resume":  fault("resume"),
	"restart": fault("restart"),
	"audit":   tally,
	"version": func([]string) error {
		fmt.Println(component.Version())
		return nil
	},
}

// parse takes flags and names in any order, and returns the names.
func parse(flags *flag.FlagSet, arguments []string) ([]string, error) {
	var names []string
	for {
		if err := flags.Parse(arguments); err != nil {
			return nil, err
		}
		if flags.NArg() == 0 {
			return names, nil
		}
		names, arguments = append(names, flags.Arg(0)), flags.Args()[1:]
	}
}

// inDir parses the flags of a command, --dir among them, which takes `want` names.
func inDir(name string, arguments []string, want int, more func(*flag.FlagSet)) (plane.Dir, []string, error) {
	flags := flag.NewFlagSet(name, flag.ExitOnError)
	dir := flags.String("dir", defaultDir, "the control plane's directory")
	if more != nil {
		more(flags)
	}
	names, err := parse(flags, arguments)
	if err != nil {
		return "", nil, err
	}
	if len(names) != want {
		return "", nil, fmt.Errorf("%d names given, %d wanted", len(names), want)
	}
	absolute, err := plane.Absolute(*dir)
	return absolute, names, err
}

func up(arguments []string) error {
	options := plane.Options{Extra: map[string][]string{}}
	var detach, untilEOF bool
	dir, _, err := inDir("up", arguments, 0, func(flags *flag.FlagSet) {
		flags.IntVar(&options.Nodes, "nodes", 3, "how many Nodes")
		flags.DurationVar(&options.StartUp, "start-up", 2*time.Second, "how long a Pod takes to start when it doesn't say")
		flags.Uint64Var(&options.Seed, "seed", 1, "of what is left to chance about Pods")
		flags.DurationVar(&options.NodeGrace, "node-grace", 50*time.Second, "how long a silent Node is trusted")
		flags.BoolVar(&options.Audit, "audit", false, "keep an audit log")
		flags.StringVar(&options.Assets, "assets", os.Getenv("KUBEBUILDER_ASSETS"), "a directory of ready-made binaries that go before our own; $KUBEBUILDER_ASSETS")
		flags.BoolVar(&detach, "detach", false, "return when it is ready, and leave it running")
		flags.BoolVar(&untilEOF, "until-eof", false, "end when standard input does, that is with the program that holds it")
		flags.Func("user", "one more user, `NAME=IDENTITY[,GROUP]…`; may be given again", func(text string) error {
			user, err := pki.ParseUser(text)
			options.Users = append(options.Users, user)
			return err
		})
		flags.Func("arg", "a flag for a component, `NAME:--flag=value`; may be given again", func(text string) error {
			name, argument, found := strings.Cut(text, ":")
			if !found {
				return errors.New("want NAME:--flag=value")
			}
			options.Extra[name] = append(options.Extra[name], argument)
			return nil
		})
	})
	if err != nil {
		return err
	}
	if detach {
		return detached(dir, arguments)
	}
	if options.Assets != "" {
		// Components are started from inside the directory.
		if options.Assets, err = filepath.Abs(options.Assets); err != nil {
			return err
		}
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	if untilEOF {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
	}
	return plane.Up(ctx, dir, options, component.Version(), os.Stdout)
}

// detached runs `up` in a session of its own and waits until it is ready.
func detached(dir plane.Dir, arguments []string) error {
	if state, err := plane.Ask(dir); err == nil {
		return fmt.Errorf("%s: a control plane is up already, process %d", dir, state.PID)
	}
	if err := dir.Claim(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.Create(dir.UpLog())
	if err != nil {
		return err
	}
	defer log.Close()
	// The last --detach and --dir win; the working directory may be another by now.
	cmd := exec.Command(self, append([]string{"up"}, append(arguments, "--detach=false", "--dir="+string(dir))...)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			words, _ := os.ReadFile(dir.UpLog())
			return fmt.Errorf("it ended (%v):\n%s", err, words)
		case <-time.After(100 * time.Millisecond):
		}
		if state, err := plane.Ask(dir); err == nil && state.Ready {
			words, err := os.ReadFile(dir.UpLog())
			os.Stdout.Write(words)
			return err
		}
	}
}

func down(arguments []string) error {
	dir, _, err := inDir("down", arguments, 0, nil)
	if err != nil {
		return err
	}
	return plane.Down(dir)
}

func status(arguments []string) error {
	dir, _, err := inDir("status", arguments, 0, nil)
	if err != nil {
		return err
	}
	state, err := plane.Ask(dir)
	if err != nil {
		return err
	}
	return printJSON(state)
}

func fault(name string) func([]string) error {
	return func(arguments []string) error {
		dir, names, err := inDir(name, arguments, 1, nil)
		if err != nil {
			return err
		}
		return plane.Order(dir, name, names[0])
	}
}

func tally(arguments []string) error {
	var filter audit.Filter
	var asJSON bool
	dir, _, err := inDir("audit", arguments, 0, func(flags *flag.FlagSet) {
		flags.StringVar(&filter.User, "user", "", "this identity's requests alone")
		flags.BoolVar(&asJSON, "json", false, "as JSON")
		flags.Func("since", "requests from this `moment` on, as 2026-01-31T12:00:00.5Z", func(text string) (err error) {
			filter.Since, err = time.Parse(time.RFC3339Nano, text)
			return err
		})
	})
	if err != nil {
		return err
	}
	log, err := os.Open(dir.AuditLog())
	if err != nil {
		return err
	}
	defer log.Close()
	rows, err := audit.Tally(log, filter)
	if err != nil {
		return fmt.Errorf("%s: %w", dir.AuditLog(), err)
	}
	if asJSON {
		return printJSON(rows)
	}
	return audit.Print(os.Stdout, rows)
}

func printJSON(value any) error {
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(value)
}
