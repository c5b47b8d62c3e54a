package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// get prints what an address answers, for health checks in an image that has no other program. Any status but 200 is an error.
func get(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("get: which address? local get http://127.0.0.1:9000/readyz")
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, args[0], nil) //nolint:gosec // whoever may start programs here chooses the address
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req) //nolint:gosec // see above
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(os.Stdout, res.Body); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", args[0], res.Status)
	}
	return nil
}
