package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os/signal"
	"path/filepath"
	"syscall"

	"frontdesk/deploy/local/mailsink"
)

// mailSink runs the mail sink until it is told to stop.
func mailSink(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("mailsink", flag.ExitOnError)
	dir := flags.String("dir", filepath.Join(".run", "mail"), "folder where mails are kept")
	in := flags.String("smtp", "127.0.0.1:8082", "address that takes mail")
	web := flags.String("page", "127.0.0.1:8081", "address of the page")
	_ = flags.Parse(args)
	smtpListener, err := net.Listen("tcp", *in)
	if err != nil {
		return err
	}
	webListener, err := net.Listen("tcp", *web)
	if err != nil {
		return err
	}
	fmt.Printf("mail to %s shows on http://%s\n", *in, *web)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return mailsink.Serve(ctx, *dir, smtpListener, webListener)
}
