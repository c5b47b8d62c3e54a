package person

import "strings"

// The most words that one legal form is written with.
const longestForm = 6

// Legal forms as fold writes them, without spaces, by the country that has them. They are looked for at the
// end of a name.
var legalForms = set(`
	nv sa bv srl bvba sprl ebvba sprlu cv sc cvba scrl cvoa scri cvso scrlfs vof snc commv scomm gcv scs commva sca
	vzw asbl vog ivzw aisbl esv gie eesv geie maatschap coop
	beslotenvennootschap naamlozevennootschap societeanonyme societearesponsabilitelimitee commanditairevennootschap
	vennootschaponderfirma beslotenvennootschapmetbeperkteaansprakelijkheid verenigingzonderwinstoogmerk
	associationsansbutlucratif

	bvio coopua ua cooperatie cooperatieua stichting vereniging eenmanszaak

	sas sasu sarl sarlu eurl sci scop scp scm scea earl gaec selarl selas selafa selca ei eirl societeparactionssimplifiee

	gmbh ggmbh mbh gmbhcokg gmbhundcokg gmbhcokgaa gmbhcoohg agcokg agundcokg ugcokg secokg secokgaa agcokgaa cokg
	ug ughaftungsbeschrankt haftungsbeschrankt ag kg kgaa ohg gbr gesbr ek ekfm ekfr ev eg se partg partgmbb partmbb
	gesellschaftmitbeschrankterhaftung aktiengesellschaft kommanditgesellschaft offenehandelsgesellschaft
	eingetragenerkaufmann eingetragenekauffrau eingetragenerverein eingetragenegenossenschaft

	gesmbh gesmbhcokg og keg oeg eu flexco flexkapg flexiblekapitalgesellschaft offenegesellschaft

	sagl klg kmg genossenschaft kollektivgesellschaft societecooperative

	ltd limited plc llp lp cic cio unlimited unltd publiclimitedcompany limitedliabilitypartnership
	communityinterestcompany

	inc incorporated llc corp corporation spa srls sl slu aps as ab oy oyj
`)

// Forms that are also put first; few, since a name may well begin with such letters.
var leadingForms = strings.Fields(`
	nv bv bvba sprl srl vof vzw asbl cvba scrl sa sas sasu sarl eurl sci snc scop scp selarl earl gaec gie
	stichting vereniging cooperatie coop societeanonyme naamlozevennootschap beslotenvennootschap
`)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}
