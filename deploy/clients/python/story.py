"""The story of README.md by the SDK. It calls by way of a proxy that is unsteady (run.mjs)."""

import asyncio
import os
import re
import time
from datetime import datetime

import httpx

from frontdesk import Frontdesk, FrontdeskError, each, edit
from frontdesk.api.apps_and_setup import update_app
from frontdesk.api.booking_by_visitors import (
    book_publicly,
    cancel_managed_appointment,
    list_public_services,
    list_public_slots,
    open_managed_appointment,
)
from frontdesk.api.contacts import find_contacts, get_contact, get_contact_timeline, update_contact
from frontdesk.api.forms import create_form
from frontdesk.api.forms_by_visitors import get_form_token, submit_form
from frontdesk.api.services import create_service
from frontdesk.api.team import update_staff_hours
from frontdesk.api.webhooks import create_webhook
from frontdesk import models as m

api, me = os.environ["API"], int(os.environ["ME"])
desk = Frontdesk(api, os.environ["LOGIN"], os.environ["KEY"])
visitor = Frontdesk(api)


def refused(operation, *args, **kwargs):
    """The error of a call that is refused."""
    try:
        operation.sync(*args, **kwargs)
    except FrontdeskError as e:
        return e
    raise AssertionError("not refused")


def answered(operation, *args, **kwargs):
    try:
        return operation.sync(*args, **kwargs)
    except FrontdeskError:
        return None


def until(what, found):
    for _ in range(100):
        if value := found():
            return value
        time.sleep(0.1)
    raise AssertionError("waited in vain for " + what)


service = create_service.sync(client=desk, body=m.CreateServiceBody.from_dict(
    {"name": "Consultation by Python", "duration_min": 30, "bookable_online": True, "staff": [me]}))
update_staff_hours.sync(me, client=desk, body=m.UpdateStaffHoursBody.from_dict(
    {"hours": {str(day): [["09:00", "17:00"]] for day in range(1, 8)}}))
form = create_form.sync(client=desk, body=m.CreateFormBody.from_dict({"name": "Contact by Python", "status": "publish", "definition": {"elements": [
    {"id": "email", "type": "field", "target": "contact.email", "label": "Email", "required": True},
    {"id": "message", "type": "field", "target": "submission.fields.message", "label": "Message"}]}}))
hook = create_webhook.sync(client=desk, idempotency_key=f"story-{service.id}", body=m.CreateWebhookBody.from_dict(
    {"name": "Python", "url": "http://127.0.0.1:9/hook", "active": False, "events": ["contact.created", "appointment.booked"]}))
assert hook.secret.startswith("whsec_")


def free():
    answer = list_public_slots.sync(client=visitor, service=service.id)
    return answer if len(answer.items) > 1 else None  # the first may have passed when it is booked


slots = until("free times", free)
token = until("the form", lambda: answered(get_form_token, form.id, client=visitor)).token
time.sleep(3.2)
ada = f"ada.{service.id}@example.com"
booked = book_publicly.sync(client=visitor, body=m.BookPubliclyBody.from_dict({
    "service": str(service.id), "starts_at": slots.items[1].starts_at.isoformat(), "token": slots.token, "hp_url": "", "page": "https://example.com/",
    "values": {"first_name": "Ada", "last_name": "Visitor", "email": ada}}))
assert booked.status == "confirmed" and isinstance(booked.starts_at, datetime)
submit_form.sync(form.id, client=visitor, body=m.SubmitFormBody.from_dict({
    "token": token, "hp_url": "", "page": "https://example.com/contact", "values": {"email": f"grace.{service.id}@example.com", "message": "Good morning"}}))

contact = until("the contact", lambda: find_contacts.sync(client=desk, search=ada).items)[0]
assert contact.email == ada
until("the timeline", lambda: [e for e in each(get_contact_timeline, contact.id, client=desk) if e.channel == "booking"])

# Pages of one record each, and a record that somebody else changes between reading and writing it.
seen = [c.id for c in each(find_contacts, client=desk, search=str(service.id), per_page=1)]
assert contact.id in seen and len(seen) == len(set(seen)) == 2, seen
reads = []


def rename(record):
    reads.append(record)
    if len(reads) == 1:
        update_contact.sync(contact.id, client=desk, body=m.UpdateContactBody.from_dict({"first_name": "Ada M.", "mode": "overwrite"}))
    return m.UpdateContactBody.from_dict({"last_name": record.first_name + " Byron", "mode": "overwrite"})


assert edit(get_contact, update_contact, contact.id, client=desk, change=rename).last_name == "Ada M. Byron"


async def read_both_ways():
    return await get_contact.asyncio(contact.id, client=desk)


assert asyncio.run(read_both_ways()).first_name == "Ada M."


def link():
    for mail in httpx.get(os.environ["MAILS"] + "/api/mails", params={"to": ada}).json()["items"]:
        if found := re.search(r"/manage#token=([A-Za-z0-9_-]+)", mail["text"]):
            return found[1]


manage = until("the mail", link)
open_managed_appointment.sync(client=visitor, body=m.OpenManagedAppointmentBody(token=manage))
assert cancel_managed_appointment.sync(client=visitor, body=m.CancelManagedAppointmentBody(token=manage, reason="ill")).status == "cancelled"
again = refused(cancel_managed_appointment, client=visitor, body=m.CancelManagedAppointmentBody(token=manage))
assert again.code in ("svc_token_expired", "svc_invalid_status"), again
wrong = refused(find_contacts, client=desk, per_page=1000)
assert wrong.status == 400 and wrong.code == "svc_invalid_param" and wrong.fields["per_page"] and wrong.request_id

update_app.sync("booking", client=desk, body=m.UpdateAppBody(enabled=False))
assert refused(list_public_services, client=visitor).code == "svc_no_route"
update_app.sync("booking", client=desk, body=m.UpdateAppBody(enabled=True))
until("booking", lambda: answered(list_public_services, client=visitor))
print("Python: done")
