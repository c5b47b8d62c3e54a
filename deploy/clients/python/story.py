"""The story of README.md by a client of openapi-python-client."""

import base64
import os
import re
import time
from datetime import datetime

import httpx

from frontdesk_client import AuthenticatedClient, Client
from frontdesk_client.api.apps_and_setup import update_app
from frontdesk_client.api.booking_by_visitors import (
    book_publicly,
    cancel_managed_appointment,
    list_public_services,
    list_public_slots,
    open_managed_appointment,
)
from frontdesk_client.api.contacts import find_contacts, get_contact_timeline
from frontdesk_client.api.forms import create_form
from frontdesk_client.api.forms_by_visitors import get_form_token, submit_form
from frontdesk_client.api.services import create_service
from frontdesk_client.api.team import update_staff_hours
from frontdesk_client.api.webhooks import create_webhook
from frontdesk_client import models as m

api, me = os.environ["API"], int(os.environ["ME"])
key = base64.b64encode(f"{os.environ['LOGIN']}:{os.environ['KEY']}".encode()).decode()
desk = AuthenticatedClient(base_url=api, token=key, prefix="Basic", timeout=httpx.Timeout(30))
visitor = Client(base_url=api, timeout=httpx.Timeout(30))


def ok(answer):
    """The parsed answer; an error raises its code."""
    assert not isinstance(answer, m.Error), f"{answer.code}: {answer.message}"
    assert answer is not None
    return answer


def until(what, found):
    for _ in range(100):
        if value := found():
            return value
        time.sleep(0.1)
    raise AssertionError("waited in vain for " + what)


service = ok(create_service.sync(client=desk, body=m.CreateServiceBody.from_dict(
    {"name": "Consultation by Python", "duration_min": 30, "bookable_online": True, "staff": [me]})))
week = {str(day): [["09:00", "17:00"]] for day in range(1, 8)}
ok(update_staff_hours.sync(me, client=desk, body=m.UpdateStaffHoursBody.from_dict({"hours": week})))
form = ok(create_form.sync(client=desk, body=m.CreateFormBody.from_dict({"name": "Contact by Python", "status": "publish", "definition": {"elements": [
    {"id": "email", "type": "field", "target": "contact.email", "label": "Email", "required": True},
    {"id": "message", "type": "field", "target": "submission.fields.message", "label": "Message"}]}})))
hook = ok(create_webhook.sync(client=desk, idempotency_key=f"story-{service.id}", body=m.CreateWebhookBody.from_dict(
    {"name": "Python", "url": "http://127.0.0.1:9/hook", "active": False, "events": ["contact.created", "appointment.booked"]})))
assert hook.secret.startswith("whsec_")


def free():
    answer = list_public_slots.sync(client=visitor, service=service.id)
    return answer if isinstance(answer, m.PublicSlots) and answer.items else None


slots = until("free times", free)


def form_token():
    answer = get_form_token.sync(form.id, client=visitor)
    return None if isinstance(answer, m.Error) else answer


token = until("the form", form_token).token
time.sleep(3.2)
ada = f"ada.{service.id}@example.com"
booked = ok(book_publicly.sync(client=visitor, body=m.BookPubliclyBody.from_dict({
    "service": str(service.id), "starts_at": slots.items[0].starts_at.isoformat(), "token": slots.token, "hp_url": "", "page": "https://example.com/",
    "values": {"first_name": "Ada", "last_name": "Visitor", "email": ada}})))
assert booked.status == "confirmed" and isinstance(booked.starts_at, datetime)
ok(submit_form.sync(form.id, client=visitor, body=m.SubmitFormBody.from_dict({
    "token": token, "hp_url": "", "page": "https://example.com/contact", "values": {"email": f"grace.{service.id}@example.com", "message": "Good morning"}})))

contact = until("the contact", lambda: ok(find_contacts.sync(client=desk, search=ada)).items)[0]
assert contact.email == ada
until("the timeline", lambda: [e for e in ok(get_contact_timeline.sync(contact.id, client=desk)).items if e.channel == "booking"])


def link():
    for mail in httpx.get(os.environ["MAILS"] + "/api/mails", params={"to": ada}).json()["items"]:
        if found := re.search(r"/manage#token=([A-Za-z0-9_-]+)", mail["text"]):
            return found[1]


manage = until("the mail", link)
ok(open_managed_appointment.sync(client=visitor, body=m.OpenManagedAppointmentBody(token=manage)))
assert ok(cancel_managed_appointment.sync(client=visitor, body=m.CancelManagedAppointmentBody(token=manage, reason="ill"))).status == "cancelled"
again = cancel_managed_appointment.sync(client=visitor, body=m.CancelManagedAppointmentBody(token=manage))
assert isinstance(again, m.Error) and again.code in ("svc_token_expired", "svc_invalid_status"), again

ok(update_app.sync("booking", client=desk, body=m.UpdateAppBody(enabled=False)))
off = list_public_services.sync(client=visitor)
assert isinstance(off, m.Error) and off.code == "svc_no_route", off
ok(update_app.sync("booking", client=desk, body=m.UpdateAppBody(enabled=True)))
until("booking", lambda: not isinstance(list_public_services.sync(client=visitor), (m.Error, type(None))))
print("Python: done")
