package directory

// A mark says of a text that it has a certain byte, or one of certain pairs of bytes. Texts that lack a mark of
// a word need not be looked at, and a word of one byte is found by its mark alone.
const (
	byteMarks = 64
	pairMarks = 128
	allMarks  = byteMarks + pairMarks
)

// Letters, digits and what addresses are made of have a mark of their own, all others share.
const (
	ownMarks  = "abcdefghijklmnopqrstuvwxyz0123456789@.-+_ "
	sharedOne = len(ownMarks)
)

var markOf = func() (of [256]uint8) {
	for b := range of {
		of[b] = uint8(sharedOne + b%(byteMarks-sharedOne))
	}
	for i := range len(ownMarks) {
		of[ownMarks[i]] = uint8(i)
	}
	return of
}()

func pairMark(a, b byte) int { return byteMarks + (int(a)*37+int(b)*11)%pairMarks }

// mark sets the marks of record i, of n.
func mark(marks []uint64, text string, i, n int) {
	words, bit, at := (n+63)/64, uint64(1)<<(i%64), i/64
	for j := range len(text) {
		marks[int(markOf[text[j]])*words+at] |= bit
		if j > 0 {
			marks[pairMark(text[j-1], text[j])*words+at] |= bit
		}
	}
}

// marksOf are the marks that a text with the word must have. With exact they are enough.
func marksOf(word string) (marks []int, exact bool) {
	for i := range len(word) - 1 {
		marks = append(marks, pairMark(word[i], word[i+1]))
	}
	if len(word) == 1 {
		marks = []int{int(markOf[word[0]])}
		exact = marks[0] < sharedOne
	}
	return marks, exact
}
