package audit

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

const log = `{"stage":"ResponseComplete","auditID":"1","verb":"list","user":{"username":"sluice"},"objectRef":{"resource":"pods"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-01-01T00:00:01.000000Z"}
{"stage":"ResponseStarted","auditID":"2","verb":"watch","user":{"username":"sluice"},"objectRef":{"resource":"statefulsets","apiGroup":"apps"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-01-01T00:00:02.000000Z"}
{"stage":"ResponseComplete","auditID":"3","verb":"create","user":{"username":"sluice"},"objectRef":{"resource":"pods","subresource":"eviction"},"responseStatus":{"code":201},"requestReceivedTimestamp":"2026-01-01T00:00:03.000000Z"}
{"stage":"ResponseComplete","auditID":"4","verb":"create","user":{"username":"sluice"},"objectRef":{"resource":"pods","subresource":"eviction"},"responseStatus":{"code":201},"requestReceivedTimestamp":"2026-01-01T00:00:04.000000Z"}
{"stage":"ResponseComplete","auditID":"5","verb":"get","user":{"username":"admin"},"requestURI":"/readyz","responseStatus":{"code":200},"requestReceivedTimestamp":"2026-01-01T00:00:05.000000Z"}
`

func check(t *testing.T, log string, filter Filter, want ...Row) {
	t.Helper()
	got, err := Tally(strings.NewReader(log), filter)
	if err != nil {
		t.Fatal(err)
	}
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\ngot  %v\nwant %v", filter, got, want)
	}
}

func TestRequestsAreCountedByUserVerbAndResource(t *testing.T) {
	check(t, log, Filter{},
		Row{"admin", "get", "/readyz", 200, 1},
		Row{"sluice", "list", "pods", 200, 1},
		Row{"sluice", "create", "pods/eviction", 201, 2},
		Row{"sluice", "watch", "statefulsets.apps", 0, 1},
	)
}

func TestAUserAndAMomentPickRequests(t *testing.T) {
	since := time.Date(2026, 1, 1, 0, 0, 4, 0, time.UTC)
	check(t, log, Filter{User: "sluice", Since: since}, Row{"sluice", "create", "pods/eviction", 201, 1})
}

func TestAWatchThatEndsIsStillOneRequest(t *testing.T) {
	ended := strings.Replace(strings.Split(log, "\n")[1], "ResponseStarted", "ResponseComplete", 1)
	check(t, log+ended+"\n", Filter{User: "sluice", Since: time.Date(2026, 1, 1, 0, 0, 2, 0, time.UTC)},
		Row{"sluice", "create", "pods/eviction", 201, 2},
		Row{"sluice", "watch", "statefulsets.apps", 200, 1},
	)
}

func TestARequestWithAWrongTokenKeepsItsCode(t *testing.T) {
	check(t, `{"stage":"ResponseStarted","auditID":"1","verb":"list","user":{},"objectRef":{"resource":"pods"},"responseStatus":{"code":401}}`+"\n",
		Filter{}, Row{"", "list", "pods", 401, 1})
}

func TestALineThatIsStillBeingWrittenIsLeftOut(t *testing.T) {
	check(t, `{"stage":"Resp`, Filter{})
}
