"""Writes calendars with the times that they take, found by libraries that have no part in our reading: a JSON object each line.

    generate.py COUNT SEED > cases.jsonl

Each case has the file, the days that matter, the zone of the business, the address of the person, and the times as pairs of seconds.
"""

import datetime as dt
import json
import random
import sys
import zoneinfo

import icalendar
import recurring_ical_events

ZONES = ["Europe/Brussels", "America/New_York", "Australia/Sydney", "Asia/Kolkata", "America/Sao_Paulo", "UTC"]
WINDOWS = {"Romance Standard Time": "Europe/Paris", "Eastern Standard Time": "America/New_York", "India Standard Time": "Asia/Calcutta"}
OWN = {
    "Our Office": ("Europe/Brussels", "BEGIN:VTIMEZONE|TZID:Our Office|BEGIN:DAYLIGHT|TZOFFSETFROM:+0100|TZOFFSETTO:+0200|TZNAME:CEST|DTSTART:19700329T020000|RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU|END:DAYLIGHT"
                   "|BEGIN:STANDARD|TZOFFSETFROM:+0200|TZOFFSETTO:+0100|TZNAME:CET|DTSTART:19701025T030000|RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU|END:STANDARD|END:VTIMEZONE"),
    "Somewhere Fixed": ("Asia/Kolkata", "BEGIN:VTIMEZONE|TZID:Somewhere Fixed|BEGIN:STANDARD|TZOFFSETFROM:+0530|TZOFFSETTO:+0530|TZNAME:X|DTSTART:16010101T000000|END:STANDARD|END:VTIMEZONE"),
}
PERSON = "ada@example.com"
DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]


def stamp(t):
    return t.strftime("%Y%m%dT%H%M%S")


class Case:
    def __init__(self, r):
        self.r = r
        self.business = r.choice(ZONES)
        self.first = dt.datetime(2026, r.randint(1, 12), r.randint(1, 28))
        self.last = self.first + dt.timedelta(days=r.choice([7, 40, 400]))
        self.definitions = set()
        self.lines = []
        for n in range(r.randint(1, 4)):
            self.event(f"{n}@example.com")
        # Libraries apply a zone of Google's only where it is named.
        head = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//x//x//EN"]
        body = "|".join(OWN[z][1] for z in sorted(self.definitions)).split("|") if self.definitions else []
        self.text = "\r\n".join(head + body + self.lines + ["END:VCALENDAR", ""])
        # What the libraries read has the names that they know.
        plain = self.text
        for z, (iana, definition) in OWN.items():
            plain = plain.replace(definition.replace("|", "\r\n") + "\r\n", "").replace("TZID=" + z + ":", "TZID=" + iana + ":")
        for z, iana in WINDOWS.items():
            plain = plain.replace("TZID=" + z + ":", "TZID=" + iana + ":")
        self.plain = plain

    def zone(self):
        r = self.r
        kind = r.choice(["utc", "floating", "iana", "iana", "iana", "windows", "own"])
        if kind == "own":
            z = r.choice(sorted(OWN))
            self.definitions.add(z)
            return z
        return {"utc": "Z", "floating": "", "iana": r.choice(ZONES[:-1]), "windows": r.choice(sorted(WINDOWS))}[kind]

    def when(self, name, t, zone, day=False, more=""):
        if day:
            return f"{name};VALUE=DATE{more}:{t:%Y%m%d}"
        if zone == "Z":
            return f"{name}{more}:{stamp(t)}Z"
        return f"{name}{more};TZID={zone}:{stamp(t)}" if zone else f"{name}{more}:{stamp(t)}"

    def rule(self, start, day, zone):
        r = self.r
        freq = r.choice(["DAILY", "WEEKLY", "WEEKLY", "MONTHLY", "MONTHLY", "YEARLY"] + ([] if day else ["HOURLY", "MINUTELY", "SECONDLY"]))
        parts = ["FREQ=" + freq]
        interval = {"HOURLY": r.choice([5, 7, 24, 36]), "MINUTELY": r.choice([90, 600, 1441]), "SECONDLY": r.choice([7200, 86400, 100000])}.get(freq, r.choice([1, 1, 1, 2, 3, 5]))
        if interval > 1:
            parts.append(f"INTERVAL={interval}")
        if freq == "WEEKLY" and r.random() < 0.6:
            parts.append("BYDAY=" + ",".join(r.sample(DAYS, r.randint(1, 4))))
        elif freq == "DAILY" and r.random() < 0.3:
            parts.append("BYDAY=" + ",".join(r.sample(DAYS, r.randint(2, 5))))
        elif freq == "DAILY" and not day and r.random() < 0.3:
            parts.append("BYHOUR=" + ",".join(map(str, sorted(r.sample(range(24), 3)))))
        elif freq == "MONTHLY":
            kind = r.randint(0, 4)
            if kind == 1:
                parts.append("BYMONTHDAY=" + ",".join(map(str, r.sample([1, 5, 15, 28, 29, 30, 31, -1, -2], r.randint(1, 3)))))
            elif kind == 2:
                parts.append("BYDAY=" + ",".join(r.choice(["1", "2", "-1", "3", "5"]) + d for d in r.sample(DAYS, r.randint(1, 2))))
            elif kind == 3:
                parts += ["BYDAY=" + ",".join(r.sample(DAYS, r.randint(2, 5))), "BYSETPOS=" + r.choice(["1", "-1", "2", "1,-1"])]
            elif kind == 4:
                parts += ["BYDAY=FR", "BYMONTHDAY=13"]
        elif freq == "YEARLY":
            kind = r.randint(0, 4)
            if kind == 1:
                parts += [f"BYMONTH={r.randint(1, 12)}", "BYDAY=" + r.choice(["1", "-1", "2"]) + r.choice(DAYS)]
            elif kind == 2:
                parts.append("BYYEARDAY=" + ",".join(map(str, r.sample([1, 60, 100, 200, 366, -1], 2))))
            elif kind == 3:
                parts += ["BYWEEKNO=" + str(r.choice([1, 20, 53])), "BYDAY=" + r.choice(DAYS)]
            elif kind == 4:
                parts += ["BYMONTH=" + ",".join(map(str, r.sample(range(1, 13), 2))), f"BYMONTHDAY={r.choice([1, 15, 31])}"]
        if r.random() < 0.2:
            parts.append("WKST=" + r.choice(DAYS))
        end = r.random()
        if end < 0.3:
            parts.append(f"COUNT={r.randint(1, 40)}")
        elif end < 0.55:
            until = start + dt.timedelta(days=r.randint(0, 900), hours=r.randint(0, 23) if not day else 0)
            if day:
                parts.append(f"UNTIL={until:%Y%m%d}")
            elif zone == "":
                parts.append("UNTIL=" + stamp(until))
            else:
                parts.append("UNTIL=" + stamp(until) + "Z")
        return ";".join(parts)

    def props(self, allow_states=True):
        r, out = self.r, []
        if r.random() < 0.15:
            out.append("TRANSP:" + r.choice(["OPAQUE", "TRANSPARENT"]))
        if r.random() < 0.1:
            out.append("X-MICROSOFT-CDO-BUSYSTATUS:" + r.choice(["FREE", "BUSY", "TENTATIVE", "OOF", "WORKINGELSEWHERE"]))
        if r.random() < 0.12:
            out.append("STATUS:" + r.choice(["CONFIRMED", "TENTATIVE", "CANCELLED"]))
        if r.random() < 0.12:
            out.append(f"ATTENDEE;CN=\"Ada; L: x\";PARTSTAT={r.choice(['ACCEPTED', 'DECLINED', 'TENTATIVE'])}:mailto:{r.choice([PERSON, 'Ada@Example.COM', 'bob@example.com'])}")
        return out

    def event(self, uid):
        r = self.r
        day, zone = r.random() < 0.25, self.zone()
        if day:
            zone = ""
        repeats = r.random() < 0.75
        start = self.first + dt.timedelta(days=r.randint(-500 if repeats else -3, 30), hours=0 if day else r.randint(0, 23), minutes=0 if day else r.choice([0, 15, 30, 59]))
        length = dt.timedelta(days=r.randint(1, 4)) if day else dt.timedelta(minutes=r.choice([0, 15, 60, 90, 480, 1500]))
        lines = ["BEGIN:VEVENT", "UID:" + uid, "DTSTAMP:20260101T000000Z", self.when("DTSTART", start, zone, day)]
        kind = r.random()
        if kind < 0.7:
            lines.append(self.when("DTEND", start + length, zone, day))
        elif kind < 0.9:
            s = int(length.total_seconds())
            lines.append(f"DURATION:P{length.days}D" if day else f"DURATION:PT{s // 3600}H{s % 3600 // 60}M")
        rule = None
        if repeats:
            rule = self.rule(start, day, zone)
            lines.append("RRULE:" + rule)
            step = dt.timedelta(days=7 if "FREQ=WEEKLY" in rule else 1)
            # The library takes a time for another one that has the same digits in another zone, so of what comes several times a day nothing is taken out.
            often = zone != "Z" and any("FREQ=" + f in rule for f in ("HOURLY", "MINUTELY", "SECONDLY"))
            for _ in range(0 if often else r.randint(0, 2)):
                t = start + step * r.randint(0, 60)
                lines.append(self.when("EXDATE", t, zone, day))
            if r.random() < 0.2:
                lines.append(self.when("RDATE", start + dt.timedelta(days=r.randint(1, 500), hours=0 if day else 1), zone, day))
        lines += self.props() + ["SUMMARY:Lorem\\, ipsum " + "x" * r.randint(0, 80), "BEGIN:VALARM", "TRIGGER:-PT15M", "ACTION:DISPLAY", "DESCRIPTION:x", "END:VALARM", "END:VEVENT"]
        self.lines += lines
        if repeats and not often and r.random() < 0.5:
            step = dt.timedelta(days=7 if "FREQ=WEEKLY" in rule else 1)
            following = r.random() < 0.3
            # The first occurrence cannot be that of this-and-following in the libraries.
            at = start + step * r.randint(1 if following else 0, 60)
            moved = at + (dt.timedelta(days=r.randint(-3, 3)) if day else dt.timedelta(minutes=r.choice([-1440, -30, 0, 60, 2880])))
            over = ["BEGIN:VEVENT", "UID:" + uid, "DTSTAMP:20260101T000000Z",
                    self.when("RECURRENCE-ID", at, zone, day, ";RANGE=THISANDFUTURE" if following else ""), self.when("DTSTART", moved, zone, day), self.when("DTEND", moved + (length or dt.timedelta(minutes=20)), zone, day)]
            self.lines += over + ([] if following else self.props()) + ["END:VEVENT"]

    def expected(self):
        zone = zoneinfo.ZoneInfo(self.business)
        begin, end = self.first.replace(tzinfo=dt.timezone.utc), self.last.replace(tzinfo=dt.timezone.utc)
        cal = icalendar.Calendar.from_ical(self.plain)
        spans = []
        for e in recurring_ical_events.of(cal, skip_bad_series=False).between(begin - dt.timedelta(days=3), end + dt.timedelta(days=3)):
            if not takes(e):
                continue
            a, b = (seconds(e[n].dt, zone) for n in ("DTSTART", "DTEND"))
            if b <= a:  # it lies in an hour that is skipped
                b = a + int((e["DTEND"].dt - e["DTSTART"].dt).total_seconds())
            if a < b and a < end.timestamp() and begin.timestamp() < b:
                spans.append([a, b])
        spans.sort()
        out = []
        for s in spans:
            if out and s[0] <= out[-1][1]:
                out[-1][1] = max(out[-1][1], s[1])
            else:
                out.append(s)
        return out


def seconds(t, zone):
    if not isinstance(t, dt.datetime):
        t = dt.datetime(t.year, t.month, t.day)
    if t.tzinfo is None:
        t = t.replace(tzinfo=zone)
    return int(t.timestamp())


def takes(e):
    if str(e.get("STATUS", "")).upper() == "CANCELLED":
        return False
    attendees = e.get("ATTENDEE", [])
    for a in attendees if isinstance(attendees, list) else [attendees]:
        if str(a).lower() == "mailto:" + PERSON and a.params.get("PARTSTAT") == "DECLINED":
            return False
    if "TRANSP" in e:
        return str(e["TRANSP"]) != "TRANSPARENT"
    return str(e.get("X-MICROSOFT-CDO-BUSYSTATUS", "")) not in ("FREE", "WORKINGELSEWHERE")


def main(count, seed):
    for n in range(count):
        case = Case(random.Random(f"{seed}/{n}"))
        print(json.dumps({"name": f"{seed}/{n}", "file": case.text, "from": case.first.isoformat() + "Z", "to": case.last.isoformat() + "Z",
                          "zone": case.business, "address": PERSON, "busy": case.expected()}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
