package plane

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Between two looks at what is coming up.
const look = 50 * time.Millisecond

// probe asks the parts how they are, as the administrator.
type probe struct {
	client *http.Client
	token  string
	ports  ports
	nodes  int
}

func newProbe(authority []byte, token string, ports ports, nodes int) *probe {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	client := &http.Client{Transport: transport, Timeout: 2 * time.Second}
	return &probe{client, token, ports, nodes}
}

// ready says whether a component does its work.
func (p *probe) ready(ctx context.Context, name string) error {
	switch name {
	case Etcd:
		return p.get(ctx, local("http", p.ports.etcd)+"/health", nil)
	case APIServer:
		return p.get(ctx, p.api("/readyz"), nil)
	case ControllerManager:
		// Its health says nothing of the controllers: this is the first thing that one of them makes.
		return p.get(ctx, p.api("/api/v1/namespaces/default/serviceaccounts/default"), nil)
	case Scheduler:
		return p.get(ctx, local("https", p.ports.scheduler)+"/readyz", nil)
	case Kubelets:
		var nodes nodeList
		if err := p.get(ctx, p.api("/api/v1/nodes"), &nodes); err != nil {
			return err
		}
		if usable := nodes.usable(); usable < p.nodes {
			return fmt.Errorf("%d of %d nodes are ready", usable, p.nodes)
		}
		return nil
	}
	return fmt.Errorf("%s: no such component", name)
}

// until waits for a component, for as long as the context allows; the error is the last look's.
func (p *probe) until(ctx context.Context, name string) error {
	for {
		err := p.ready(ctx, name)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w", name, err)
		case <-time.After(look):
		}
	}
}

func (p *probe) api(path string) string {
	return local("https", p.ports.apiserver) + path
}

func (p *probe) get(ctx context.Context, url string, into any) error {
	return p.send(ctx, http.MethodGet, url, nil, into)
}

func (p *probe) create(ctx context.Context, path string, object any) error {
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return p.send(ctx, http.MethodPost, p.api(path), body, nil)
}

func (p *probe) send(ctx context.Context, method, url string, body []byte, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+p.token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "controlplane")
	response, err := p.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s: %s", url, response.Status)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

type nodeList struct {
	Items []struct {
		Spec   struct{ Taints []struct{ Key string } }
		Status struct {
			Conditions []struct{ Type, Status string }
		}
	}
}

// usable counts the Nodes that are ready and have no taint, which a new one has for a moment.
func (l nodeList) usable() int {
	usable := 0
	for _, node := range l.Items {
		for _, condition := range node.Status.Conditions {
			if condition.Type == "Ready" && condition.Status == "True" && len(node.Spec.Taints) == 0 {
				usable++
			}
		}
	}
	return usable
}
