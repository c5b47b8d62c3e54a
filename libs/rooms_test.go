package libs

import (
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// roomRules say what is wrong with the rooms of a service; services/README.md says what a room is.
var roomRules = map[string]func(rooms) []string{
	"floors":                 rooms.floors,
	"shape":                  rooms.shape,
	"size":                   rooms.size,
	"a table has one writer": rooms.foreign,
	"cascades and triggers":  rooms.across,
}

func TestRoomsKeepToTheirRules(t *testing.T) {
	for _, service := range services(t) {
		t.Run(service, func(t *testing.T) {
			r := roomsOf(t, service)
			u, err := treeUses()
			require.NoError(t, err)
			for _, w := range r.exports(u) {
				t.Error(w)
			}
			for _, rule := range slices.Sorted(maps.Keys(roomRules)) {
				for _, w := range roomRules[rule](r) {
					t.Errorf("%s (%s)", w, rule)
				}
			}
		})
	}
}

// composition is the service's own package.
func (r rooms) composition() *packages.Package {
	for _, p := range r.packages {
		if r.room(p) == r.service {
			return p
		}
	}
	return &packages.Package{}
}

// docFile is where a package says what it is.
func (r rooms) docFile(room string) string {
	return "services/" + r.service + "/internal/" + room + "/doc.go"
}

// lists are the lists below the headings of a package's comment, each item in one line.
func lists(p *packages.Package) map[string][]string {
	found := map[string][]string{}
	for _, file := range p.Syntax {
		heading := ""
		for _, block := range new(comment.Parser).Parse(file.Doc.Text()).Content {
			switch block := block.(type) {
			case *comment.Heading:
				heading = said(block.Text)
			case *comment.List:
				for _, item := range block.Items {
					line := ""
					for _, b := range item.Content {
						if paragraph, ok := b.(*comment.Paragraph); ok {
							line += strings.ReplaceAll(said(paragraph.Text), "\n", " ")
						}
					}
					found[heading] = append(found[heading], line)
				}
			}
		}
	}
	return found
}

func said(of []comment.Text) (s string) {
	for _, t := range of {
		switch t := t.(type) {
		case comment.Plain:
			s += string(t)
		case comment.Italic:
			s += string(t)
		case *comment.Link:
			s += said(t.Text)
		case *comment.DocLink:
			s += said(t.Text)
		}
	}
	return s
}

// floors compares the list of floors in the service's doc.go with the folders and with who imports whom.
func (r rooms) floors() (wrong []string) {
	doc := r.docFile(r.service)
	floor := map[string]int{}
	for i, line := range lists(r.composition())["Floors"] {
		room, what, _ := strings.Cut(line, ": ")
		if floor[room] > 0 || what == "" {
			wrong = append(wrong, fmt.Sprintf("%s: %q: a floor is one line like `- room: what it keeps`", doc, line))
		}
		floor[room] = i + 1
	}
	if len(floor) == 0 {
		return []string{doc + ": has no list of rooms under `# Floors`, from the ground up"}
	}
	for _, p := range r.packages {
		room := r.room(p)
		if p.Name == "main" || room == r.service || forTests(p) {
			continue
		}
		if floor[room] == 0 {
			wrong = append(wrong, fmt.Sprintf("%s: the floors leave %s out", doc, room))
		}
		for imported := range p.Imports {
			below, ours := strings.CutPrefix(imported, strings.TrimSuffix(p.PkgPath, room))
			switch {
			case !ours:
			case below == r.service:
				wrong = append(wrong, fmt.Sprintf("%s imports %s, which puts the rooms together", p.PkgPath, below))
			case floor[below] >= floor[room]:
				wrong = append(wrong, fmt.Sprintf("%s: %s imports %s, which does not stand before it in the floors", doc, room, below))
			}
		}
	}
	for room := range floor {
		if !slices.ContainsFunc(r.packages, func(p *packages.Package) bool { return r.room(p) == room }) {
			wrong = append(wrong, fmt.Sprintf("%s: the floors name %s, which is no package", doc, room))
		}
	}
	slices.Sort(wrong)
	return wrong
}

// lines are those of each file of a package.
func lines(p *packages.Package) map[string]int {
	n := map[string]int{}
	for _, file := range p.Syntax {
		of := p.Fset.File(file.FileStart)
		n[path.Base(of.Name())] = of.LineCount()
	}
	return n
}

func (r rooms) size() (wrong []string) {
	for _, p := range r.packages {
		files, all := lines(p), 0
		for _, name := range slices.Sorted(maps.Keys(files)) {
			all += files[name]
			if r.room(p) == r.service && files[name] > 150 {
				wrong = append(wrong, fmt.Sprintf("services/%s/internal/%[1]s/%s has %d lines, of 150: what it does belongs to a room", r.service, name, files[name]))
			}
		}
		if len(files) > 16 || all > 1600 {
			wrong = append(wrong, fmt.Sprintf("%s has %d lines in %d files; a room has 1,600 in 16 at most", p.PkgPath, all, len(files)))
		}
	}
	return wrong
}

// exports are the names that no other package uses.
func (r rooms) exports(u *uses) (wrong []string) {
	for _, p := range r.packages {
		if p.Name != "main" {
			wrong = append(wrong, u.unused(p)...)
		}
	}
	return wrong
}

// shape compares each room that holds tables, or is a Room, with the shape that all of them have.
func (r rooms) shape() (wrong []string) {
	own := lines(r.composition())
	for _, file := range []string{"doc.go", "service.go", "ops.go"} {
		if own[file] == 0 {
			wrong = append(wrong, fmt.Sprintf("services/%s/internal/%[1]s/%s is missing: every service has one", r.service, file))
		}
	}
	for _, file := range []string{"consume.go", "copies.go", "forget.go", "jobs.go", "records.go", "restored.go"} {
		if own[file] > 0 {
			wrong = append(wrong, fmt.Sprintf("services/%s/internal/%[1]s/%s: it belongs to the rooms whose tables it writes", r.service, file))
		}
	}
	holding := slices.Collect(maps.Values(r.owners()))
	for _, p := range r.packages {
		room, _ := p.Types.Scope().Lookup("Room").(*types.TypeName)
		if room == nil {
			if slices.Contains(holding, r.room(p)) {
				wrong = append(wrong, p.PkgPath+" holds tables and has no type Room")
			}
			continue
		}
		if lines(p)["doc.go"] == 0 {
			wrong = append(wrong, r.docFile(r.room(p))+" is missing: it says what the room owns and which rooms it uses")
		}
		pointer := types.NewPointer(room.Type())
		if made, ok := p.Types.Scope().Lookup("New").(*types.Func); !ok || made.Signature().Results().Len() == 0 || !types.Identical(made.Signature().Results().At(0).Type(), pointer) {
			wrong = append(wrong, p.PkgPath+": func New makes the *Room")
		}
		if parts, _, _ := types.LookupFieldOrMethod(pointer, false, p.Types, "Parts"); parts == nil && slices.Contains(holding, r.room(p)) {
			wrong = append(wrong, p.PkgPath+": func (r *Room) Parts says what the service runs of it")
		}
		for _, file := range p.Syntax {
			for _, d := range file.Decls {
				if d, ok := d.(*ast.FuncDecl); ok && d.Recv != nil && len(d.Recv.List[0].Names) == 1 && types.Identical(p.TypesInfo.TypeOf(d.Recv.List[0].Type), pointer) && d.Recv.List[0].Names[0].Name != "r" {
					wrong = append(wrong, fmt.Sprintf("%s: the receiver of %s is r in every room", at(p, d.Pos()), d.Name.Name))
				}
			}
		}
	}
	return wrong
}

// across compares the cascades and triggers by which the write of one room's table writes another's with what the service's doc.go tells.
func (r rooms) across() (wrong []string) {
	doc, owners := r.docFile(r.service), r.owners()
	told := map[string]bool{}
	for _, line := range lists(r.composition())["Across rooms"] {
		effect, why, _ := strings.Cut(line, ": ")
		if told[effect] = false; why == "" {
			wrong = append(wrong, fmt.Sprintf("%s: %q: say why, as in `- note by shelf, cascade: why`", doc, line))
		}
	}
	for _, e := range r.effects() {
		if owners[e.written] == owners[e.by] || owners[e.written] == "" || owners[e.by] == "" {
			continue
		}
		if _, ok := told[e.String()]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s: the database writes %s of %s when %s writes %s: decide it, and tell it as `- %s: why` under `# Across rooms`", doc, e.written, owners[e.written], owners[e.by], e.by, e))
		}
		told[e.String()] = true
	}
	for _, effect := range slices.Sorted(maps.Keys(told)) {
		if !told[effect] {
			wrong = append(wrong, fmt.Sprintf("%s: %q is no cascade or trigger between two rooms", doc, effect))
		}
	}
	return wrong
}

// shelf is a service of two rooms, board below note, that keeps to the rules. Each change is a text of it and what to put in its place.
func shelf(t *testing.T, changes ...string) rooms {
	t.Helper()
	const internal = "frontdesk/services/shelf/internal/"
	change := strings.NewReplacer(changes...)
	files := [][2]string{
		{internal + "board/doc.go", `// Package board keeps boards.
package board
import ("context"; "frontdesk/libs/app"; "frontdesk/libs/db")
const Fresh, Planks = "update board set fresh = true", " from plank p"
type Room struct{ *app.Kit }
func New(k *app.Kit) *Room { return &Room{k} }
func (r *Room) Parts() app.Parts { return app.Parts{Personal: app.Personal{Holds: map[string]app.Holds{"board": app.Nobody, "plank": app.Nobody}}} }
func (r *Room) Count(ctx context.Context, tx *db.Tx, table string) error { _, err := tx.Exec(ctx, "delete from " + table + " where old"); return err }
`},
		{internal + "note/doc.go", `// Package note keeps notes.
//
// Reads: board.
package note
import ("context"; "fmt"; "github.com/jackc/pgx/v5"; "frontdesk/libs/app"; "frontdesk/libs/db"; "frontdesk/services/shelf/internal/board")
type Room struct{ *app.Kit; boards *board.Room }
func New(k *app.Kit, boards *board.Room) *Room { return &Room{k, boards} }
func (r *Room) Parts() app.Parts { return app.Parts{Personal: app.Personal{Holds: map[string]app.Holds{"note": app.Nobody}}} }
func (r *Room) run(ctx context.Context, tx *db.Tx, sql string, any ...any) { _, _ = tx.Exec(ctx, sql, any...) }
func (r *Room) all(ctx context.Context, tx *db.Tx) {
	const own = "note"
	_, _, _ = fmt.Sprint, pgx.Identifier{}, own
	r.run(ctx, tx, "select b.id from note n join board b on true")
	r.run(ctx, tx, "insert into outbox select 1")
	_ = r.boards.Count(ctx, tx, own)
	/* here */
}
`},
		{internal + "shelf/doc.go", `// Package shelf puts the rooms together.
//
// # Floors
//
// From the ground up.
//
//   - board: boards
//   - note: notes, and what
//     is on them
//
// # Across rooms
//
//   - note by board, cascade: a note ends with its board
package shelf
import ("frontdesk/services/shelf/internal/board"; "frontdesk/services/shelf/internal/note")
var _, _ = board.New, note.New
`},
	}
	for i := range files {
		files[i][1] = change.Replace(files[i][1])
	}
	return rooms{"shelf", plant(t, files...), []string{change.Replace(`-- +goose Up
create table board (id int primary key);
create table plank (id int references board on delete cascade);
create table note (id int, board int not null references board (id) on delete cascade /* more */);
create function f() returns trigger language plpgsql as $$ begin update plank set n = 1; return null; end; $$;
create trigger t after delete on board for each row execute function f();
/* migration */
-- +goose Down
create trigger t after delete on note for each row execute function f();
`)}}
}

func TestWhatBreaksTheRulesOfRoomsIsFound(t *testing.T) {
	const here, noteFloor = "/* here */", "//   - note: notes, and what"
	for name, c := range map[string]struct {
		changes []string
		wrong   string // a part of the only message; "" for none
	}{
		"nothing":                    {nil, ""},
		"a write":                    {[]string{here, `r.run(ctx, tx, "update board b set n = 1")`}, "note/doc.go:16: writes board, which is board's"},
		"in the second line":         {[]string{here, "r.run(ctx, tx, `with x as (select 1)\n insert into board select 1`)"}, "note/doc.go:17: writes board, which is board's"},
		"in a CTE":                   {[]string{here, `r.run(ctx, tx, "with x as (delete from board returning id) select * from x")`}, "writes board, which is board's"},
		"put together":               {[]string{here, `r.run(ctx, tx, "update " + "bo" + "ard" + " set x = " + fmt.Sprint(1))`}, "writes board, which is board's"},
		"a constant of the room":     {[]string{here, `r.run(ctx, tx, board.Fresh)`}, "writes board, which is board's"},
		"formatted":                  {[]string{here, `r.run(ctx, tx, fmt.Sprintf("update %[2]s set x = %[1]d", 1, "board"))`}, "writes board, which is board's"},
		"by a variable":              {[]string{here, `for _, table := range []string{"note", "board"} { r.run(ctx, tx, "delete from " + table) }`}, "writes board, which is board's"},
		"by a parameter":             {[]string{here, `_ = r.boards.Count(ctx, tx, "plank")`}, "writes plank, which is board's"},
		"by a name that nobody sees": {[]string{here, `r.run(ctx, tx, "delete from " + fmt.Sprint("board"))`}, "nobody can see which table is written"},
		"by CopyFrom":                {[]string{here, `_, _ = tx.CopyFrom(ctx, pgx.Identifier{"board"}, nil, nil)`}, "writes board, which is board's"},
		"records":                    {[]string{here, `_ = app.Records(app.Rows[int64]{Table: "board"})`}, "writes board, which is board's"},
		"a sealed column":            {[]string{here, `_ = app.Sealed{Table: "board"}`}, "writes board, which is board's"},
		"a table of nobody":          {[]string{here, `r.run(ctx, tx, "truncate chair")`}, "writes chair, which no room holds"},
		"a read":                     {[]string{here, `r.run(ctx, tx, "select 1 from note, plank p")`}, "reads plank, which is board's: say so in doc.go"},
		"a text that reads is lent":  {[]string{here, `r.run(ctx, tx, "select 1" + board.Planks)`}, ""},
		"and that may be told":       {[]string{here, `r.run(ctx, tx, "select 1" + board.Planks)`, "Reads: board.", "Reads: board, plank."}, ""},
		"a package for tests": {[]string{`package note
import (`, `package note
import (_ "testing"; `, "b.id from note n join board b on true", "1", here, `r.run(ctx, tx, "delete from board")`, "//\n// Reads: board.", "// More."}, ""},
		"a read by libs":              {[]string{here, `_, _ = tx.ChangesUntil(ctx, "plank")`}, "reads plank, which is board's"},
		"a read that is told":         {[]string{here, `r.run(ctx, tx, "select 1 from note, plank p")`, "Reads: board.", "Reads: board,\n// plank. Lists join it."}, ""},
		"a read that is over":         {[]string{"Reads: board.", "Reads: board, plank."}, "note/doc.go: Reads: plank, which nothing there reads"},
		"a read of its own":           {[]string{"Reads: board.", "Reads: board, note."}, "Reads: note, which is no table of another room"},
		"a read of nothing":           {[]string{"Reads: board.", "Reads: board, chair."}, "Reads: chair, which no room holds"},
		"a cascade":                   {[]string{"/* migration */", "alter table note add plank int references plank on delete set null;"}, "tell it as `- note by plank, set null: why`"},
		"a trigger":                   {[]string{"/* migration */", "create trigger u after update on note for each row execute function f();"}, "tell it as `- plank by note, trigger: why`"},
		"a trigger that is gone":      {[]string{"/* migration */", "create trigger u after update on note for each row execute function f(); drop trigger u on note;"}, ""},
		"a cascade that is not there": {[]string{"on delete cascade /* more */", ""}, `"note by board, cascade" is no cascade or trigger between two rooms`},
		"a cascade within a room":     {[]string{"//   - note by board, cascade: ", "//   - plank by board, cascade: all\n//   - note by board, cascade: "}, `"plank by board, cascade" is no cascade`},
		"a floor left out":            {[]string{"//   - board: boards\n", ""}, "the floors leave board out"},
		"a floor too high":            {[]string{"//   - board: boards\n", "", "//     is on them", "//     is on them\n//   - board: boards"}, "note imports board, which does not stand before it"},
		"a floor that is not there":   {[]string{noteFloor, "//   - chair: chairs\n" + noteFloor}, "the floors name chair, which is no package"},
		"no floors":                   {[]string{"# Floors", "# Rooms"}, "has no list of rooms under `# Floors`"},
		"a floor without a word":      {[]string{"- board: boards", "- board"}, "a floor is one line like"},
	} {
		t.Run(name, func(t *testing.T) {
			r := shelf(t, c.changes...)
			wrong := slices.Concat(r.floors(), r.foreign(), r.across())
			if c.wrong == "" {
				require.Empty(t, wrong)
				return
			}
			require.Len(t, wrong, 1)
			require.Contains(t, wrong[0], c.wrong)
		})
	}
}

func TestSizeAndShapeOfRoomsAreMeasured(t *testing.T) {
	require.Equal(t, []string{"services/shelf/internal/shelf/service.go is missing: every service has one", "services/shelf/internal/shelf/ops.go is missing: every service has one"}, shelf(t).shape())
	require.Contains(t, shelf(t, "(r *Room) all", "(n *Room) all", "r.run", "n.run", "r.boards", "n.boards").shape()[2], "note/doc.go:10: the receiver of all is r in every room")
	require.Contains(t, shelf(t, "func (r *Room) Parts", "func (r *Room) Bits").shape()[2:], "frontdesk/services/shelf/internal/note: func (r *Room) Parts says what the service runs of it")
	require.Empty(t, shelf(t).size())
	require.Equal(t, []string{"frontdesk/services/shelf/internal/note has 1614 lines in 1 files; a room has 1,600 in 16 at most"}, shelf(t, "/* here */", strings.Repeat("\n", 1597)).size())
	require.Equal(t, []string{"services/shelf/internal/shelf/doc.go has 166 lines, of 150: what it does belongs to a room"}, shelf(t, "var _, _ =", strings.Repeat("\n", 150)+"var _, _ =").size())
}

func TestWhatIsExportedForNobodyIsFound(t *testing.T) {
	planted := plant(t,
		[2]string{"frontdesk/services/shelf/internal/board/board.go", `package board
import "net/http"
type Used struct { Read int; Idle int; Wire int ` + "`json:\"wire\"`" + ` }
func (Used) Called() {}
func (Used) Unused() {}
func (Used) ServeHTTP(http.ResponseWriter, *http.Request) {}
func (Used) InATest() {}
type Taken struct{}
func Make() (u Used, t *Taken) { return }
type Asks interface { Answer() }
type Lonely interface { Lone() }
const Level, Depth = 1, 2
func OfATest() {}
func OfItsOwnTest() {}
var own = Depth
`},
		[2]string{"frontdesk/services/shelf/internal/note/note.go", `package note
import "frontdesk/services/shelf/internal/board"
type answer struct{}
func (answer) Answer() {}
func f() int { u, _ := board.Make(); u.Called(); return u.Read + board.Level }
`})
	tested := map[string]map[string]bool{}
	for name, in := range map[string]string{"frontdesk/services/shelf/internal/board.OfATest": "note", ".InATest": "note",
		"frontdesk/services/shelf/internal/board.OfItsOwnTest": "frontdesk/services/shelf/internal/board"} {
		tested[name] = map[string]bool{in: true}
	}
	wrong := strings.Join(planted.used(tested).unused(planted[0]), "\n")
	var named []string
	for _, m := range regexp.MustCompile(`uses board\.([\w.]+):`).FindAllStringSubmatch(wrong, -1) {
		named = append(named, m[1])
	}
	require.ElementsMatch(t, []string{"Used.Idle", "Used.Unused", "Lonely", "Depth", "OfItsOwnTest"}, named, wrong)
}
