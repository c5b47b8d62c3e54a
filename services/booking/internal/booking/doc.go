// Package booking is the service that owns bookable services, the hours and time off of the team,
// appointments and the public side of booking.
//
// Locks are taken in one order: the row of the catalog, the address of a client who books, the contact, rows of services and
// appointments by id ascending, then the calendars of staff members. A calendar is an advisory lock: whoever holds
// it may decide, with the predicate of package slots, that a time is free, and write the appointment
// that takes it. Whoever stores the times that a connected calendar takes holds the person's calendar first, then its row. The exclusion constraint of the table stands behind that decision. Triggers count the catalog's
// revision up at the end of a transaction, so whoever changes the catalog while holding a calendar locks its row first.
//
// Reads: service, skill, staff, exception, appointment, settings.
//
// # Floors
//
// From the ground up. A package uses only those that stand before it.
//
//   - slots: the arithmetic of time
//   - busy: which times a calendar of another program takes
//   - caldav: a client of calendar servers
//   - clients: who books, as contacts has them
//   - staff: the team's names, weekly hours, and who does what
//   - services: what can be booked, the settings, and what the details step asks
//   - appointments: what is booked, and the links to it
//   - notices: what the team is told
//   - mails: what clients get
//   - life: status, note and place of appointments, reminders, requests that expire
//   - calendar: closures and time off, and the team's time at a glance
//   - feed: the addresses at which people's own calendars read their appointments
//   - times: which times are free, and holding one
//   - bookings: booking, moving, and what clients do behind their link
//   - calendars: the calendars of other programs that people have connected, and the times that they take
//   - outgoing: the appointments in calendars that people have chosen for them, on servers of others
//   - team: the people of the team, and handing over
//   - widget/web: the pages, and the widget's source
//   - widget: where the widget stands
//
// # Across rooms
//
//   - catalog by service, trigger: the revision counts up at the end of the transaction
//   - catalog by skill, trigger: likewise
//   - catalog by staff, trigger: likewise
//   - catalog by exception, trigger: likewise
//   - catalog by settings, trigger: likewise
//   - catalog by form, trigger: likewise
//   - catalog by external_calendar, trigger: likewise, for who has connected one
//   - outgoing by appointment, trigger: whichever code changes an appointment, its event in somebody's own calendar is looked at again
//   - outgoing by external_calendar, trigger: what is coming goes into the calendar that is chosen for it, and out of one that is not any more
//   - outgoing_account by external_calendar, trigger: the account is kept until that is done
package booking
