package definition

import (
	"slices"
	"strings"
	"unicode"
)

// What those who send spam write, as whole words in lower case without punctuation. One alone is nothing: a client may ask for any of them.
var (
	// shady are trades that live from such mails.
	shady = []string{"casino", "casinos", "free spins", "slot machines", "jackpot", "betting", "sportsbook", "poker", "gokken", "wedden", "viagra", "cialis", "kamagra", "levitra",
		"potenzmittel", "pills", "pilules", "pharmacy", "without prescription", "sans ordonnance", "zonder recept", "ohne rezept", "porn", "porno", "xxx", "escort", "escorts", "nudes", "sexy",
		"hot singles", "lonely women", "adult dating", "bitcoin", "btc", "crypto", "cryptocurrency", "kryptowährung", "ethereum", "airdrop", "forex", "binary options", "trading bot",
		"payday", "replica", "replicas", "rolex", "weight loss", "lose weight", "perte de poids", "keto", "hacked", "your webcam", "ransom", "казино", "ставки", "биткоин", "виагра", "кредит"}
	// trade is what is sold to businesses that way, and what their clients may ask for as well: it counts twice at most.
	trade = []string{"seo", "backlink", "backlinks", "guest post", "guest posts", "link building", "domain authority", "da 50", "first page", "page one", "top of google", "google ranking",
		"google rankings", "rankings", "organic traffic", "website traffic", "web traffic", "traffic", "followers", "likes", "leads", "explainer video", "web design", "webdesign", "mobile app",
		"email list", "email lists", "loan", "loans", "lening", "prêt", "kredit", "funding", "investment", "passive income", "earn money", "make money", "geld verdienen", "gagner de l argent",
		"gift card", "prize", "chatgpt", "ai tool", "sponsored", "promotion", "продвижение", "заработок"}
	// offer is how it is offered.
	offer = []string{"your website", "your site", "your web site", "your business", "your ranking", "your rankings", "your company", "uw website", "je website", "votre site", "ihre website",
		"we offer", "we provide", "we can help", "we help", "our services", "our service", "our team", "our agency", "our platform", "our offer", "wij bieden", "nous proposons", "wir bieten",
		"guaranteed", "guarantee", "garanti", "gegarandeerd", "garantiert", "limited time", "act now", "order now", "buy now", "cheap", "cheapest", "best price", "best prices",
		"low price", "discounts", "bonus", "free trial", "free quote", "free audit", "click here", "klik hier", "cliquez ici", "hier klicken", "sign up", "register now", "join now",
		"unsubscribe", "opt out", "reply stop", "telegram", "dear sir", "dear webmaster", "dear owner", "in one week",
		"skyrocket", "congratulations", "winner", "no risk", "risk free", "instantly", "approved", "buy online", "заказать", "бесплатно", "купить", "гарантия"}
)

// enough is how many points make a pitch: words of an offer count one each, a trade one each and two at most, a shady one two each.
const enough = 3

// pitch gives the words by which a text in lower case sells what spam sells; nil for a text that does not.
func pitch(text string) (words []string) {
	padded := " " + strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ") + " "
	in := func(list []string) (found []string) {
		for _, word := range list {
			if strings.Contains(padded, " "+word+" ") {
				found = append(found, word)
			}
		}
		return found
	}
	dark, sold := in(shady), in(trade)
	if len(dark)+len(sold) == 0 {
		return nil
	}
	offered := in(offer)
	// Of two shady trades one word of an offer makes a pitch, of others two.
	if 2*len(dark)+min(len(sold), 2)+len(offered) < enough || len(offered) == 0 || len(dark) < 2 && len(offered) < 2 {
		return nil
	}
	return slices.Concat(dark, sold, offered)
}
