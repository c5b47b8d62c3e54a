// Command replicas shows what more processes of booking bring: `go run ./deploy/bench/replicas`. It starts a whole system with one, two
// and three of them, one after the other, on a PostgreSQL of their own, and asks through the gateway for free times and books distinct ones. All
// share the processors of this machine with both servers of PostgreSQL, the broker and the gateway, so the ratios are the least that more machines
// would bring.
package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"frontdesk/deploy/bench/world"
)

var (
	length  = flag.Duration("length", 5*time.Second, "length of each measurement")
	clients = flag.Int("clients", 32, "visitors at once")
	most    = flag.Int("most", 3, "replicas of booking at most")
)

func main() {
	world.Run(func(_ context.Context, r *world.Report) ([]world.Part, func(), error) {
		return []world.Part{{Name: "replicas", Take: func(ctx context.Context) error { return all(ctx, r) }}}, func() {}, nil
	})
}

// figures are those of one number of replicas.
type figures struct {
	asked, booked       float64 // per second
	askedP99, bookedP99 time.Duration
}

// longest is how long all of it may take. Three starts and measurements take a minute where the programs are built.
const longest = 6 * time.Minute

func all(ctx context.Context, r *world.Report) error {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	var first figures
	for n := 1; n <= *most; n++ {
		f, err := measure(ctx, n)
		if err != nil {
			return fmt.Errorf("%d replicas: %w", n, err)
		}
		if n == 1 {
			first = f
		}
		r.Note(fmt.Sprintf("%d: free times", n), world.PerSecond(f.asked))
		r.Note(fmt.Sprintf("%d: free times, p99", n), world.Ms(f.askedP99))
		r.Note(fmt.Sprintf("%d: free times ÷ those of one replica", n), world.Ratio(f.asked, first.asked))
		r.Note(fmt.Sprintf("%d: bookings", n), world.PerSecond(f.booked))
		r.Note(fmt.Sprintf("%d: bookings, p99", n), world.Ms(f.bookedP99))
		r.Note(fmt.Sprintf("%d: bookings ÷ those of one replica", n), world.Ratio(f.booked, first.booked))
	}
	return nil
}

func measure(ctx context.Context, replicas int) (f figures, err error) {
	s, err := world.StartSystem(ctx, "", fmt.Sprintf("SVC_REPLICAS=booking=%d", replicas))
	if err != nil {
		return f, err
	}
	defer s.Close()
	names := []string{"booking"}
	for n := 2; n <= replicas; n++ {
		names = append(names, fmt.Sprint("booking-", n))
	}
	if err := s.Own(ctx, "booking", names); err != nil {
		return f, err
	}
	c, err := world.NewCalendar(&s.API, 0)
	if err != nil {
		return f, err
	}
	if f.asked, f.askedP99, err = load(s.Get(c.Free)); err != nil {
		return f, err
	}
	if f.booked, f.bookedP99, err = load(func() error { return c.Book(&s.API) }); err != nil {
		return f, err
	}
	var elsewhere int
	if err := s.DB.QueryRow(ctx, "select count(*) from booking.appointment").Scan(&elsewhere); err != nil {
		return f, err
	}
	if elsewhere > 0 {
		return f, fmt.Errorf("%d bookings are in the PostgreSQL of the other services", elsewhere)
	}
	return f, nil
}

// load lets the visitors call, and answers the calls per second and the time that 99 of 100 take at most.
func load(call func() error) (perSecond float64, p99 time.Duration, err error) {
	perSecond, took, err := world.Timed(*clients, *length, call)
	return perSecond, world.Quantile(.99, took), err
}
