"""Reads the feed that a Go test keeps, by a library that has no part in writing it, and holds it against what the test has put in."""

import datetime as dt
import sys

import icalendar

with open(sys.argv[1], "rb") as file:
    cal = icalendar.Calendar.from_ical(file.read())
assert cal["METHOD"] == "PUBLISH", cal["METHOD"]
assert cal["X-WR-CALNAME"] == "Salon Lumière", cal["X-WR-CALNAME"]
events = cal.walk("VEVENT")
assert [str(e["UID"]) for e in events] == [f"{n}@frontdesk" for n in range(3)]
assert [str(e["STATUS"]) for e in events] == ["CONFIRMED", "TENTATIVE", "CANCELLED"]
assert all(e["SEQUENCE"] == 2 and str(e["LOCATION"]) == "Rue de l'Église 1; \u2019s-Gravenweg, B" for e in events)
assert [e["DTSTART"].dt for e in events] == [dt.datetime(2026, 3, 28, 23, 30, tzinfo=dt.timezone.utc) + dt.timedelta(hours=n) for n in range(3)]
assert all(e["DTEND"].dt - e["DTSTART"].dt == dt.timedelta(hours=1) and not e.errors for e in events)
print(f"{len(events)} events of the feed are read")
