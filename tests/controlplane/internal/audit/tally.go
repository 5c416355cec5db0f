// Package audit counts the requests in an audit log by user, verb and resource.
package audit

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// Row is how often a user did something, with how it ended.
type Row struct {
	User     string `json:"user"`
	Verb     string `json:"verb"`
	Resource string `json:"resource"`
	// The HTTP status; 0 for watches that are still open.
	Code  int `json:"code"`
	Count int `json:"count"`
}

// Filter picks requests. Zero values pick all.
type Filter struct {
	User string
	// Requests that came in before are left out.
	Since time.Time
}

type entry struct {
	Stage     string
	AuditID   string
	Verb      string
	Requested time.Time `json:"requestReceivedTimestamp"`
	User      struct{ Username string }
	ObjectRef *struct{ APIGroup, Resource, Subresource string }
	URI       string              `json:"requestURI"`
	Response  *struct{ Code int } `json:"responseStatus"`
}

// Tally reads an audit log, one JSON event a line, and counts each request once, whatever stages it
// is logged in. A last line that is still being written is left out.
func Tally(log io.Reader, filter Filter) ([]Row, error) {
	requests := map[string]Row{}
	reader := bufio.NewReader(log)
	for number := 1; ; number++ {
		line, err := reader.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		var entry entry
		if err := json.Unmarshal(line, &entry); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if filter.User != "" && entry.User.Username != filter.User || entry.Requested.Before(filter.Since) {
			continue
		}
		row := Row{User: entry.User.Username, Verb: entry.Verb, Resource: resource(entry)}
		open := entry.Verb == "watch" && entry.Stage == "ResponseStarted"
		if entry.Response != nil && !open {
			row.Code = entry.Response.Code
		}
		requests[entry.AuditID] = row
	}
	counts := map[Row]int{}
	for _, row := range requests {
		counts[row]++
	}
	rows := make([]Row, 0, len(counts))
	for row, count := range counts {
		row.Count = count
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Resource, b.Resource),
			cmp.Compare(a.Verb, b.Verb), cmp.Compare(a.Code, b.Code))
	})
	return rows, nil
}

// resource is `pods/eviction`, `statefulsets.apps`, or the path of what is no resource.
func resource(entry entry) string {
	object := entry.ObjectRef
	if object == nil || object.Resource == "" {
		return entry.URI
	}
	name := object.Resource
	if object.APIGroup != "" {
		name += "." + object.APIGroup
	}
	if object.Subresource != "" {
		name += "/" + object.Subresource
	}
	return name
}

// Print writes rows as a table.
func Print(out io.Writer, rows []Row) error {
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "COUNT\tUSER\tVERB\tRESOURCE\tCODE")
	for _, row := range rows {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%d\n", row.Count, row.User, row.Verb, row.Resource, row.Code)
	}
	return table.Flush()
}
