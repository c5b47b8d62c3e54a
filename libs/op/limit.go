package op

import (
	"net/netip"

	"frontdesk/libs/db"
)

// siteFactor is how much more the addresses of one IPv6 site may do together than one visitor. A site is a /48; a provider
// may give it to a company, or share it out to many homes.
const siteFactor = 20

// Buckets are what limits count for a visitor at address, under the name key. Whoever has one address of IPv6 has all of its /64, and may have
// a /48, so a single address there says nothing.
func Buckets(key, address string, limits []db.Limit) []db.Bucket {
	var all []db.Bucket
	add := func(name string, factor int) {
		for _, l := range limits {
			all = append(all, db.Bucket{Key: key + "/" + name, Limit: db.Limit{N: l.N * factor, Per: l.Per}})
		}
	}
	ip, err := netip.ParseAddr(address)
	if err != nil || ip.Unmap().Is4() {
		add(address, 1)
		return all
	}
	ip = ip.WithZone("")
	// The site comes first: rows are locked in one order.
	add(netip.PrefixFrom(ip, 48).Masked().String(), siteFactor)
	add(netip.PrefixFrom(ip, 64).Masked().String(), 1)
	return all
}
