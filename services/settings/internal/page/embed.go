package page

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/row"
)

// onEmbed appends a shortcode to a page, or makes a page of it. The page's event answers the sender, who has checked the
// title; a page that is full is published as it is, with the refusal. Of a page that was deleted the sender sees the end.
func (r *Room) onEmbed(ctx context.Context, tx *db.Tx, _ bus.Event, in *proto.EmbedInPage) error {
	if in.GetPageId() == 0 {
		// The sender can correct nothing any more: a title is made to fit instead of refused.
		words := strings.FieldsFunc(in.GetNewPageTitle(), func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) })
		p := stored{Title: strings.Join(words, " "), Content: in.GetShortcode()}
		if in.GetPublish() {
			p.Status = statusPublish
		}
		p, err := r.add(ctx, tx, p, opt.Value[string]{})
		if err != nil {
			return row.UnlessRefused(err)
		}
		return r.publish(ctx, tx, proto.KindPageCreated, p, nil, &proto.PageEmbedded{RequestId: in.GetRequestId(), Created: true})
	}
	p, err := one(ctx, tx, `select `+columns+` from page where id = $1 for update`, in.GetPageId())
	if err != nil {
		return row.UnlessRefused(err)
	}
	content := strings.TrimRight(p.Content, "\n")
	if content != "" {
		content += "\n\n"
	}
	content += in.GetShortcode()
	if utf8.RuneCountInString(content) > longestContent {
		// Nobody could save the page any more.
		e := r.event(proto.KindPageUpdated, p)
		e.State, e.Extra = true, &proto.PageEmbedded{RequestId: in.GetRequestId(), Refused: "page_full"}
		return tx.Emit(ctx, e)
	}
	p.Content = content
	_, err = r.save(ctx, tx, p, []string{"content"}, &proto.PageEmbedded{RequestId: in.GetRequestId()})
	return err
}
