// Package staff keeps the staff members: the name that clients see, meeting link, weekly hours, and who does which service.
//
// Reads: appointment, service.
package staff
