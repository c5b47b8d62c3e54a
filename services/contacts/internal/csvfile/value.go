package csvfile

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Address is the address in a cell: the first of several, without a name around it. A cell without any stays as it is.
func Address(cell string) string {
	cell = first(cell)
	if _, rest, ok := strings.Cut(cell, "<"); ok && strings.HasSuffix(rest, ">") {
		cell = strings.TrimSuffix(rest, ">")
	}
	cell = strings.TrimPrefix(cell, "mailto:")
	if !isAddress(cell) {
		for part := range strings.FieldsFuncSeq(cell, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;|/<>()", r) }) {
			if part = strings.TrimSuffix(strings.TrimPrefix(part, "mailto:"), "."); isAddress(part) {
				return part
			}
		}
	}
	return cell
}

// scientific is how a spreadsheet shows a long number that it took for a quantity.
var scientific = regexp.MustCompile(`^[+-]?[0-9]+([.,][0-9]+)?[eE]\+?[0-9]+$`)

// between may stand between two telephone numbers. A slash without blanks stands inside one.
var between = regexp.MustCompile(`[,;|\n]| / `)

// digitsOf is how many digits s has.
func digitsOf(s string) int {
	return len(s) - len(strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, s))
}

// PhoneNumber is the telephone number in a cell: the first of several, without the apostrophe that keeps its zero. ok is false if a
// spreadsheet has taken digits away.
func PhoneNumber(cell string) (number string, ok bool) {
	number = strings.TrimPrefix(strings.TrimPrefix(first(cell), "'"), "tel:")
	if scientific.MatchString(number) {
		return number, false
	}
	for _, at := range between.FindAllStringIndex(number, -1) {
		if digitsOf(number[:at[0]]) >= 6 && digitsOf(number[at[1]:]) >= 6 {
			return strings.TrimSpace(number[:at[0]]), true
		}
	}
	return number, true
}

// pointCountries write a decimal point and a comma between thousands; the others of the product write it the other way round.
var pointCountries = map[string]bool{"GB": true, "IE": true, "US": true, "CH": true, "LI": true, "AU": true, "NZ": true, "CA": true, "MT": true, "IN": true}

// grouped is a number with one kind of separator, which may stand between thousands.
var (
	grouped  = regexp.MustCompile(`^[+-]?[1-9][0-9]{0,2}([.,][0-9]{3})+$`)
	swiss    = regexp.MustCompile(`^[+-]?[0-9]{1,3}('[0-9]{3})+([.,][0-9]+)?$`)
	currency = strings.NewReplacer("€", "", "$", "", "£", "", "EUR", "", "CHF", "", "GBP", "", "USD", "", "−", "-", "’", "'")
)

// Decimal is the number in a cell in the spelling of programs, written as in a country: 1.234,50 and 1 234,50 are 1234.50. ok is false if the cell
// holds no number, or if its separator may stand between thousands or before decimals: 1,234 where the comma is the country's decimal sign may
// come from an English sheet.
func Decimal(cell, country string) (number string, ok bool) {
	s := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, currency.Replace(cell))
	if swiss.MatchString(s) {
		s = strings.ReplaceAll(s, "'", "")
	}
	point, comma := strings.Count(s, "."), strings.Count(s, ",")
	decimal := ","
	if pointCountries[country] {
		decimal = "."
	}
	switch {
	case point > 0 && comma > 0:
		// The last one is the decimal sign, and the other one stands between thousands.
		decimal = "."
		if strings.LastIndex(s, ",") > strings.LastIndex(s, ".") {
			decimal = ","
		}
		whole, rest, _ := strings.Cut(s, decimal)
		if strings.Count(s, decimal) > 1 || !grouped.MatchString(whole) {
			return s, false
		}
		s = strings.NewReplacer(".", "", ",", "").Replace(whole) + "." + rest
	case point+comma > 1:
		if !grouped.MatchString(s) {
			return s, false
		}
		s = strings.NewReplacer(".", "", ",", "").Replace(s)
	case grouped.MatchString(s):
		if strings.Contains(s, decimal) {
			return s, false
		}
		s = strings.NewReplacer(".", "", ",", "").Replace(s)
	default:
		s = strings.Replace(s, ",", ".", 1)
	}
	return s, true
}

var (
	months   = map[string]time.Month{}
	weekdays = map[string]bool{}
)

func init() {
	for i, list := range []string{
		"january januari janvier januar janner jan janv jaen", "february februari fevrier februar feb fevr fev febr", "march maart mars marz mar mrt maerz mrz",
		"april avril apr avr", "may mei mai", "june juni juin jun", "july juli juillet jul juil", "august augustus aout aug", "september septembre sep sept",
		"october oktober octobre oct okt", "november novembre nov", "december dezember decembre dec dez",
	} {
		for name := range strings.FieldsSeq(list) {
			months[name] = time.Month(i + 1)
		}
	}
	// Long dates of spreadsheets begin with one.
	for name := range strings.FieldsSeq(`monday maandag lundi montag mon ma lun mo tuesday dinsdag mardi dienstag tue di mar wednesday woensdag mercredi mittwoch wed wo mer mi
		thursday donderdag jeudi donnerstag thu do jeu friday vrijdag vendredi freitag fri vr ven fr saturday zaterdag samedi samstag sonnabend sat za sam sa
		sunday zondag dimanche sonntag sun zo dim so`) {
		weekdays[name] = true
	}
}

var (
	clock   = regexp.MustCompile(`(?i)[ t,]+[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?( ?[ap]m)?( ?(z|utc|gmt|[+-][0-9]{2}:?[0-9]{2}))?$`)
	numeric = regexp.MustCompile(`^([0-9]{1,4})([-/. ]+)([0-9]{1,2})([-/. ]+)([0-9]{1,4})\.?$`)
	ordinal = regexp.MustCompile(`([0-9])(st|nd|rd|th|er|e)\b`)
)

// Date is the day in a cell as 2026-12-31: with the year first or last, with or without a time, with a month in words, or as the number of days
// that Excel counts. A day that two readings fit is read as the country writes it. ok is false if the cell is no day.
func Date(cell, country string) (day string, ok bool) {
	s := strings.TrimSpace(clock.ReplaceAllString(strings.TrimSpace(cell), ""))
	if m := numeric.FindStringSubmatch(s); m != nil {
		a, _ := strconv.Atoi(m[1])
		b, _ := strconv.Atoi(m[3])
		c, _ := strconv.Atoi(m[5])
		switch {
		case len(m[1]) == 4 && len(m[5]) <= 2:
			return date(a, b, c)
		case len(m[1]) > 2 || len(m[5]) != 2 && len(m[5]) != 4:
			return "", false
		}
		c = fullYear(c, len(m[5]))
		monthFirst := country == "US" && strings.TrimSpace(m[2]) != "."
		if monthFirst && a <= 12 || b > 12 {
			a, b = b, a
		}
		return date(c, b, a)
	}
	if isDigits(s) && s != "" {
		n, _ := strconv.Atoi(s)
		switch len(s) {
		case 8:
			return date(n/10000, n/100%100, n%100)
		case 5:
			return time.Date(1899, 12, 30+n, 0, 0, 0, 0, time.UTC).Format(time.DateOnly), true
		}
		return "", false
	}
	if whole, part, found := strings.Cut(strings.Replace(s, ",", ".", 1), "."); found && len(whole) == 5 && isDigits(whole) && isDigits(part) {
		return Date(whole, country)
	}
	return writtenDate(s)
}

// writtenDate is a day with its month in words.
func writtenDate(s string) (day string, ok bool) {
	var month time.Month
	var numbers []string
	for i, word := range strings.Fields(ordinal.ReplaceAllString(plain(s), "$1")) {
		switch {
		case i == 0 && weekdays[word]:
		case isDigits(word):
			numbers = append(numbers, word)
		case months[word] != 0 && month == 0:
			month = months[word]
		default:
			return "", false
		}
	}
	if month == 0 || len(numbers) != 2 {
		return "", false
	}
	if len(numbers[0]) == 4 {
		numbers[0], numbers[1] = numbers[1], numbers[0]
	}
	if len(numbers[0]) > 2 || len(numbers[1]) != 2 && len(numbers[1]) != 4 {
		return "", false
	}
	d, _ := strconv.Atoi(numbers[0])
	y, _ := strconv.Atoi(numbers[1])
	return date(fullYear(y, len(numbers[1])), int(month), d)
}

// fullYear is the year that Excel reads in two digits.
func fullYear(year, digits int) int {
	switch {
	case digits != 2:
		return year
	case year < 30:
		return 2000 + year
	}
	return 1900 + year
}

func date(year, month, day int) (string, bool) {
	d := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return d.Format(time.DateOnly), year > 0 && year < 10000 && d.Month() == time.Month(month) && d.Day() == day
}
