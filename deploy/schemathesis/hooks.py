"""Calls name records that exist, so that an operation does more than look for what is not there. What is wrong on purpose stays so, and one call
of five keeps the ids that were made up. In the end it says which operations were never answered with 2xx."""
import ast
import atexit
import collections
import itertools
import os
import threading
import time

import requests
import schemathesis
from schemathesis.core.parameters import ParameterLocation

# Two workers of schemathesis parse Python at the same time, which until Python 3.12 sometimes fails:
# SystemError, AST constructor recursion depth mismatch (python/cpython, issue 106905).
together, parse = threading.RLock(), ast.parse


def parse_alone(*args, **named):
    with together:
        return parse(*args, **named)


ast.parse = parse_alone

api, person = os.environ["SVC_API"], {"svc_session": os.environ["SVC_SESSION"]}
numbers, begun, counting = itertools.count(1), time.time(), threading.RLock()


class Refused(Exception):
    """A record could not be made: an earlier call may have taken away what it needs, or have changed the settings."""


def ask(method, path, body=None, cookies=person):
    """What an operation answers. A service gets to hear of another one's record within moments, so 404 is asked again for a second."""
    for _ in range(20):
        answer = requests.request(method, api + path, json=body, cookies=cookies, timeout=25)
        if answer.status_code != 404:
            break
        time.sleep(0.05)
    if not answer.ok:
        raise Refused(f"{method} {path}: {answer.status_code} {answer.text}")
    return answer.json() if answer.content else {}


def post(path, **body):
    return ask("POST", path, body)


def unique(text="n"):
    return f"{text}{begun:.0f}x{next(numbers)}"


def address():
    return unique() + "@example.com"


def starts():
    """A time at which nobody is busy yet."""
    return time.strftime("%Y-%m-%dT%H:%M:00Z", time.gmtime(1_900_000_800 + 3600 * next(numbers)))


def page():
    """What a visitor sends along. Nobody books or writes within three seconds."""
    time.sleep(max(0, begun + 4 - time.time()))
    return {"hp_url": "", "page": "https://example.com/"}


def submission():
    ask("POST", f"/forms/{form}/submit", written(), cookies=None)
    return ask("GET", f"/submissions?form={form}&per_page=1")["items"][0]["id"]


def written():
    return page() | {"token": written_by, "values": {"email": address()}}


def booked():
    return page() | {"token": slots["token"], "service": service, "starts_at": next(free), "values": {"first_name": "Ada", "last_name": "Visitor", "email": address()}}


def session():
    ask("POST", "/auth/login", {"login": "admin", "password": os.environ["SVC_ADMIN_PASSWORD"]}, cookies=None)
    return next(s["id"] for s in ask("GET", "/auth/sessions")["items"] if not s["current"])


me = ask("GET", "/me")["user_id"]
ask("PUT", f"/staff/{me}/hours", {"hours": {str(day): [["08:00", "20:00"]] for day in range(1, 8)}})
definition = {"elements": [{"id": "email", "type": "field", "target": "contact.email", "label": "Email", "required": True}]}
table = "First name,Email\r\nAda,ada@example.com"

make = {
    "appointment": lambda: post("/appointments", contact=shared("contact"), service=shared("service"), starts_at=starts(), outside_hours=True, status="pending")["id"],
    "contact": lambda: post("/contacts", first_name="Ada", email=address())["id"],
    "delivery": lambda: post(f"/webhooks/{shared('webhook')}/test")["id"],
    "field": lambda: post("/fields", entity="contact", label=unique("field"), type="text")["id"],
    "field group": lambda: post("/field-groups", entity="contact", label=unique("group"))["id"],
    "form": lambda: post("/forms", name=unique("form"), status="publish", definition=definition)["id"],
    "import": lambda: post("/imports", file_name="list.csv", csv=table)["id"],
    "invitation": lambda: post("/staff", email=address(), name="Grace", role="staff") and ask("GET", "/staff/invitations")["items"][0]["id"],
    "key": lambda: post("/me/application-passwords", name=unique("key"))["id"],
    "mail": lambda: post(f"/contacts/{shared('contact')}/mails", subject=unique("Hello "), body="There.")["id"],
    "note": lambda: post(f"/contacts/{shared('contact')}/notes", body="Called.")["id"],
    "note of an organization": lambda: post(f"/organizations/{shared('organization')}/notes", body="Called.")["id"],
    "organization": lambda: post("/organizations", name=unique("House "))["id"],
    "page": lambda: post("/pages", title=unique("page"))["id"],
    "receiver": lambda: post("/webhooks/receiver")["url"].rsplit("/", 1)[1],
    "service": lambda: post("/services", name=unique("visit"), duration_min=30, bookable_online=True, staff=[me])["id"],
    "session": session,
    "submission": submission,
    "tag": lambda: post("/tags", name=unique("tag"))["slug"],
    "task": lambda: post("/tasks", title=unique("Call "))["id"],
    "view": lambda: post("/views", entity="contacts", name=unique("View "))["id"],
    "time off": lambda: post("/closures", date_from="2030-05-01", type="closed", user_id=me)["id"],
    "webhook": lambda: post("/webhooks", name=unique("hook"), url="http://127.0.0.1:9/", active=False, events=["contact.created"])["webhook"]["id"],
}
kept = {}


def shared(kind):
    """A record for calls that leave it there, for ten of them: others find its id in answers, and delete it."""
    with counting:
        record, uses = kept.get(kind, (None, 10))
        if uses == 10:
            record, uses = make[kind](), 0
        kept[kind] = record, uses + 1
        return record


# Which kind of record a parameter in the path names.
named = {
    "/appointments/{id}": "appointment", "/auth/sessions/{id}": "session", "/contacts/{id}": "contact", "/contacts/{id}/notes/{note}": "note", "/exceptions/{id}": "time off", "/field-groups/{id}": "field group",
    "/fields/{id}": "field", "/forms/{id}": "form", "/imports/{id}": "import", "/mails/{id}": "mail", "/me/application-passwords/{id}": "key", "/organizations/{id}": "organization",
    "/organizations/{id}/contacts/{contact_id}": "contact", "/organizations/{id}/notes/{note}": "note of an organization", "/pages/{id}": "page", "/services/{id}": "service", "/staff/invitations/{id}": "invitation",
    "/staff/{user}/application-passwords/{id}": "key", "/staff/{user}/sessions/{id}": "session", "/submissions/{id}": "submission", "/tags/{slug}": "tag", "/tasks/{id}": "task", "/views/{id}": "view",
    "/webhook-deliveries/{id}": "delivery", "/webhook-receivers/{token}": "receiver", "/webhooks/{id}": "webhook",
}
# What a member of a body or of a query is, where anything else is refused by a rule that no schema can say.
members = {
    "contact": lambda: shared("contact"), "contact_id": lambda: shared("contact"), "csv": lambda: table, "definition": lambda: definition, "events": lambda: ["contact.created"],
    "form": lambda: shared("form"), "form_id": lambda: shared("form"), "mapping": lambda: ["first_name", "email"], "other_slug": lambda: make["tag"](), "query": lambda: {},
    "owner_user_id": lambda: me, "service": lambda: shared("service"), "starts_at": starts, "url": lambda: "http://127.0.0.1:9/", "user_id": lambda: me,
}
# What has to be done first, for an operation to do its work.
first = {
    "complete-appointment": lambda path: ask("POST", f"/appointments/{path['id']}/confirm"),
    "mark-no-show": lambda path: ask("POST", f"/appointments/{path['id']}/confirm"),
    "restore-contact": lambda path: ask("DELETE", f"/contacts/{path['id']}"),
    "restore-form": lambda path: ask("DELETE", f"/forms/{path['id']}"),
    "restore-organization": lambda path: ask("DELETE", f"/organizations/{path['id']}"),
    "try-webhook": lambda path: make["receiver"](),
    "unlink-contact-organization": lambda path: ask("PUT", "/organizations/{id}/contacts/{contact_id}".format(**path), {}),
}
# Bodies of visitors, of which no part fits without the others.
bodies = {"book-publicly": booked, "submit-form": written}

form, service = make["form"](), make["service"]()
written_by = ask("GET", f"/forms/{form}/token", cookies=None)["token"]
slots = ask("GET", f"/booking/slots?service={service}", cookies=None)
free = iter([slot["starts_at"] for slot in slots["items"]][20:])
for each in make:
    shared(each)  # all of them can be made; an error ends the run
calls = collections.Counter()


@schemathesis.hook
def before_call(context, case, kwargs):
    with counting:
        calls[case.operation.label] += 1
        made_up = calls[case.operation.label] % 5 == 0
    if case.meta is None or made_up:
        return
    try:
        name_records(case, case.operation.path, case.operation.definition.raw.get("operationId"))
    except (Refused, StopIteration):
        kept.clear()


def name_records(case, path, operation):
    kind, right = None, lambda location: not case.meta.is_negative_at(location)
    if case.path_parameters and right(ParameterLocation.PATH):
        for template, kind in ((t, k) for t, k in named.items() if path.startswith(t)):
            lasting = case.method in ("GET", "PATCH", "PUT") or "/{" in path[len(template):]
            case.path_parameters[template[template.rindex("{") + 1:-1]] = shared(kind) if lasting else make[kind]()
        if path.startswith("/staff/{user}/") and case.method != "PUT":
            case.path_parameters["user"] = me
        if operation == "submit-form":
            case.path_parameters["id"] = form
        if operation in first:
            first[operation](case.path_parameters)
    if isinstance(case.body, dict) and right(ParameterLocation.BODY):
        if operation in bodies:
            case.body = bodies[operation]()
        if "definition" in case.body:
            case.body.pop("template", None)
        for name in case.body.keys() & members.keys() if operation not in bodies else ():
            case.body[name] = members[name]()
        if "other_id" in case.body:
            case.body["other_id"] = make[kind or "contact"]()
        if "staff" in case.body:
            case.body["staff"] = [me] if isinstance(case.body["staff"], list) else me
    if case.headers and right(ParameterLocation.HEADER):
        case.headers.pop("If-Match", None)  # a version that was made up is refused before anything else
    if case.query and right(ParameterLocation.QUERY):
        case.query.pop("cursor", None)
        for name in case.query.keys() & {"contact", "form", "service"}:
            case.query[name] = members[name]()
        if "other_id" in case.query:
            case.query["other_id"] = make[kind]()


answered = collections.defaultdict(set)


@schemathesis.hook
def after_call(context, case, response):
    answered[case.operation.label].add(response.status_code // 100)


@atexit.register
def tell():
    never = sorted(label for label, classes in answered.items() if 2 not in classes)
    print(f"{len(answered) - len(never)} of {len(answered)} operations were answered with 2xx at least once. These were not: {', '.join(never) or 'none'}.")
