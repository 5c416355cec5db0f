package pki

import (
	"reflect"
	"testing"
)

func check(t *testing.T, text string, want User) {
	t.Helper()
	got, err := ParseUser(text)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, want %+v", text, got, want)
	}
}

func TestAUserIsReadWithItsGroups(t *testing.T) {
	check(t, "bob", User{Name: "bob", Identity: "bob"})
	check(t, "bob=robert,dev,ops", User{Name: "bob", Identity: "robert", Groups: []string{"dev", "ops"}})
	check(t, "op=system:serviceaccount:ns:sluice", User{
		Name: "op", Identity: "system:serviceaccount:ns:sluice",
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:ns"},
	})
}

func TestAUserWithoutANameOrHalfAnAccountIsRefused(t *testing.T) {
	for _, text := range []string{"", "=bob", "a/b", "op=system:serviceaccount:ns"} {
		if user, err := ParseUser(text); err == nil {
			t.Errorf("%q was taken for %+v", text, user)
		}
	}
}

func TestAUserOfTheSameNameTakesTheOthersPlace(t *testing.T) {
	merged := Merge([]User{{Name: "a"}, {Name: "b"}}, []User{{Name: "a", Identity: "x"}, {Name: "c"}})
	want := []User{{Name: "a", Identity: "x"}, {Name: "b"}, {Name: "c"}}
	if !reflect.DeepEqual(merged, want) {
		t.Errorf("got %+v", merged)
	}
}
