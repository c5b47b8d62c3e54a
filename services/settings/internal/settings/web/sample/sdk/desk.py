# The lines of the guides in Python, a section for each, which make clients runs.
import os

url, login, key = (os.environ["FRONTDESK_" + name] for name in ("URL", "LOGIN", "KEY"))

# § connect
from frontdesk import Frontdesk, FrontdeskError, each, edit, verify
from frontdesk.api.me_and_my_keys import get_me

desk = Frontdesk(url, login, key)
print(get_me.sync(client=desk).capabilities)
# § once
from frontdesk.api.tags import create_tag
from frontdesk.models import CreateTagBody

# Sent again with the same key when no answer comes. Without a key of yours each call has one of its own.
tag = create_tag.sync(client=desk, body=CreateTagBody(name="From the guide"), idempotency_key="8d3e7c4a")
# §
from frontdesk.api.contacts import create_contact
from frontdesk.models import CreateContactBody

someone = create_contact.sync(client=desk, body=CreateContactBody(email="lines.python@example.com"))
id = someone.id
# § each
from frontdesk.api.contacts import find_contacts

for contact in each(find_contacts, client=desk, status="lead"):
    print(contact.email)
# § edit
from frontdesk.api.contacts import get_contact, update_contact
from frontdesk.models import UpdateContactBody

# Reads the contact and its version, and writes it only if nobody has changed it meanwhile; else it begins again.
edit(get_contact, update_contact, id, client=desk, change=lambda contact: UpdateContactBody(tags=[*contact.tags, "VIP"]))
# § error
try:
    find_contacts.sync(client=desk, per_page=1000)
except FrontdeskError as e:
    if e.code != "svc_invalid_param":
        raise
    print(e.fields, e.request_id)
# §
from frontdesk.api.webhooks import get_webhook_event_sample

sample = get_webhook_event_sample.sync("contact.created", client=desk)
secret, body = sample.secret, sample.body.encode()
headers = {h.name: h.value for h in sample.headers}
# § verify
event = verify(secret, headers, body)  # raises if the signature is wrong
if event["event"] == "contact.created":
    print(event["id"], event["data"]["contact"]["email"])
# §
assert tag.slug and event["event"] == "contact.created"
