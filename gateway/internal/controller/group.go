package controller

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// group is the routes with one target, one level and the same methods, which one router has.
type group struct {
	common
	// paths are expressions, and replaying those of the routes that recognise an Idempotency-Key.
	paths, replaying []string
}

// common is what the routes of a group have in common.
type common struct {
	target  target
	level   int
	methods string // separated by blanks; empty for any
}

// groups puts routes together.
func groups(routes []route) map[common]group {
	all := map[common]group{}
	for _, r := range routes {
		k := common{r.target, r.level, strings.Join(r.methods, " ")}
		g := all[k]
		g.common, g.paths = k, append(g.paths, r.shape.regexp())
		if r.replays {
			g.replaying = append(g.replaying, r.shape.regexp())
		}
		all[k] = g
	}
	return all
}

// name is that of the group's router; no other group has it.
func (g common) name() string {
	parts := slices.DeleteFunc([]string{g.target.service, g.target.app, g.target.class}, func(s string) bool { return s == "" })
	name := cmp.Or(strings.Join(parts, "-"), unknown)
	if g.level > 0 {
		name += fmt.Sprintf("-%d", g.level)
	}
	if g.methods != "" {
		name += "-" + strings.ReplaceAll(g.methods, " ", "-")
	}
	return name
}

// rule matches the requests of the group.
func (g group) rule() string {
	rule := oneOf(g.paths)
	if methods := strings.Fields(g.methods); len(methods) > 0 {
		rule = fmt.Sprintf("(Method(`%s`)) && %s", strings.Join(methods, "`) || Method(`"), rule)
	}
	return rule
}

// writes are the methods of the group that change something.
func (g common) writes() []string {
	all := []string{"DELETE", "PATCH", "POST", "PUT"}
	if g.methods == "" {
		return all
	}
	return slices.DeleteFunc(strings.Fields(g.methods), func(m string) bool { return !slices.Contains(all, m) })
}

// addRouters adds the routers of a group: one for all of its requests, above it one for writes that are kept whole, and one above that for each row of
// what is repeated. reachable reports that its service has an address.
func (c *Configuration) addRouters(g group, reachable bool) {
	r := Router{EntryPoints: c.entryPoints, Rule: g.rule(), Priority: priorityRoutes + 3*g.level}
	switch {
	case g.target.service == "":
		r.Service, r.Middlewares = answers, []string{headersOf(classPublic), unknown}
	case !reachable:
		r.Service, r.Middlewares = answers, []string{headersOf(g.target.class), unavailable}
	case g.target.class == classStream:
		r.Service, r.Middlewares = c.reach(c.streaming(g.target.service)), append([]string{headersOf(classStream)}, once...)
	default:
		r.Service, r.Middlewares = c.reach(g.target.service), append([]string{headersOf(g.target.class), compression}, once...)
	}
	c.HTTP.Routers[g.name()] = r
	if reachable && g.target.service != "" && len(g.writes()) > 0 {
		w := r
		w.Rule, w.Priority = wholeRule(g), r.Priority+1
		w.Middlewares = slices.Insert(slices.Clone(r.Middlewares), slices.Index(r.Middlewares, again), whole)
		c.HTTP.Routers[g.name()+"-"+whole] = w
	}
	if r.Service != g.target.service+orDown {
		return
	}
	rows, rules := g.repeated()
	for i, row := range rows {
		r.Rule, r.Priority = rules[i], priorityRoutes+3*g.level+2
		r.Middlewares = append([]string{headersOf(g.target.class), compression}, row.middlewares...)
		c.HTTP.Routers[g.name()+"-"+row.name] = r
	}
}

// oneOf is a rule for paths of these shapes.
func oneOf(shapes []string) string {
	return fmt.Sprintf("PathRegexp(`^(?:%s)$`)", strings.Join(slices.Sorted(slices.Values(shapes)), "|"))
}
