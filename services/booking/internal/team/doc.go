// Package team shows the people of the team and what the caller may do with them, changes their names and services, and hands over what
// somebody has who leaves.
package team
