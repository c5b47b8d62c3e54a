// Package roles keeps the roles of the site, published on settings.identity: what each may do, who may give it, and whether its
// application passwords reach the API. Callers see here who they are.
package roles
