package main

import (
	"cmp"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
)

// remove takes back what fill made: people with their visits and messages for good (without an address: to the trash); organizations and forms to the trash; services
// and the field are archived, because records of the past name them.
func (d *demo) remove() error {
	people, err := d.list("/contacts?tag=" + tag)
	if err != nil {
		return err
	}
	fmt.Printf("%d people\n", len(people))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, p := range people {
		group.Go(func() error {
			if p.Email != "" {
				_, err := d.Call("POST", "/privacy/erase", body{"email": p.Email}, nil)
				return err
			}
			messages, err := d.list("/submissions?contact=" + p.id())
			if err != nil {
				return err
			}
			for _, m := range messages {
				if _, err := d.Call("DELETE", "/submissions/"+m.id(), nil, nil); err != nil {
					return err
				}
			}
			_, err = d.Call("DELETE", "/contacts/"+p.id(), nil, nil)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, gone := range []struct {
		list, path string
		ours       func(record) bool
	}{
		// People without an address have them in the trash.
		{"/tags", "/tags/%s?unused=true", func(r record) bool { return slices.Contains(append(themes, tag), r.Name) }},
		{"/closures", "/exceptions/%s", func(r record) bool { return r.Label == closure }},
		{"/webhooks", "/webhooks/%s", func(r record) bool { return r.Name == webhook }},
		{"/forms", "/forms/%s", func(r record) bool {
			return slices.ContainsFunc(forms, func(f struct{ name, template string }) bool { return f.name == r.Name })
		}},
		{"/organizations", "/organizations/%s", func(r record) bool {
			return slices.ContainsFunc(organizations, func(o organization) bool { return o.email == r.Email })
		}},
		{"/services", "/services/%s", func(r record) bool {
			return slices.ContainsFunc(services, func(s offer) bool { return s.name == r.Name })
		}},
		{"/fields?entity=contact", "/fields/%s", func(r record) bool { return r.Label == insurer }},
	} {
		all, err := d.list(gone.list)
		if err != nil {
			return err
		}
		for _, r := range all {
			if gone.ours(r) {
				if _, err := d.Call("DELETE", fmt.Sprintf(gone.path, cmp.Or(r.Slug, r.id())), nil, nil); err != nil {
					return err
				}
			}
		}
	}
	all, err := d.list("/staff")
	if err != nil {
		return err
	}
	for _, r := range all {
		if slices.ContainsFunc(staff, func(c colleague) bool { return c.email == r.Email }) {
			if _, err := d.Call("DELETE", fmt.Sprintf("/staff/%d?successor=%d", r.UserID, d.me), nil, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
