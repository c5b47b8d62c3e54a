# Receives events on PORT. The SECRET is the webhook's. pip install standardwebhooks
import os
from http.server import BaseHTTPRequestHandler, HTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

hook = Webhook(os.environ["SECRET"])


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = hook.verify(body, {name.lower(): value for name, value in self.headers.items()})
        except WebhookVerificationError:
            self.send_response(400)
        else:
            # Do nothing twice: the id is the same on every attempt of an event.
            print(event["id"], event["event"])
            self.send_response(204)
        self.end_headers()


HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
