package definition

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/form"
)

func answers(t *testing.T, elements string, values map[string]any) form.Answers {
	t.Helper()
	var list []form.Element
	require.NoError(t, json.Unmarshal([]byte("["+elements+"]"), &list))
	a, err := form.Check(form.Ask(list, siteFields), values)
	require.NoError(t, err, values)
	return a
}

func TestSpam(t *testing.T) {
	t.Parallel()
	const elements = `{"id":"first","type":"field","target":"contact.first_name"},{"id":"last","type":"field","target":"contact.last_name"},
		{"id":"org","type":"field","target":"organization.name"},{"id":"story","type":"field","target":"submission.fields.story"},
		{"id":"free","type":"field","target":"submission.fields.free"},{"id":"gone","type":"field","target":"contact.fields.old"}`
	for _, c := range []struct{ field, text, reason string }{
		{"story", "See https://a.example, http://b.example and www.c.example", spamLinks},
		{"story", "HTTPS://a.example HTTPS://b.example HTTPS://c.example", spamLinks},
		{"story", "See https://www.a.example and https://www.b.example", ""},
		{"story", `<A HREF="https://a.example">x</A>`, spamMarkup},
		{"story", "<a\nclass=x\nhref=y>", spamMarkup},
		{"story", "[URL=https://a.example]x[/URL]", spamMarkup},
		{"free", "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X", spamTest},
		{"first", "Win www.a.example", spamName},
		{"last", "http://a.example", spamName},
		{"story", "An honest question about a<b and awww...", ""},
		{"org", "www.acme.example", ""},
		{"story", "pills.example, casino.example and then win.example/now", ""},
		{"story", "Go to Spam.com or shop.co.uk, else bücher.de", ""},
		{"story", "//a.example/x //b/y (//c)", spamLinks},
		{"story", "https://a.example,https://b.example,https://c.example", spamLinks},
		{"story", "ftp://a telnet://b whatever://c", spamLinks},
		{"story", "<a/href=//a.example>x</a>", spamMarkup},
		{"gone", "//pills.example //casino.example //win.example", spamLinks},
		{"gone", `<a href="https://a.example">x</a>`, spamMarkup},
		{"first", "spam.com", spamName},
		{"last", "visit cheap-pills.example now", spamName},
		{"last", "//spam", spamName},
		{"story", "Mail ann@example.com, bob@example.com, and cas@example.org.", ""},
		{"story", "See plan.pdf, photo.jpg and notes.txt, i.e. e.g. and/or 1//2. Thanks.Bye.So long", ""},
		{"first", "Dr.med. Anna", ""},
		{"first", "Dipl.Ing. Anna", ""},
		{"last", "J.de Vries", ""},
		{"last", "St.John", ""},
	} {
		t.Run(c.field+" "+c.text, func(t *testing.T) {
			t.Parallel()
			values := map[string]any{"free": "x"}
			values[c.field] = c.text
			rule, _, _ := strings.Cut(Spam(answers(t, elements, values)), ": ")
			require.Equal(t, c.reason, rule)
		})
	}
	links := "https://a.example https://b.example"
	require.Empty(t, Spam(answers(t, elements, map[string]any{"story": links, "free": links})), "two links in each of two answers are no sign")
}

// typed is the answer to a long text.
func typed(text string) form.Answers {
	return form.Answers{Lines: []form.Line{{Kind: form.KindLongText, Text: text}}}
}

func TestAPlainMessageIsNoSpam(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Hallo.Ik wil graag een afspraak.De beste dag is dinsdag.In de namiddag.Is dat ok.Me bellen mag.",
		"Hi.My car is broken.Is there a slot.Me and my wife can come.So please call.To confirm.",
		"See offerte.doc, plan.dwg, foto.jpg and readme.md, script.py, notes.app in my mail.",
		"I bought it at bol.com, coolblue.nl or zalando.be",
		"Works at Booking.com, Salesforce.com, and Monday.com",
		"Kind regards\nAn Peeters\nwww.example.be\nfacebook.com/anpeeters\nlinkedin.com/in/anpeeters\ninstagram.com/an.peeters",
		"Ik zag het op marktplaats.nl, 2dehands.be en vinted.be.Kan ik langskomen",
		"Unser Shop: musterfirma.de, musterfirma.at, musterfirma.ch. Bitte rufen Sie an.",
		"Bonjour.Je voudrais un rendez-vous.Le matin.De préférence mardi.Merci.A bientôt",
		"We are at Dorpsstraat 1.In the P.O.Box 12.No.3 is next.To the left.",
		"My addresses are an@example.com, an@example.org, an@example.net and an@example.be",
		"I run shop.example.be and would like SEO. What do backlinks and a first page ranking cost per month? Do you also do web design?",
		"Do you accept bitcoin? I want to buy a gift card for my sister, I found you on google.com.",
		"We zoeken een casino-avond met poker voor 40 man, zie onze site feest.be. Wat is de prijs per persoon?",
		"The specialist at uzgent.be said that I need physiotherapy three times a week. Can I claim it back from cm.be?",
		"https://maps.example/abc is where we are, and https://shop.example/order/17 is what we ordered. Your website says you repair these.",
		"Your website says free delivery above 50 euro. Is that also for Antwerpen? I ordered at shop.be yesterday.",
	} {
		require.Empty(t, Spam(typed(text)), text)
	}
}

func TestAdvertsAreCaughtAndTheirWordsNamed(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Hello, I can put your website on the first page of Google. SEO and backlinks, guaranteed. rank-fast.example",
		"Dear Sir, we provide organic traffic to your website, cheapest in the market: trafficbay.example/buy",
		"We offer guest posts on sites with domain authority 50+. Our services: guestposts.example",
		"Our team does link building. Free audit of your site today at linkmen.example",
		"Explainer video for your business, limited time discount: https://videos.example",
		"Increase your rankings and website traffic, act now www.seo-max.example",
		"Hi! We help to get leads for your company. Email lists of 2 million firms, best price. leads4u.example",
		"10,000 real Instagram followers and likes, instantly and guaranteed: igboost.example",
		"Web design for your business from 99 dollar. Our agency is the cheapest. Reply STOP to opt out. pixelhut.example",
		"We can help with a mobile app and chatgpt for your business, free quote at appmakers.example",
		"Best online casino, 200 free spins and a bonus for new players: luckyreels.example",
		"CASINO BONUS!!! Jackpot every day, sign up: https://spinwin.example",
		"Sportsbook and betting with a bonus of 100%. bet365x.example",
		"Viagra and Cialis without prescription, buy online rx-pills.example",
		"Cheap pills from a Canadian pharmacy, order now www.meds.example",
		"Kamagra zonder recept, gegarandeerd discreet: pillenhuis.example",
		"Potenzmittel ohne Rezept, garantiert in 24 Stunden: apo24.example",
		"Viagra sans ordonnance, garanti: pharmacie-rapide.example",
		"Earn money with bitcoin, guaranteed passive income, no risk: coin-mill.example",
		"Crypto trading bot makes 3% a day, risk free. Join now t.me/xcoins or xcoins.example",
		"Airdrop! Claim your ethereum, register now https://drop.example",
		"Forex and binary options, free trial: fxking.example",
		"Congratulations winner! Your gift card prize is waiting, click here https://win.example",
		"Hot singles and lonely women near you, sign up free: meetnow.example",
		"XXX nudes, adult dating, join now //hot.example",
		"Replica Rolex, best prices, rolexcopy.example",
		"I hacked your webcam. Pay the ransom in BTC: act now, wallet at http://pay.example",
		"Lose weight with keto, limited time offer, order now ketoslim.example",
		"Business loan approved instantly, funding without papers: quickcash.example",
		"Geld verdienen mit Bitcoin, garantiert. Hier klicken: muenze.example",
		"Gagner de l'argent avec crypto, garanti, cliquez ici argent.example",
		"Online gokken met bonus, wedden op sport, klik hier goktop.example",
		"Казино и ставки, бесплатно: kazino.example",
		"Продвижение сайта, заработок, гарантия, заказать: seo.example",
	} {
		require.Regexp(t, `^advert: .+, .+`, Spam(typed(text)), text)
	}
	require.Equal(t, "advert: casino, free spins, bonus", Spam(typed("A casino: 9 free\nspins, bonus. a.example")))
}

func TestTheReasonNamesTheLinks(t *testing.T) {
	t.Parallel()
	for text, reason := range map[string]string{
		"Look https://a.example https://b.example https://c.example":                                     "links: //a.example, //b.example, //c.example",
		"http://cheap.example/1\nhttp://cheap.example/2\nhttp://cheap.example/3\nhttp://cheap.example/4": "links: //cheap.example, //cheap.example, //cheap.example, //cheap.example",
		"www.one.example www.two.example www.three.example":                                              "links: www.one.example, www.two.example, www.three.example",
		"[url=https://pills.example]buy pills[/url]":                                                     "link_markup: [url",
		"[LINK=http://x.example]here[/LINK]":                                                             "link_markup: [link=",
		"Nice site! <a href=\"https://x.example\">my page</a>":                                           "link_markup: <a href",
	} {
		require.Equal(t, reason, Spam(typed(text)))
	}
	require.Equal(t, "link_in_name: win www.a.example", Spam(form.Answers{Lines: []form.Line{{Target: form.TargetFirstName, Text: "Win\nwww.a.example"}}}))
	require.Len(t, Spam(typed(strings.Repeat("https://a.example ", 100))), maxReason)
}

func TestTheFormsOwnWordsAreNoSpam(t *testing.T) {
	t.Parallel()
	const words = "See https://a.example https://b.example https://c.example"
	require.Empty(t, Spam(answers(t, `{"id":"n","type":"field","target":"contact.last_name"},{"id":"c","type":"consent","text":"`+words+`"}`, map[string]any{"n": "x", "c": true})))
	require.Empty(t, Spam(answers(t, `{"id":"shop","type":"field","target":"submission.fields.shop","options":["`+words+`"]}`, map[string]any{"shop": words})))
}

func BenchmarkSpam(b *testing.B) {
	text := strings.Repeat("Good morning, I would like to know more. ", 5)
	a := form.Answers{Lines: []form.Line{{Target: form.TargetEmail, Kind: form.KindEmail, Text: "v0000001.12345678@example.com"}, {Kind: form.KindLongText, Text: text}}}
	b.ReportAllocs()
	for b.Loop() {
		Spam(a)
	}
}
