package calendar

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/lang"
)

func TestPublicHolidaysAreThoseOfTheRegion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		region, language string
		year             int
		days             []string
	}{
		{"BE", "fr", 2027, []string{"2027-01-01 Jour de l'an", "2027-03-29 Lundi de Pâques", "2027-05-01 Fête du Travail", "2027-05-06 Ascension", "2027-05-17 Lundi de Pentecôte",
			"2027-07-21 Fête nationale", "2027-08-15 Assomption", "2027-11-01 Toussaint", "2027-11-11 Armistice 1918", "2027-12-25 Noël"}},
		{"CH", "de", 2027, []string{"2027-01-01 Neujahr", "2027-05-06 Christi Himmelfahrt", "2027-08-01 Bundesfeiertag", "2027-12-25 Weihnachten"}},
		{"GB", "en", 2028, []string{"2028-01-03 New Year's Day", "2028-04-14 Good Friday", "2028-04-17 Easter Monday", "2028-05-01 Early May", "2028-05-29 Spring Bank Holiday",
			"2028-08-28 Summer Bank Holiday", "2028-12-25 Christmas Day", "2028-12-26 Boxing Day"}},
	} {
		var days []string
		for _, h := range holidaysOf(c.region, c.year, c.language) {
			days = append(days, h.day.String()+" "+h.name)
		}
		require.Equal(t, c.days, days, c.region)
	}
	bavaria := holidaysOf("DE-BY", 2027, "de")
	require.Contains(t, bavaria, holiday{bavaria[0].day + 5, "Heilige Drei Könige"})
	require.Greater(t, len(bavaria), len(holidaysOf("DE", 2027, "de")))
	require.Len(t, holidaysOf("FR", 2008, "fr"), 10, "Ascension was on the first of May")
}

func TestEveryHolidayHasANameInEachLanguage(t *testing.T) {
	t.Parallel()
	for key, names := range sharedNames {
		for _, language := range lang.Languages {
			require.NotEmpty(t, names[language], "%s in %s", key, language)
		}
	}
}

func TestHolidaysAreAddedOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	admin := s.As("site_admin")
	require.Contains(t, admin.Post("/closures/holidays", object{"year": 2027}).Fails(400, "svc_invalid_param").Field("data.params"), "region")
	s.SetSite("general", object{"country": "BE"})
	admin.Post("/closures", object{"date_from": "2027-07-19", "date_to": "2027-07-30", "label": "Summer"}).Is(201)
	added := admin.Post("/closures/holidays", object{"year": 2027}).Is(200)
	require.Len(t, added.Field("items"), 9, "the business is closed on the national day already")
	require.Equal(t, []any{"2027-01-01", "Nieuwjaarsdag"}, []any{added.Text("items.0.date_from"), added.Text("items.0.label")})
	require.EqualValues(t, 1, added.Field("closed"))
	again := admin.Post("/closures/holidays", object{"year": 2027, "region": "DE", "language": "en"}).Is(200)
	require.Equal(t, []any{"2027-03-26", "Good Friday"}, []any{again.Text("items.0.date_from"), again.Text("items.0.label")})
	require.Len(t, again.Field("items"), 3, "others than Belgium's")
	require.Empty(t, admin.Post("/closures/holidays", object{"year": 2027, "region": "BE"}).Is(200).Field("items"))
	s.As("staff").Post("/closures/holidays", object{"year": 2028}).Fails(403, "svc_forbidden")
}
