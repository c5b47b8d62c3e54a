// Receives events on PORT. The SECRET is the webhook's. npm install standardwebhooks
import { createServer } from "node:http"
import { Webhook } from "standardwebhooks"

const hook = new Webhook(process.env.SECRET)

createServer(async (req, res) => {
  const parts = []
  for await (const part of req) parts.push(part)
  try {
    const event = hook.verify(Buffer.concat(parts).toString(), req.headers)
    // Do nothing twice: the id is the same on every attempt of an event.
    console.log(event.id, event.event)
    res.writeHead(204).end()
  } catch {
    res.writeHead(400).end()
  }
}).listen(Number(process.env.PORT), "127.0.0.1")
