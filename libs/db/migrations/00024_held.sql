-- +goose Up
-- Whether a claim that ends at until, and was made for most at the longest, holds now. The server's clock may be set back: a claim that ends
-- later than any can does not hold either.
create function held(until timestamptz, most interval) returns boolean language sql volatile as $$
	select until between clock_timestamp() and clock_timestamp() + 2 * most
$$;

-- +goose Down
drop function held;
