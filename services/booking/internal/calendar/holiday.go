package calendar

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/rickar/cal/v2"
	"github.com/rickar/cal/v2/at"
	"github.com/rickar/cal/v2/be"
	"github.com/rickar/cal/v2/ch"
	"github.com/rickar/cal/v2/de"
	"github.com/rickar/cal/v2/fr"
	"github.com/rickar/cal/v2/gb"
	"github.com/rickar/cal/v2/nl"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/lang"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/slots"
	"frontdesk/services/booking/internal/staff"
)

// holidaysIn are the public holidays by country and, where they differ inside of it, by state or canton (ISO 3166-2). Those of Switzerland are the
// ones that all cantons have; those of the United Kingdom are the bank holidays of England and Wales.
var holidaysIn = map[string][]*cal.Holiday{
	"BE": be.Holidays, "NL": nl.Holidays, "FR": fr.Holidays, "GB": gb.Holidays, "AT": at.Holidays, "DE": de.Holidays,
	"CH":    {ch.Neujahr, ch.Auffahrt, ch.Bundesfeiertag, ch.Weihnachtstag},
	"DE-BW": de.HolidaysBW,
	"DE-BY": de.HolidaysBY,
	"DE-BE": de.HolidaysBE,
	"DE-BB": de.HolidaysBB,
	"DE-HB": de.HolidaysHB,
	"DE-HH": de.HolidaysHH,
	"DE-HE": de.HolidaysHE,
	"DE-MV": de.HolidaysMV,
	"DE-NI": de.HolidaysNI,
	"DE-NW": de.HolidaysNW,
	"DE-RP": de.HolidaysRP,
	"DE-SL": de.HolidaysSL,
	"DE-SN": de.HolidaysSN,
	"DE-ST": de.HolidaysST,
	"DE-SH": de.HolidaysSH,
	"DE-TH": de.HolidaysTH,
	"CH-ZH": ch.HolidaysZH,
	"CH-BE": ch.HolidaysBE,
	"CH-LU": ch.HolidaysLU,
	"CH-UR": ch.HolidaysUR,
	"CH-SZ": ch.HolidaysSZ,
	"CH-OW": ch.HolidaysOW,
	"CH-NW": ch.HolidaysNW,
	"CH-GL": ch.HolidaysGL,
	"CH-ZG": ch.HolidaysZG,
	"CH-FR": ch.HolidaysFR,
	"CH-SO": ch.HolidaysSO,
	"CH-BS": ch.HolidaysBS,
	"CH-BL": ch.HolidaysBL,
	"CH-SH": ch.HolidaysSH,
	"CH-AR": ch.HolidaysAR,
	"CH-AI": ch.HolidaysAI,
	"CH-SG": ch.HolidaysSG,
	"CH-GR": ch.HolidaysGR,
	"CH-AG": ch.HolidaysAG,
	"CH-TG": ch.HolidaysTG,
	"CH-VD": ch.HolidaysVD,
	"CH-TI": ch.HolidaysTI,
	"CH-VS": ch.HolidaysVS,
	"CH-NE": ch.HolidaysNE,
	"CH-GE": ch.HolidaysGE,
	"CH-JU": ch.HolidaysJU,
}

// sharedNames are what several countries call a holiday in English, Dutch, French and German, by its date or its days after Easter. Others keep the
// name that their country gives them.
var sharedNames = map[string]map[string]string{
	"01-01":     {"en": "New Year's Day", "nl": "Nieuwjaarsdag", "fr": "Jour de l'an", "de": "Neujahr"},
	"01-02":     {"en": "Berchtold's Day", "nl": "Berchtoldsdag", "fr": "Saint-Berchtold", "de": "Berchtoldstag"},
	"01-06":     {"en": "Epiphany", "nl": "Driekoningen", "fr": "Épiphanie", "de": "Heilige Drei Könige"},
	"03-08":     {"en": "International Women's Day", "nl": "Internationale Vrouwendag", "fr": "Journée des femmes", "de": "Frauentag"},
	"03-19":     {"en": "Saint Joseph's Day", "nl": "Sint-Jozef", "fr": "Saint-Joseph", "de": "Josefstag"},
	"easter-2":  {"en": "Good Friday", "nl": "Goede Vrijdag", "fr": "Vendredi saint", "de": "Karfreitag"},
	"easter+1":  {"en": "Easter Monday", "nl": "Paasmaandag", "fr": "Lundi de Pâques", "de": "Ostermontag"},
	"04-27":     {"en": "King's Day", "nl": "Koningsdag", "fr": "Fête du Roi", "de": "Königstag"},
	"05-01":     {"en": "Labour Day", "nl": "Dag van de Arbeid", "fr": "Fête du Travail", "de": "Tag der Arbeit"},
	"05-05":     {"en": "Liberation Day", "nl": "Bevrijdingsdag", "fr": "Jour de la Libération", "de": "Befreiungstag"},
	"05-08":     {"en": "Victory Day", "nl": "Dag van de Overwinning", "fr": "Victoire 1945", "de": "Tag des Sieges"},
	"easter+39": {"en": "Ascension Day", "nl": "Hemelvaartsdag", "fr": "Ascension", "de": "Christi Himmelfahrt"},
	"easter+50": {"en": "Whit Monday", "nl": "Pinkstermaandag", "fr": "Lundi de Pentecôte", "de": "Pfingstmontag"},
	"easter+60": {"en": "Corpus Christi", "nl": "Sacramentsdag", "fr": "Fête-Dieu", "de": "Fronleichnam"},
	"07-14":     {"en": "Bastille Day", "nl": "Franse nationale feestdag", "fr": "Fête nationale", "de": "Französischer Nationalfeiertag"},
	"07-21":     {"en": "National Day", "nl": "Nationale feestdag", "fr": "Fête nationale", "de": "Nationalfeiertag"},
	"08-01":     {"en": "Swiss National Day", "nl": "Zwitserse nationale feestdag", "fr": "Fête nationale suisse", "de": "Bundesfeiertag"},
	"08-15":     {"en": "Assumption of Mary", "nl": "Onze-Lieve-Vrouw-Hemelvaart", "fr": "Assomption", "de": "Mariä Himmelfahrt"},
	"10-03":     {"en": "German Unity Day", "nl": "Dag van de Duitse eenheid", "fr": "Jour de l'unité allemande", "de": "Tag der Deutschen Einheit"},
	"10-26":     {"en": "National Day", "nl": "Nationale feestdag", "fr": "Fête nationale", "de": "Nationalfeiertag"},
	"10-31":     {"en": "Reformation Day", "nl": "Hervormingsdag", "fr": "Fête de la Réformation", "de": "Reformationstag"},
	"11-01":     {"en": "All Saints' Day", "nl": "Allerheiligen", "fr": "Toussaint", "de": "Allerheiligen"},
	"11-11":     {"en": "Armistice Day", "nl": "Wapenstilstand", "fr": "Armistice 1918", "de": "Waffenstillstand 1918"},
	"12-08":     {"en": "Immaculate Conception", "nl": "Onbevlekte Ontvangenis", "fr": "Immaculée Conception", "de": "Mariä Empfängnis"},
	"12-25":     {"en": "Christmas Day", "nl": "Kerstmis", "fr": "Noël", "de": "Weihnachten"},
	"12-26":     {"en": "Boxing Day", "nl": "Tweede kerstdag", "fr": "Saint-Étienne", "de": "Zweiter Weihnachtstag"},
}

func nameOf(h *cal.Holiday, language string) string {
	key := fmt.Sprintf("%02d-%02d", h.Month, h.Day)
	if h.Month == 0 {
		key = fmt.Sprintf("easter%+d", h.Offset)
	}
	return cmp.Or(sharedNames[key][language], h.Name)
}

// holiday is a day on which people of a country have off.
type holiday struct {
	day  slots.Day
	name string
}

// holidaysOf are the holidays of a region in a year, by day and no two on one: where a country makes up for one that falls on a weekend, the day
// that makes up for it.
func holidaysOf(region string, year int, language string) (all []holiday) {
	for _, h := range holidaysIn[region] {
		_, observed := h.Calc(year)
		if observed.IsZero() {
			continue
		}
		y, m, d := observed.Date()
		all = append(all, holiday{slots.DayOf(time.Date(y, m, d, 12, 0, 0, 0, time.UTC), time.UTC), nameOf(h, language)})
	}
	slices.SortStableFunc(all, func(a, b holiday) int { return int(a.day - b.day) })
	return slices.CompactFunc(all, func(a, b holiday) bool { return a.day == b.day })
}

type newHolidays struct {
	Year     int    `json:"year" required:"true" minimum:"2000" maximum:"2100" doc:"The calendar year."`
	Region   string `json:"region,omitempty" enum:"BE,NL,FR,GB,AT,DE,DE-BW,DE-BY,DE-BE,DE-BB,DE-HB,DE-HH,DE-HE,DE-MV,DE-NI,DE-NW,DE-RP,DE-SL,DE-SN,DE-ST,DE-SH,DE-TH,CH,CH-ZH,CH-BE,CH-LU,CH-UR,CH-SZ,CH-OW,CH-NW,CH-GL,CH-ZG,CH-FR,CH-SO,CH-BS,CH-BL,CH-SH,CH-AR,CH-AI,CH-SG,CH-GR,CH-AG,CH-TG,CH-VD,CH-TI,CH-VS,CH-NE,CH-GE,CH-JU" doc:"A country, or one of its states or cantons (ISO 3166-2); the country of the business when left out."`
	Language string `json:"language,omitempty" enum:"en,nl,fr,de" doc:"The language of the labels; that of the business's country when left out."`
}

// addedHolidays are the closures that a call has added.
type addedHolidays struct {
	Items  []exception `json:"items" doc:"The closures that were added, by day."`
	Closed int         `json:"closed" doc:"Holidays on which the business was closed already."`
}

// addHolidays closes the business on the public holidays of a year, except where it is closed all day already.
func (r *Room) addHolidays(ctx context.Context, tx *db.Tx, in newHolidays) (addedHolidays, error) {
	out := addedHolidays{Items: []exception{}}
	if !staff.IsManager(tx) {
		return out, fault.Forbidden(auth.ManageCRM)
	}
	site := struct {
		Country string `json:"country"`
	}{}
	r.Site.Read("general", &site)
	region := cmp.Or(in.Region, site.Country)
	if holidaysIn[region] == nil {
		return out, fault.Invalid("region", fault.Required())
	}
	found := holidaysOf(region, in.Year, cmp.Or(in.Language, lang.OfCountry(site.Country)))
	b := &pgx.Batch{}
	for _, h := range found {
		e := exception{ID: db.NewID(), DateFrom: h.day.String(), DateTo: h.day.String(), Type: "closed", Label: h.name, Appointments: []appointments.Touched{},
			rule: slots.Exception{From: h.day, To: h.day, Block: slots.AllDay}}
		b.Queue(`insert into exception (id, date_from, date_to, start_min, end_min, all_day, extra, label, created_at, holiday)
			select @id, @day::text::date, @day::text::date, @start, @end, true, false, @label, @now, true
			where not exists (select from exception where user_id is null and all_day and not extra and @day::text::date between date_from and date_to)
			on conflict (date_from) where holiday do nothing returning id`, db.Args{
			"id": e.ID, "day": e.DateFrom, "start": e.rule.Block.Start, "end": e.rule.Block.End, "label": e.Label, "now": tx.Now}).Query(func(rows pgx.Rows) error {
			added, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
			if len(added) == 1 {
				out.Items = append(out.Items, e)
			}
			return err
		})
	}
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return out, fmt.Errorf("add holidays of %s in %d: %w", region, in.Year, err)
	}
	for _, e := range out.Items {
		tx.TakeBack("remove-time-off", map[string]any{"id": e.ID})
	}
	out.Closed = len(found) - len(out.Items)
	return out, r.addTouched(ctx, tx, out.Items)
}
